"""What measures of groups have in common: the attribute they are about, and the distribution they are held against."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from rerankers._base.errors import ConfigError
from rerankers.measures.definition import Definition, Parameter
from rerankers.values.groups import UNKNOWN

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.measures.evaluation import Evaluation
    from rerankers.measures.names import Measure
    from rerankers.measures.scores import Scores

    Floats = NDArray[np.float64]

GROUP = Parameter("group", str, "the attribute; need not be named where there is one", aliases=("attribute",))
TARGET = Parameter(
    "target",
    str,
    "what the groups are due: population = share of the query's documents; relevant = share of its relevant ones; "
    "uniform = equal shares of all groups but the unknown",
    default="population",
    choices=("population", "relevant", "uniform"),
)


class GroupMeasure(Definition):
    """A measure of the groups of one attribute: it looks at them only through the alignment of the evaluation."""

    parameters: ClassVar[tuple[Parameter, ...]] = (GROUP,)

    @classmethod
    def per_unit(cls, measure: Measure, evaluation: Evaluation) -> Scores:
        """Return the value of every query; null (``no_groups``) without groups.

        Raises
        ------
        ConfigError
            when there are several attributes and none is named.
        """
        from rerankers.measures.scores import Scores

        attribute = attribute_of(measure, evaluation)
        if attribute is None:
            return Scores.of(np.full(len(evaluation.over), np.nan), ("no_groups", True))
        return cls.of_groups(measure, evaluation, attribute)

    @classmethod
    @abstractmethod
    def of_groups(cls, measure: Measure, evaluation: Evaluation, attribute: str) -> Scores:
        """Return the value of every query for an attribute that is there."""


def is_of_groups(kind: Any) -> bool:
    """Whether a definition, or a measure of the user's own, is of the groups of one attribute."""
    return issubclass(kind, GroupMeasure) if isinstance(kind, type) else bool(kind.depends_on_groups(()))


class RankedGroupMeasure(GroupMeasure):
    """A measure of the groups in single rankings.

    Its placebo and excess are computed where they are asked for by name (``NDKL_excess``): they repeat the sum over all
    rankings for every shuffle of the labels, which takes minutes where a measure of exposures takes a second.
    """

    carries = False


def attribute_of(measure: Measure, evaluation: Evaluation) -> str | None:
    """Return the attribute a measure is about: the one named, else the only one; None where it is not or has no group.

    Raises
    ------
    ConfigError
        when there are several attributes and none is named.
    """
    named = dict(measure.params).get("group")
    if named is not None:
        return str(named) if has_groups(evaluation, str(named)) else None
    if len(evaluation.groups) > 1:
        first = next(iter(evaluation.groups))
        raise ConfigError(
            f"measure {measure}: found the attributes {', '.join(evaluation.groups)}; expected one of them to be "
            f"named, for instance {measure.name}(group='{first}')"
        )
    only = next(iter(evaluation.groups), None)
    return only if has_groups(evaluation, only) else None


def has_groups(evaluation: Evaluation, attribute: object) -> bool:
    """Return whether an attribute is there and some document is in a group, be it the unknown one."""
    if attribute not in evaluation.groups:
        return False
    return bool(evaluation.groups[str(attribute)].weight.max(initial=0.0) > 0)


def group_target(evaluation: Evaluation, attribute: str, word: str) -> tuple[Floats, NDArray[np.bool_]]:
    """Return the distribution over groups that each query's groups are due.

    Shares are of group membership: a document of several groups counts in each by its weight. All documents that
    are ranked or judged are the population, whichever of them are measured.

    Parameters
    ----------
    word
        one of the choices of `TARGET`.

    Returns
    -------
    target, known
        float64 (B, G), rows that sum to 1, and bool (B,): where there is one. Rows without are 0.
    """
    return evaluation.once(("group target", attribute, word), lambda: _group_target(evaluation, attribute, word))


def _group_target(evaluation: Evaluation, attribute: str, word: str) -> tuple[Floats, NDArray[np.bool_]]:
    alignment, universe = evaluation.groups[attribute], evaluation.universe
    if word == "uniform":
        named = np.array([name != UNKNOWN for name in alignment.groups], dtype=np.float64)
        totals = np.tile(named if named.any() else np.ones(len(named)), (len(universe.union), 1))
    else:
        value = np.ones(universe.union.nnz) if word == "population" else (universe.union_grade > 0).astype(np.float64)
        totals = alignment.totals(universe.union.row_index, universe.union.doc, value, len(universe.union))
    total = totals.sum(axis=1)
    known = total > 0
    return totals / np.where(known, total, 1.0)[:, np.newaxis], known
