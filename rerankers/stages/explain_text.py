"""What `explain` prints: a few lines a system and document, whose numbers add up."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rerankers.report.text import clean, number

SHOWN = 10


def lines(found: Mapping[str, Any]) -> Iterator[str]:
    """Yield the lines of a query as `rerankers.stages.side_by_side.side_by_side` describes it."""
    query = found["query"]
    yield f"query {clean(query['qid'])}" + (f": {clean(query['text'])}" if query["text"] else "")
    for name, system in found["systems"].items():
        yield f"{clean(name)}: {_system(system)}"
        if not system["judged"]:
            yield f"{clean(name)}: nobody judged this query, so there is no target, and no document satisfies anybody"
    names = list(found["systems"])
    yield from _table(found, names)
    if found["changed"]:
        several = ", ".join(f"{clean(gap['docno'])} {number(gap['by'])}" for gap in found["changed"][:5])
        yield f"changed most: {several}; {len(found['changed']):,} of {len(found['documents']):,} documents changed"
    for docno, told in found["why"].items():
        for name, one in told.items():
            yield from why_lines(docno, name, one)


def _system(system: Mapping[str, Any]) -> str:
    how = "exact" if system["draws"] is None else f"estimated from {system['draws']:,} draws"
    return (
        f"{system['method']}, {system['policy']} over {system['candidates']:,} candidates, {system['published']}; "
        f"exposure {how} under {system['browsing']}"
    )


def _table(found: Mapping[str, Any], names: list[str]) -> Iterator[str]:
    rows = found["documents"][:SHOWN]
    wide = max((len(clean(row["docno"])) for row in rows), default=0)
    for row in rows:
        values = "  ".join(
            f"{clean(name)} {number(row['systems'][name]['exposure'])}" for name in names if name in row["systems"]
        )
        target = next((one["target"] for one in row["systems"].values() if one["target"] is not None), None)
        yield f"  {clean(row['docno']):<{wide}}  {values}  target {number(target)}"
    if len(found["documents"]) > SHOWN:
        yield f"  and {len(found['documents']) - SHOWN:,} more documents"


def why_lines(docno: str, name: str, told: Mapping[str, Any]) -> Iterator[str]:
    """Yield why a document has its exposure in a system."""
    error = "" if told["error"] is None else f" (standard error {number(told['error'])})"
    yield f"why {clean(docno)} has exposure {number(told['exposure'])}{error} in {clean(name)}:"
    if not told["candidate"]:
        yield "  it is judged, but no candidate: nothing ranks it, so it has none"
        return
    if told["steps"]:
        first, *rest = told["steps"].items()
        parts = [f"{number(first[1])} in a {first[0]}", *(f"{value:+.4f} {step}" for step, value in rest)]
        yield f"  {', '.join(parts)}"
    yield (
        f"  {number(told['unsatisfied'])} by its ranks and users' patience, {told['stopping']:+.4f} because users who "
        "are satisfied above it stop"
    )
    if told["takers"]:
        yield "  takes most from it, a nat of logit: " + ", ".join(
            f"{clean(one['docno'])} {number(one['per_nat'])}" for one in told["takers"]
        )
    elif told["above"]:
        yield "  most often above it: " + ", ".join(
            f"{clean(one['docno'])} {one['chance']:.0%}" for one in told["above"]
        )
    if told["model"]:
        model = told["model"]
        adds = ", ".join(f"{clean(one['feature'])} {one['adds']:+.4g}" for one in model["features"][:5])
        yield f"  the model scores it {model['score']:.4g}, the mean candidate {model['mean']:.4g}: {adds}"
    yield f"  target {number(told['target'])}"
