"""What one impression of each query brings: beliefs, how users browse, and what every entity is due by it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from rerankers._base.errors import ConfigError, choose
from rerankers.exposure import Browsing
from rerankers.exposure.rows import row_sums
from rerankers.ledger.fixed import to_fixed
from rerankers.policies import static

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.exposure import BrowsingModel
    from rerankers.ledger.entities import Entities
    from rerankers.values.ragged import Ragged

TARGETS: Final = ("equal", "merit", "relevance")
UNITS: Final = ("exposure", "share")
FEW: Final = 8  # documents an entity at least, for a row to count as one of few entities


class Rows(NamedTuple):
    """The rows of a block as the loops take them (nnz pairs, E entries).

    Attributes
    ----------
    indptr
        int64 (B + 1,), the rows.
    belief
        float64 (nnz,), probabilities of relevance.
    continuation, position
        float64 (nnz,) and (longest row,); see `rerankers.exposure.Browsing`.
    cascade
        whether ranks have no weights of their own, so that documents alone decide how far users go.
    scale
        float64 (B,), by which exposure is multiplied before it is booked: 1, or 1 / the row's whole exposure.
    entry_ptr, entity, weight
        int64 (nnz + 1,), int64 (E,), float64 (E,): the entities of pair p are entries entry_ptr[p]:entry_ptr[p + 1].
    grouped
        bool (B,), whether the documents of a row have few distinct entities between them, so that sorting is quickest
        from ``start``, int32 (nnz,): places within the row by entities, then by belief.
    due
        int64 (E,), what one impression adds to the entity's due for this document, in units of 2^-40.
    """

    indptr: NDArray[np.int64]
    belief: NDArray[np.float64]
    continuation: NDArray[np.float64]
    position: NDArray[np.float64]
    cascade: bool
    scale: NDArray[np.float64]
    entry_ptr: NDArray[np.int64]
    entity: NDArray[np.int64]
    weight: NDArray[np.float64]
    grouped: NDArray[np.bool_]
    start: NDArray[np.int32]
    due: NDArray[np.int64]


def believed_browsing(model: BrowsingModel, belief: NDArray[np.float64], indptr: NDArray[np.int64]) -> Browsing:
    """Bind a browsing model whose stops depend on relevance that is only believed in.

    With independent labels of probability p the expected exposure of a ranking is that of the mean continuation,
    (1 - p) c(irrelevant) + p c(relevant), exactly: each document enters a product at most once. For GERR that is
    patience (1 - satisfaction p).
    """
    without, with_ = _extremes(model, len(belief), indptr)
    return Browsing(without.position, (1.0 - belief) * without.continuation + belief * with_.continuation, belief)


def make_rows(
    over: Ragged, belief: NDArray[np.float64], model: BrowsingModel, entities: Entities, target: str, unit: str
) -> Rows:
    """Return what one impression of each row brings.

    Parameters
    ----------
    over
        the B rows of candidates.
    belief
        float64 (nnz,), probabilities of relevance.
    model
        how users browse.
    entities
        who is given accounts.
    target
        what documents are due: ``equal``, the mean of the equal-exposure target over independent draws of the labels
        (Kletti & Renders 2020); ``merit``, the row's whole exposure in proportion to belief (Singh & Joachims 2018;
        Biega et al. 2018), equally where all beliefs are 0; ``relevance``, the belief itself (Morik et al. 2020).
    unit
        ``exposure``, or ``share``: exposure and due of a row are divided by its whole exposure (Biega et al. 2018).

    Raises
    ------
    ConfigError
        for another word, and for ``equal`` under a model whose continuation is given document by document.

    Notes
    -----
    The whole exposure of a row is that of its static ranking by belief. Under position-based browsing every ranking
    has the same.
    """
    choose("target", target, TARGETS), choose("unit", unit, UNITS)
    indptr = over.indptr
    browsing = believed_browsing(model, belief, indptr)
    exposure = static(over, belief).exposure(browsing).value
    whole = row_sums(exposure, indptr)
    if target == "equal":
        due = expected_target(model, belief, indptr)
    elif target == "merit":
        due = _in_proportion(belief, indptr) * np.repeat(whole, over.lengths)
    else:
        due = belief
    scale = np.ones(len(over))
    if unit == "share":
        scale = np.where(whole > 0, 1.0 / np.where(whole > 0, whole, 1.0), 0.0)
    item, entity, weight = entities.entries(over.doc)
    to_fixed(weight)  # no entry may outgrow a ledger by itself
    entry_ptr = np.concatenate([[0], np.cumsum(np.bincount(item, minlength=over.nnz))]).astype(np.int64)
    amount = to_fixed(weight * (due * np.repeat(scale, over.lengths))[item])
    longest = int(over.lengths.max(initial=0))
    cascade = browsing.position is None
    position = np.ones(longest) if browsing.position is None else np.ascontiguousarray(browsing.position[:longest])
    grouped, start = _classes(over, belief, entry_ptr, entity)
    browse = (browsing.continuation, position, cascade)
    return Rows(indptr, belief, *browse, scale, entry_ptr, entity, weight, grouped, start, amount)


def expected_target(
    model: BrowsingModel, belief: NDArray[np.float64], indptr: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return the mean of the equal-exposure target over independent labels of the believed probabilities.

    Parameters
    ----------
    model
        any whose continuation depends on nothing but a document's relevance.
    belief
        float64 (nnz,) in [0, 1].
    indptr
        int64 (B + 1,), the rows.

    Returns
    -------
    float64 (nnz,), in O(n^2) for a row of n documents. With s relevant documents, they share the first s ranks and
    the others the ranks behind them; s - 1 or s among the other documents is Poisson-binomial (Kletti & Renders 2020).

    Raises
    ------
    ConfigError
        for a model whose continuation is given document by document.
    """
    from rerankers.ledger.target_loops import mean_targets

    without, with_ = _extremes(model, len(belief), indptr)
    for bound in (without, with_):
        if len(belief) and np.ptp(bound.continuation) > 0:
            raise ConfigError(f"target: found equal, browsing {model}; expected merit, since documents differ in it")
    longest = int(np.diff(indptr).max(initial=0))
    position = np.ones(longest) if without.position is None else without.position
    relevant, irrelevant = (float(bound.continuation[0]) if len(belief) else 1.0 for bound in (with_, without))
    out = np.zeros(len(belief))
    mean_targets(indptr, np.ascontiguousarray(belief), np.ascontiguousarray(position), relevant, irrelevant, out)
    return out


