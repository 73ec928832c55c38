"""Group fairness and relevance of NTCIR FairWeb: users who stop somewhere, and what they have seen by then.

GFR (Sakai, Kim & Kang 2023): Σ_k decay(k) · utility(k), where decay(k) is the probability that a user stops at rank k.
The utility of the relevance part is 1/k (ERR) or .99^k (iRBU); that of the fairness part of an attribute is the
similarity 1 - divergence(groups among the first k documents, target), by the Jensen-Shannon divergence in bits for
nominal groups and RNOD for ordinal ones. Users of ERR and iRBU stop after document k with probability
(2^grade - 1) / 2^highest grade; those of RBP stop with 1 - patience whatever they see, and their relevance part is the
mean of these satisfactions. GFR is the mean of the parts. A prefix without a document of any group has similarity 0.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from rerankers._base.errors import ConfigError, InputError, choose
from rerankers.measures.definition import Parameter
from rerankers.measures.divergences import jsd, rnod
from rerankers.measures.group_measure import GROUP, RankedGroupMeasure, group_target
from rerankers.measures.memberships import memberships, target_vector
from rerankers.measures.prefixes import Tile, distributions, last, over_prefixes
from rerankers.measures.scores import Scores

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from rerankers.measures.evaluation import Evaluation
    from rerankers.measures.names import Measure

    Floats = NDArray[np.float64]

DIVERGENCES = {"jsd": jsd, "rnod": rnod}
DECAYS = ("err", "irbu", "rbp")
IRBU_PATIENCE = 0.99


def gfr(
    groups: Any,
    target: Any,
    grades: ArrayLike,
    *,
    divergence: str | Sequence[str] = "jsd",
    decay: str = "err",
    patience: float = 0.85,
    max_grade: int | None = None,
) -> dict[str, Any]:
    """Return the relevance, the fairness and their mean of one ranking, each from 0 to 1, 1 best.

    Parameters
    ----------
    groups
        of the ranked documents, best first: a label each (None: no group), or weights (n, G) whose columns are in
        order where groups are ordinal; a list of such for several attributes, together with lists of targets.
    target
        ``{label: share}`` or (G,); divided by its sum.
    grades
        (n,), grades of the ranked documents; negative ones count 0.
    divergence
        ``jsd`` or ``rnod`` (of the sorted labels, or the columns, as an order), or one for each attribute.
    decay
        ``err``, ``irbu`` or ``rbp``.
    patience
        of rbp.
    max_grade
        highest grade of the scale; None: that of these grades, at least 1.

    Returns
    -------
    dict(GFR, relevance, fairness): ``fairness`` is a list for several attributes.

    Raises
    ------
    InputError
        for shapes that do not fit and values that are negative or not finite.
    ConfigError
        for another divergence or decay, or a patience outside 0 to 1.
    """
    choose("decay", decay, DECAYS)
    _check_patience(patience)
    grade = np.asarray(grades, dtype=np.float64)
    if grade.ndim != 1 or not np.all(np.isfinite(grade)):
        raise InputError.one("grades", f"shape {grade.shape}", "a finite grade for every ranked document")
    grade = np.maximum(grade, 0.0)
    highest = max(1.0, float(grade.max(initial=0.0))) if max_grade is None else float(max_grade)
    if not np.isfinite(highest):
        raise InputError.one("max_grade", str(max_grade), "a finite number")
    if highest < grade.max(initial=0.0):
        raise InputError.one("grades", f"the grade {grade.max():g}", f"at most max_grade = {highest:g}")
    several = isinstance(divergence, list | tuple)
    if several and not len(groups) == len(target) == len(divergence):
        found = f"{len(groups)} lists of groups, {len(target)} targets and {len(divergence)} divergences"
        raise InputError.one("groups", found, "as many of each, one an attribute")
    attributes = list(zip(groups, target, divergence, strict=True)) if several else [(groups, target, divergence)]
    stops, utility = walk(grade[np.newaxis], np.ones((1, len(grade)), dtype=np.bool_), highest, decay, patience)
    fairness = []
    for one, aim, word in attributes:
        choose("divergence", str(word), DIVERGENCES)
        weight, names = memberships(one, aim)
        if len(weight) != len(grade):
            raise InputError.one("groups", f"{len(weight)} documents", f"{len(grade)}, as there are grades")
        similar = similarity(np.cumsum(weight, axis=0)[np.newaxis], target_vector(aim, names), str(word))
        fairness.append(float(last(stops * similar)[0]))
    relevance = float(last(stops * utility)[0])
    mean = (relevance + sum(fairness)) / (1 + len(fairness))
    return {"GFR": mean, "relevance": relevance, "fairness": fairness if several else fairness[0]}


def walk(grade: Floats, valid: NDArray[np.bool_], highest: float, decay: str, patience: float) -> tuple[Floats, Floats]:
    """Return where users stop and what the relevance part is worth to them there, (R, n) each, 0 where not valid."""
    satisfied = np.where(valid, np.exp2(grade - highest) - np.exp2(-highest), 0.0)
    rank = np.arange(1, grade.shape[1] + 1)
    if decay == "rbp":
        return np.where(valid, (1.0 - patience) * patience ** (rank - 1), 0.0), satisfied
    going = np.cumprod(1.0 - satisfied, axis=1)
    arrives = np.concatenate([np.ones((len(grade), 1)), going[:, :-1]], axis=1)[:, : grade.shape[1]]
    utility = 1.0 / rank if decay == "err" else IRBU_PATIENCE**rank
    return arrives * satisfied, np.broadcast_to(utility, grade.shape)


def similarity(totals: Floats, target: Floats, divergence: str) -> Floats:
    """Return 1 - divergence of the groups within prefixes, (R, n, G), from targets; 0 where no group is there."""
    found = totals.sum(axis=-1) > 0
    return np.where(found, 1.0 - DIVERGENCES[divergence](distributions(totals), target), 0.0)


def _check_patience(patience: float) -> None:
    if not 0.0 <= patience <= 1.0:
        raise ConfigError(f"patience: found {patience}; expected a number from 0 to 1")


PARAMETERS = (
    GROUP,
    Parameter(
        "target",
        str,
        "what the groups are due: uniform = equal shares of all groups but the unknown; population; relevant",
        default="uniform",
        choices=("uniform", "population", "relevant"),
    ),
    Parameter("divergence", str, "jsd for nominal, rnod for ordinal groups", default="jsd", choices=tuple(DIVERGENCES)),
    Parameter("order", str, "ordinal groups from low to high, for instance 'low<mid<high'; others do not count"),
    Parameter("decay", str, "where users stop", default="err", choices=DECAYS),
    Parameter("p", float, "patience of rbp", default=0.85, low=0.0, high=1.0, aliases=("patience",)),
)


class _Framework(RankedGroupMeasure):
    parameters = PARAMETERS

    @classmethod
    def of_groups(cls, measure: Measure, evaluation: Evaluation, attribute: str) -> Scores:
        """Return the mean over rankings."""
        columns = _columns(measure, evaluation.groups[attribute].groups)
        word, decay = str(measure.get("divergence")), str(measure.get("decay"))
        due = str(measure.get("target"))
        aim, known = group_target(evaluation, attribute, due)
        aim = distributions(aim[:, columns])
        known = known & (aim.sum(axis=1) > 0)
        highest = evaluation.options.max_grade
        if highest is None:
            raise ConfigError(f"measure {measure}: found no highest grade; expected max_grade in the options")
        patience = float(measure.get("p") or 0.0)
        grade = evaluation.universe.candidate_grade

        def value(tile: Tile, totals: Floats) -> Floats:
            stops, utility = walk(grade[tile.pair], tile.valid, float(highest), decay, patience)
            fair = last(stops * similarity(totals[:, :, columns], aim[tile.row][:, np.newaxis], word))
            return cls.combined(fair, last(stops * utility))

        mean, filled = over_prefixes(evaluation, attribute, measure.cutoff, value)
        return Scores.of(
            mean,
            ("query_not_judged", ~evaluation.query_judged),
            ("no_ranked_document", ~filled),
            ("no_relevant_document" if due == "relevant" else "no_groups", ~known),
        )

    @classmethod
    @abstractmethod
    def combined(cls, fairness: Floats, relevance: Floats) -> Floats:
        """Return the value of rankings from their parts."""


def _columns(measure: Measure, groups: tuple[str, ...]) -> list[int]:
    order = measure.get("order")
    if order is None:
        if measure.get("divergence") == "rnod":
            raise ConfigError(
                f"measure {measure}: found no order of the groups; expected one, for instance "
                f"order='{'<'.join(groups)}'"
            )
        return list(range(len(groups)))
    named = [name.strip() for name in str(order).split("<")]
    for name in named:
        choose(f"measure {measure}, order", name, groups)
    if len(set(named)) < len(named):
        raise ConfigError(f"measure {measure}, order: found a group more than once; expected each once")
    return [groups.index(name) for name in named]


class GF(_Framework):
    """The fairness part."""

    name = "GF"
    description = (
        "group fairness of NTCIR FairWeb: similarity of the groups seen by users who stop at each rank to a target, "
        "averaged over rankings; 0 to 1, 1 is best (Sakai, Kim & Kang 2023)"
    )

    @classmethod
    def combined(cls, fairness: Floats, relevance: Floats) -> Floats:
        """Return the fairness part."""
        return fairness


class GFR(_Framework):
    """Fairness and relevance in equal parts."""

    name = "GFR"
    description = (
        "group fairness and relevance of NTCIR FairWeb: mean of GF and of ERR, iRBU or RBP by the same stops, averaged "
        "over rankings; 0 to 1, 1 is best (Sakai, Kim & Kang 2023)"
    )

    @classmethod
    def combined(cls, fairness: Floats, relevance: Floats) -> Floats:
        """Return the mean of both parts."""
        return 0.5 * (fairness + relevance)
