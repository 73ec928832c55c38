"""What ``fair-rerank recommend`` prints: a table of recommendations by topic, and what they are on the whole."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

TOPICS_SHOWN = 5


def show(found: Mapping[str, Any]) -> None:
    """Print the results: the first topics, then means over all."""
    for axis in found["axes"]:
        groups = ", ".join(axis["groups"])
        print(f"axis {axis['name']}: closeness ({axis['closeness']}) to {axis['target']} over {groups}")
    topics = list(found["topics"].items())
    for qid, topic in topics[:TOPICS_SHOWN]:
        print(f"\n{qid}: {topic['query']}")
        for row in _rows(topic):
            print(f"  {row['text']}\n    {_values(row)}")
        print(f"  {_below(topic)}")
    print()
    if len(topics) > TOPICS_SHOWN:
        print(f"… and {len(topics) - TOPICS_SHOWN} more topics in recommendations.json")
    for line in summary_lines(found):
        print(line)


def summary_lines(found: Mapping[str, Any]) -> Iterator[str]:
    """Yield what holds over all topics, one line each."""
    summary = found["summary"]
    yield (
        f"{summary['queries']} queries, {summary['candidates']} candidates, {_number(summary['front_size'])} on the "
        f"front in the mean, the original included; {summary['candidates_without_documents']} found nothing, "
        f"{summary['candidates_left_out']} left out of the front"
    )
    for name, axis in summary["axes"].items():
        near = axis["as_close"]
        reranking = (
            f"; a reranking of the original that is as close, which needs no click, has relevance "
            f"{_number(near['relevance'])} where the recommendation has {_number(near['relevance_of_recommended'])} "
            f"({near['queries']} queries)"
        )
        yield (
            f"{name}: original {_number(axis['original'])}; best recommendation {_number(axis['recommended'])} at "
            f"relevance {_number(axis['relevance_of_recommended'])} ({axis['queries']} queries)"
            + (reranking if near["queries"] else "")
        )
    yield found["evaluation"]["statement"]
    for name, measures in found["evaluation"]["axes"].items():
        told = [_held_out(measure, one) for measure, one in measures.items() if measure in (name, "nDCG@10")]
        if told:
            yield f"{name}, held out: {'; '.join(told)}"
    pairs = (found["comparison"] or {}).get("pairs", ())
    for pair in pairs:
        yield _contest_line(pair)
    if found["llm"]:
        account = ", ".join(f"{name.replace('_', ' ')} {value:g}" for name, value in found["llm"].items() if value)
        yield f"language model: {account or 'nothing was asked'}"
    for warning in found["warnings"]:
        yield f"warning: {warning}"


def _held_out(measure: str, one: Mapping[str, Any]) -> str:
    """Return what recommendations differ by from each other system, with the interval over topics."""
    parts = []
    for name, value in one.items():
        first, dash, other = name.partition(" - ")
        if dash and value["mean"] is not None:
            low, high = (_signed(value[end]) for end in ("low", "high"))
            parts.append(f"{first} less {other} {_signed(value['mean'])} [{low}, {high}]")
    return f"{measure}: {', '.join(parts) or 'no value'}"


def _signed(value: float | None) -> str:
    return "-" if value is None else f"{value:+.3f}"


def _contest_line(pair: Mapping[str, Any]) -> str:
    parts = []
    for measure in ("coverage", "front_share", "hypervolume"):
        values = pair["equal"].get(measure)
        if values:
            parts.append(f"{measure} {_number(_mean(values['a']))} : {_number(_mean(values['b']))}")
    return f"{pair['a']} : {pair['b']} at equal numbers over {pair['topics']} topics: {', '.join(parts) or 'no value'}"


def _mean(value: Any) -> float | None:
    found = value.get("mean", value.get("value")) if isinstance(value, Mapping) else value
    return None if found is None else float(found)


def _rows(topic: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    shown = [row for row in topic["candidates"] if row["shown"]]
    return [*topic["candidates"][:1], *sorted(shown, key=lambda row: -row["objectives"]["relevance"])]


def _values(row: Mapping[str, Any]) -> str:
    parts = []
    for name, value in row["objectives"].items():
        less = row["change"][name]
        changed = f" ({less:+.3f})" if less else ""
        parts.append(f"{name} {_number(value)}{changed}")
    if row["id"] != "original":
        parts.append(f"{row['found'] - row['kept']} new documents; by {', '.join(row['generators'])}")
    return ", ".join(parts)


def _below(topic: Mapping[str, Any]) -> str:
    if topic["reason"]:
        return f"no recommendation: {topic['reason'].replace('_', ' ')}"
    left = ", ".join(f"{number} {reason.replace('_', ' ')}" for reason, number in topic["excluded"].items())
    return f"front: {len(topic['front'])} of {len(topic['candidates'])}" + (f"; left out: {left}" if left else "")


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"