def _classes(
    over: Ragged, belief: NDArray[np.float64], entry_ptr: NDArray[np.int64], entity: NDArray[np.int64]
) -> tuple[NDArray[np.bool_], NDArray[np.int32]]:
    """Order documents by their first entity, then by belief: those whose balances move together stay in that order."""
    first = np.full(over.nnz, -1, dtype=np.int64)
    some = np.diff(entry_ptr) > 0
    first[some] = entity[entry_ptr[:-1][some]]
    row = over.row_index
    order = np.lexsort((-belief, first, row))
    new = np.ones(over.nnz)
    new[1:] = (first[order][1:] != first[order][:-1]) | (row[1:] != row[:-1])
    classes = row_sums(new, over.indptr)
    return FEW * classes <= over.lengths, (order - over.indptr[row]).astype(np.int32)


def _extremes(model: BrowsingModel, size: int, indptr: NDArray[np.int64]) -> tuple[Browsing, Browsing]:
    """Return the model bound to documents none of which, and all of which, are relevant."""
    completed = model.completed(np.ones(1))
    return completed.bind(np.zeros(size), indptr), completed.bind(np.ones(size), indptr)


def _in_proportion(belief: NDArray[np.float64], indptr: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return shares of each row in proportion to belief, equal ones where all are 0."""
    lengths = np.diff(indptr)
    total = np.repeat(row_sums(belief, indptr), lengths)
    equal = 1.0 / np.repeat(np.maximum(lengths, 1), lengths)
    return np.where(total > 0, belief / np.where(total > 0, total, 1.0), equal)
