r"""Joint multisided exposure: consumers and providers, each as individuals, as groups or all together (Wu et al. 2022).

With E the exposure of items to users, E* its target and E~ that of the collection (a random ranking), each measure is
the mean over cells of (E - E*)², a cell being a user, a user group or all users (I, G, A) by an item or an item group,
and values being averaged within the cell first. Its parts: disparity, the mean of (E - E~)², and relevance, that of
2 (E - E~)(E* - E~): loss = disparity - relevance + the mean of (E* - E~)². A cell without anybody counts 0 among the
others, but for II, which is the mean over the pairs that count.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rerankers._base.errors import InputError
from rerankers.exposure.checks import check_bounded
from rerankers.measures.browse import PARAMETERS, browsing_of
from rerankers.measures.decomposition import decompose
from rerankers.measures.definition import Definition, Parameter
from rerankers.measures.group_measure import GROUP, GroupMeasure
from rerankers.measures.rate_parity import rates
from rerankers.measures.scores import Scores

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from rerankers.measures.evaluation import Evaluation
    from rerankers.measures.names import Measure

    Floats = NDArray[np.float64]


class Parts(NamedTuple):
    """A measure and its parts; all at least 0 but ``relevance``."""

    loss: float
    disparity: float
    relevance: float


def jme(
    system: ArrayLike,
    target: ArrayLike,
    collection: ArrayLike | None = None,
    *,
    item_groups: ArrayLike | None = None,
    user_groups: ArrayLike | None = None,
    mask: ArrayLike | None = None,
) -> dict[str, Parts]:
    """Return every joint multisided exposure measure that the given groups allow.

    Parameters
    ----------
    system, target
        (U, I), exposure of items to users and what it should be.
    collection
        (U, I) or a number, exposure in a random ranking; None: the mean of each user's target over the items that
        count, the exposure of an item whose rank is drawn at random.
    item_groups, user_groups
        (groups, I) and (groups, U), weights of at least 0 (1: a member). Without item groups IG, GG and AG are left
        out, without user groups GI and GG.
    mask
        (U, I), 1 for pairs that count (0 for items held out), all unless given.

    Returns
    -------
    dict from II, IG, GI, GG, AI, AG to (loss, disparity, relevance)

    Raises
    ------
    InputError
        for shapes that do not fit, values that are not finite numbers below 1e150 in size, and negative weights.
    """
    exposure, due = _table("system", system), _table("target", target)
    if due.shape != exposure.shape:
        raise InputError.one("target", f"shape {due.shape}", f"that of system, {exposure.shape}")
    counts = np.ones(exposure.shape) if mask is None else _weights("mask", mask, exposure.shape)
    if not counts.any():
        raise InputError.one("mask", "no pair of a user and an item", "at least one")
    base = _base(collection, due, counts)
    by_user: dict[str, Floats | None] = {"I": None, "A": np.ones((1, len(exposure)))}
    by_item: dict[str, Floats | None] = {"I": None}
    if user_groups is not None:
        by_user["G"] = _weights("user_groups", user_groups, (None, len(exposure)))
    if item_groups is not None:
        by_item["G"] = _weights("item_groups", item_groups, (None, exposure.shape[1]))
    apart, wanted = (exposure - base) * counts, (due - base) * counts
    found = {}
    for name in ("II", "IG", "GI", "GG", "AI", "AG"):
        if name[0] in by_user and name[1] in by_item:
            rows, columns = by_user[name[0]], by_item[name[1]]
            size = _by_cell(rows, counts, columns)
            number = float(counts.sum()) if name == "II" else float(size.size)
            size = np.where(size > 0, size, 1.0)
            got, aim = _by_cell(rows, apart, columns) / size, _by_cell(rows, wanted, columns) / size
            found[name] = Parts(
                float(np.sum((got - aim) ** 2) / number),
                float(np.sum(got**2) / number),
                float(2.0 * np.sum(got * aim) / number),
            )
    return found


def _by_cell(rows: Floats | None, table: Floats, columns: Floats | None) -> Floats:
    """Return sums of a table (U, I) by weights (R, U) of users and (C, I) of items, None for each by itself."""
    summed = table if rows is None else rows @ table
    return summed if columns is None else summed @ columns.T


def _base(collection: ArrayLike | None, due: Floats, counts: Floats) -> Floats:
    if collection is None:
        number = counts.sum(axis=1)
        mean = (due * counts).sum(axis=1) / np.where(number > 0, number, 1.0)
        return np.broadcast_to(mean[:, np.newaxis], due.shape)
    base = np.asarray(collection, dtype=np.float64)
    if base.ndim not in (0, 2) or (base.ndim == 2 and base.shape != due.shape) or not np.all(np.isfinite(base)):
        raise InputError.one("collection", f"shape {base.shape}", f"a finite number, or the shape {due.shape}")
    check_bounded("collection", base)
    return np.broadcast_to(base, due.shape)


def _table(name: str, values: ArrayLike) -> Floats:
    table = np.asarray(values, dtype=np.float64)
    if table.ndim != 2 or not table.size or not np.all(np.isfinite(table)):
        raise InputError.one(name, f"shape {table.shape}", "finite numbers, (users, items)")
    check_bounded(name, table)
    return table


def _weights(name: str, values: ArrayLike, shape: tuple[int | None, int]) -> Floats:
    table = _table(name, values)
    if table.shape[1] != shape[1] or (shape[0] is not None and len(table) != shape[0]) or np.any(table < 0):
        first = "groups" if shape[0] is None else shape[0]
        raise InputError.one(name, f"shape {table.shape}", f"({first}, {shape[1]}), weights of at least 0")
    return table


PART = Parameter("part", str, "loss, or a part of it", default="loss", choices=("loss", "disparity", "relevance"))


def _moments(got: Floats, aim: Floats, part: str) -> Floats:
    if part == "loss":
        return (got - aim) ** 2
    return got**2 if part == "disparity" else 2.0 * got * aim


class JMEII(Definition):
    """II-F of one user: the query."""

    name = "JME_II"
    description = (
        "individual-to-individual fairness of joint multisided exposure with the query as the user: mean over "
        "documents of the squared distance of expected exposure and target; 0 is best (Wu et al. 2022)"
    )
    parameters = (*PARAMETERS, PART)

    @classmethod
    def per_unit(cls, measure: Measure, evaluation: Evaluation) -> Scores:
        """Return the mean over the documents of each query, unbiased where exposure is estimated."""
        model = browsing_of(measure, evaluation.options.model, evaluation.options.max_grade)
        terms, number = decompose(evaluation, model, None), evaluation.over.lengths.astype(np.float64)
        some = np.maximum(number, 1.0)
        part = str(measure.get("part"))
        shown, due = evaluation.per_row(evaluation.exposure(model)), evaluation.per_row(evaluation.target(model))
        base = due / some
        if part == "loss":
            value = terms.loss / some
        elif part == "disparity":
            value = terms.disparity / some - 2.0 * base * shown / some + base**2
        else:
            value = 2.0 * (terms.relevance - base * shown) / some
        few = terms.too_few_draws and part != "relevance"
        return Scores.of(value, ("query_not_judged", ~evaluation.query_judged), ("too_few_draws", few))


class JMEIG(GroupMeasure):
    """IG-F of one user: the query."""

    name = "JME_IG"
    description = (
        "individual-to-group fairness of joint multisided exposure with the query as the user: mean over groups of the "
        "squared distance of their documents' mean expected exposure and mean target; 0 is best; groups without a "
        "document do not count (Wu et al. 2022)"
    )
    parameters = (*PARAMETERS, GROUP, PART)

    @classmethod
    def of_groups(cls, measure: Measure, evaluation: Evaluation, attribute: str) -> Scores:
        """Return the mean over the groups that have documents."""
        model = browsing_of(measure, evaluation.options.model, evaluation.options.max_grade)
        row, target = evaluation.over.row_index, evaluation.target(model)
        base = (evaluation.per_row(target) / np.maximum(evaluation.over.lengths, 1))[row]
        size = evaluation.by_group(attribute, np.ones(evaluation.over.nnz))
        got = rates(evaluation.by_group(attribute, evaluation.exposure(model) - base), size)
        aim = rates(evaluation.by_group(attribute, target - base), size)
        value, number = _moments(got, aim, str(measure.get("part"))), (size > 0).sum(axis=1)
        mean = np.where(size > 0, value, 0.0).sum(axis=1) / np.maximum(number, 1)
        return Scores.of(mean, ("query_not_judged", ~evaluation.query_judged), ("no_groups", number == 0))
