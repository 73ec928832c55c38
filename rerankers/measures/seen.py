"""What a measure of the user's own is shown of one query: plain arrays, read only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from rerankers.exposure.browsing import BrowsingModel
    from rerankers.measures.evaluation import Evaluation
    from rerankers.values import GroupAlignment

    Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class SeenExposure:
    """The expected exposure of the n documents of a query that count, n at least 1.

    Attributes
    ----------
    exposure
        float64 (n,), expected number of looks at each document, under the browsing model of the measure.
    target
        float64 (n,), equal expected exposure: what the documents are due (Diaz et al. 2020).
    grade
        float64 (n,), relevance, at least 0; 0 for documents that nobody judged.
    groups
        names of the G groups; none unless the measure is about groups.
    membership
        float64 (n, G), weight of each document in each group.
    """

    exposure: Floats
    target: Floats
    grade: Floats
    groups: tuple[str, ...]
    membership: Floats


@dataclass(frozen=True, slots=True, eq=False)
class SeenRanking:
    """One ranking of a query, its first k documents, k at least 1.

    Attributes
    ----------
    grade
        float64 (k,), relevance by rank, at least 0.
    pool_grade
        float64 (n,), the same of all documents of the query that count, in no order.
    groups
        names of the G groups; none unless the measure is about groups.
    membership
        float64 (k, G), by rank.
    pool_membership
        float64 (n, G), of all documents, in the order of ``pool_grade``.
    """

    grade: Floats
    pool_grade: Floats
    groups: tuple[str, ...]
    membership: Floats
    pool_membership: Floats


def exposures(
    evaluation: Evaluation, model: BrowsingModel, attribute: str | None
) -> Iterator[tuple[int, SeenExposure]]:
    """Yield (row, what is seen) of every row that has a document."""
    over = evaluation.over
    exposure, target, grade = _fixed(evaluation.exposure(model), evaluation.target(model), evaluation.grade)
    alignment = None if attribute is None else evaluation.groups[attribute]
    names = () if alignment is None else alignment.groups
    (membership,) = _fixed(memberships_of(alignment, over.doc))
    for row in np.flatnonzero(over.lengths).tolist():
        part = over.row(row)
        yield row, SeenExposure(exposure[part], target[part], grade[part], names, membership[part])


def rankings(
    evaluation: Evaluation, cutoff: int | None, attribute: str | None
) -> Iterator[tuple[int, int, SeenRanking]]:
    """Yield (number of the ranking, row, what is seen) of every ranking that shows a document."""
    found, over, universe = evaluation.rankings, evaluation.over, evaluation.universe
    alignment = None if attribute is None else evaluation.groups[attribute]
    names = () if alignment is None else alignment.groups
    grade, pool_grade = _fixed(universe.candidate_grade, evaluation.grade)
    membership, pool_membership = (memberships_of(alignment, docs) for docs in (found.over.doc, over.doc))
    _fixed(pool_membership)
    base, bounds = found.over.indptr, found.item_ptr
    for place, row in enumerate(found.row_of_ranking.tolist()):
        low, high = int(bounds[place]), int(bounds[place + 1])
        high = high if cutoff is None else min(high, low + cutoff)
        if low < high:
            items = base[row] + found.item[low:high]
            part = over.row(row)
            seen = SeenRanking(grade[items], pool_grade[part], names, membership[items], pool_membership[part])
            yield place, row, seen


def memberships_of(alignment: GroupAlignment | None, docs: NDArray[np.integer]) -> Floats:
    """Return the weight of documents in the groups of an attribute, float64 (docs, G); G = 0 without one."""
    if alignment is None:
        return np.zeros((len(docs), 0))
    item, group, weight = alignment.entries(docs)
    out = np.zeros((len(docs), len(alignment.groups)))
    np.add.at(out, (item, group), weight)
    return out


def _fixed(*arrays: Floats) -> tuple[Floats, ...]:
    """Return arrays that nobody can write into, since other measures use them too."""
    views = tuple(array.view() for array in arrays)
    for view in views:
        view.flags.writeable = False
    return views
