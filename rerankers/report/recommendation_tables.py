"""The tables of one topic in a recommendation's report: candidates, rerankings, clicks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rerankers.report.data import PlainTable
from rerankers.report.text import NOTHING, words

RELEVANCE = "relevance"
DRAWN = 3  # decimals of what is compared by eye


def candidate_table(topic: Mapping[str, Any]) -> PlainTable:
    """Return the recommendations that are shown, with the original query first and the rest of the front last."""
    rows = []
    for place in listed(topic):
        candidate = topic["candidates"][place]
        kind = role(topic, place)
        cells: list[str | float | None] = [candidate["text"], kind, ", ".join(map(words, candidate["generators"]))]
        cells += [_with_change(value, change(candidate).get(name)) for name, value in candidate["objectives"].items()]
        cells += [_labelled(candidate), _place(candidate), *judged(topic, candidate)]
        rows.append(cells)
    return PlainTable(
        "Queries on the front",
        "Relevance to the original query and closeness of the distribution over groups to the target, 1 at most; in "
        "brackets the change against the original query. Labelled: the share of the weight on documents whose group is "
        "known, axis by axis. Where no query is best on every axis, choose by what matters.",
        ["query", "role", "found by", *objectives(topic), "labelled", "rank; dominates", *judged_names(topic)],
        rows,
    )


def reranking_table(topic: Mapping[str, Any]) -> PlainTable | None:
    """Return the rerankings of the original query on the same axes, None without any."""
    found = [*(topic.get("alternatives") or []), *(topic.get("baselines") or [])]
    if not found:
        return None
    names = list(found[0]["objectives"])
    axes = [name for name in names if name != RELEVANCE]
    measures = list(dict.fromkeys(name for one in found for name in one.get("judged", {})))
    rows = []
    for one in found:
        cells: list[str | float | None] = [one["name"], one["axis"] or NOTHING]
        cells += [one["objectives"][name] for name in names]
        cells += [one.get("single", {}).get(name) for name in axes]
        cells += [one.get("judged", {}).get(name) for name in measures]
        rows.append(cells)
    return PlainTable(
        "Fair rerankings of the original query",
        "What all users would get without a click; rm3 (weighted) is no reranking, but the query with feedback terms "
        "that count by their weights. Closeness is that of the expected distribution over all rankings "
        "that a method shows; 'one ranking' is the mean closeness of the single ranking that a user sees.",
        ["method", "groups of", *names, *(f"{name}, one ranking" for name in axes), *measures],
        rows,
    )


def click_table(topic: Mapping[str, Any]) -> PlainTable | None:
    """Return the click rates that recommendations need to do as much as the best reranking, None without any."""
    rows: list[list[str | float | None]] = []
    for place in listed(topic):
        candidate = topic["candidates"][place]
        click = candidate.get("click") or {}
        for kind in ("equals_best_reranking", "equals_as_relevant"):
            against = "closest" if kind == "equals_best_reranking" else "as relevant"
            for axis, one in (click.get(kind) or {}).items():
                if "alternative" in one:
                    rate = one["rate"]
                    told = words(one.get("reason", "")) if rate is None else f"{100 * rate:.1f}\u00a0%"
                    rows.append([candidate["text"], axis, against, one["alternative"], one["closeness"], told])
    if not rows:
        return None
    return PlainTable(
        "Clicks that recommendations need",
        "A recommendation changes nothing for users who do not click it. The rate is the least share of users who have "
        "to click for the exposure of all users together to be as close to the target as under a reranking: the one "
        "that is closest, and the closest of those that are at least as relevant as the recommendation.",
        ["query", "axis", "reranking", "method", "its closeness", "clicks needed"],
        rows,
    )


def listed(topic: Mapping[str, Any]) -> list[int]:
    """Return places of the candidates that the report lists: the original, those shown, the rest of the front."""
    original = [place for place, one in enumerate(topic["candidates"]) if "original" in one["generators"]]
    return list(dict.fromkeys([*original, *places(topic, "shown"), *places(topic, "front")]))


def places(topic: Mapping[str, Any], name: str) -> list[int]:
    """Return the places of candidates in ``front`` or ``shown``, which hold places or ids."""
    by_id = {one["id"]: place for place, one in enumerate(topic["candidates"]) if "id" in one}
    return [by_id[one] if isinstance(one, str) else int(one) for one in topic[name]]


def role(topic: Mapping[str, Any], place: int) -> str:
    """Return what a candidate is among those listed."""
    if "original" in topic["candidates"][place]["generators"]:
        return "original"
    return "recommended" if place in places(topic, "shown") else "also on the front"


def change(candidate: Mapping[str, Any]) -> Mapping[str, float | None]:
    """Return objective -> change against the original."""
    found: Mapping[str, float | None] = candidate.get("change") or candidate.get("delta") or {}
    return found


def objectives(topic: Mapping[str, Any]) -> list[str]:
    """Return the names of a topic's objectives."""
    return list(topic["candidates"][0]["objectives"]) if topic["candidates"] else []


def judged_names(topic: Mapping[str, Any]) -> list[str]:
    """Return the names of a topic's measures by judgments."""
    return list(dict.fromkeys(name for one in topic["candidates"] for name in one.get("judged", {})))


def judged(topic: Mapping[str, Any], candidate: Mapping[str, Any]) -> list[float | None]:
    """Return a candidate's measures by judgments, in the order of `judged_names`."""
    return [candidate.get("judged", {}).get(name) for name in judged_names(topic)]


def moved(candidate: Mapping[str, Any], name: str, other: str) -> list[str]:
    """Return the documents that enter or leave, each with its groups where they are told."""
    return [_document(one) for one in candidate.get(name) or candidate.get(other) or []]


def _document(one: str | Mapping[str, Any]) -> str:
    if isinstance(one, str):
        return one
    groups = "; ".join(" + ".join(of) for of in one["groups"].values())
    return f"{one['docno']} ({groups})" if groups else str(one["docno"])


def _labelled(candidate: Mapping[str, Any]) -> str:
    unknown = {name: None if one is None else 1 - one for name, one in (candidate.get("unknown_share") or {}).items()}
    known = candidate.get("coverage") or unknown
    return ", ".join(NOTHING if one is None else f"{100 * one:.0f}\u00a0%" for one in known.values()) or NOTHING


def _place(candidate: Mapping[str, Any]) -> str:
    if candidate.get("rank") is None:
        return "not compared"
    return f"{candidate['rank']}; {candidate['dominates']}"


def _with_change(value: float | None, less: float | None) -> str:
    if value is None:
        return NOTHING
    told = f"{value:.{DRAWN}f}"
    return told if less is None or abs(less) < 0.5 * 10**-DRAWN else f"{told} ({less:+.{DRAWN}f})"
