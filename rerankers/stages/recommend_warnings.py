"""What a reader of recommendations has to know before the numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from rerankers.queries.axes import Axis
    from rerankers.queries.generators.base import Query

SHOWN: Final = 3


def warnings_of(
    finding_nothing: int,
    axes: Sequence[Axis],
    queries: Sequence[Query],
    counts: Mapping[str, Mapping[str, int]],
    by_generator: Mapping[str, Mapping[str, int]],
) -> Iterator[str]:
    """Yield warnings of a job.

    Parameters
    ----------
    finding_nothing
        queries that find no document.
    axes, queries
        of the job; a query without a target on an axis has no recommendation.
    counts
        generator -> what it met.
    by_generator
        generator -> topic -> candidates that it found.
    """
    if finding_nothing:
        yield f"{finding_nothing} queries find no document: see reason"
    for axis in axes:
        lost = [query.id for query in queries if axis.of_query(query.id) is None]
        if lost:
            shown = ", ".join(lost[:SHOWN]) + (" …" if len(lost) > SHOWN else "")
            yield (
                f"{axis.name}: {len(lost)} of {len(queries)} queries ({shown}) have no target by "
                f"targets={axis.target}, so no recommendation: see reasons"
            )
    for name, met in counts.items():
        failed = {key.removeprefix("replies_"): number for key, number in met.items() if key.startswith("replies_")}
        if failed:
            told = ", ".join(f"{number} {reason.replace('_', ' ')}" for reason, number in sorted(failed.items()))
            yield f"{name}: {sum(failed.values())} of {met['replies']} replies gave no query: {told}"
    for name, numbers in by_generator.items():
        met = counts.get(name, {})
        if not sum(numbers.values()) and not any(key.startswith("replies_") for key in met):  # else told above
            told = ", ".join(f"{key.replace('_', ' ')} {number}" for key, number in met.items())
            yield f"{name} found no candidate" + (f": {told}" if told else "")
