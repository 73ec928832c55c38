"""Rates of groups (exposure a member, exposure or clicks a unit of relevance) and how unequal they are.

Demographic parity compares exposure a member, the exposed utility ratio (EUR; disparate treatment of Singh & Joachims
2018) exposure a unit of relevance, the realised utility ratio (RUR; their disparate impact) exposure times relevance a
unit of relevance: names after Raj & Ekstrand 2022. Two groups give a ratio; several the smallest rate over the largest.
A group without members has no rate, nor has one without relevance in EUR and RUR: it has no claim there.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from rerankers._base.errors import InputError, choose
from rerankers.exposure.checks import check_bounded
from rerankers.measures.browse import PARAMETERS as BROWSING
from rerankers.measures.browse import browsing_of
from rerankers.measures.definition import Parameter
from rerankers.measures.group_measure import GROUP, GroupMeasure
from rerankers.measures.memberships import memberships
from rerankers.measures.scores import Scores

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from rerankers.measures.evaluation import Evaluation
    from rerankers.measures.names import Measure

    Floats = NDArray[np.float64]

WAYS = ("min_max", "difference", "max_deviation", "mean_deviation", "variance", "l2", "max_min")
COMBINE = Parameter(
    "combine",
    str,
    "min_max = smallest over largest rate (1 is best); difference = largest less smallest; max_deviation, "
    "mean_deviation = from the mean of the rates; variance; l2 = norm of the rates",
    default="min_max",
    choices=WAYS[:-1],
)


def group_rates(amounts: ArrayLike, groups: object, per: str | ArrayLike = "member") -> tuple[Floats, list[object]]:
    """Return what each group gets: the sum of its documents' amounts over its size or its relevance.

    Parameters
    ----------
    amounts
        (n,), of documents: exposure, or exposure times relevance, or clicks.
    groups
        a label a document (None: of no group), or weights (n, G).
    per
        ``member``: the number of members; ``group``: 1, hence the sum; an array (n,): the sum of that, for instance
        relevance.

    Returns
    -------
    float64 (G,), NaN for a group whose size or relevance is 0, and the groups' names.

    Raises
    ------
    InputError
        for shapes that do not fit, values that are not finite numbers below 1e150 in size, and sizes or relevances too
        small to divide by.
    """
    weight, names = memberships(groups)
    values = _column(amounts, len(weight), "amounts")
    if isinstance(per, str):
        choose("per", per, ("member", "group"))
        size = weight.sum(axis=0) if per == "member" else np.ones(len(names))
    else:
        size = _column(per, len(weight), "per") @ weight
    with np.errstate(over="ignore"):
        rate = rates(values @ weight, size)
    if np.any(np.isinf(rate)):
        at = int(np.argmax(np.isinf(rate)))
        raise InputError.one("per", f"{size[at]} for the group {names[at]}", "0, or enough to divide by")
    return rate, names


def rates(total: Floats, size: Floats) -> Floats:
    """Return totals over sizes, NaN where a size is 0."""
    some = size > 0
    return np.where(some, total / np.where(some, size, 1.0), np.nan)


def unequal(rate: ArrayLike, how: str = "min_max") -> float:
    """Return how unequal rates are; those that are NaN do not count.

    Parameters
    ----------
    rate
        (G,), at least 0 and below 1e150.
    how
        ``min_max``, ``max_min``, ``difference``, ``max_deviation``, ``mean_deviation``, ``variance``, ``l2``. Ratios
        of rates that are all 0 are 1; ``max_min`` is infinite where only the smallest is 0.

    Raises
    ------
    InputError
        when fewer than two groups have a rate, or one is negative or too large.
    """
    choose("how", how, WAYS)
    values = np.asarray(rate, dtype=np.float64)
    if values.ndim != 1 or np.any(values < 0) or np.sum(np.isfinite(values)) < 2:
        raise InputError.one("rate", f"{values.tolist()}", "rates of at least 0 of two groups or more")
    check_bounded("rate", np.where(np.isnan(values), 0.0, values))
    return float(combined(values[np.newaxis], how)[0])


def combined(rate: Floats, how: str) -> Floats:
    """Return how unequal the rates of each row are, (B, G) to (B,); NaN rates do not count; NaN with fewer than two."""
    some = np.isfinite(rate)
    number = some.sum(axis=1)
    low = np.where(some, rate, np.inf).min(axis=1, initial=np.inf)
    high = np.where(some, rate, -np.inf).max(axis=1, initial=-np.inf)
    mean = np.where(some, rate, 0.0).sum(axis=1) / np.maximum(number, 1)
    apart = np.where(some, rate - mean[:, np.newaxis], 0.0)
    with np.errstate(invalid="ignore"):  # of rows without a rate, which are taken away below
        if how in ("min_max", "max_min"):
            ratio = np.where(high > 0, low / np.where(high > 0, high, 1.0), 1.0)
            inverse = np.where(ratio > 0, 1.0 / np.where(ratio > 0, ratio, 1.0), math.inf)
            value = ratio if how == "min_max" else inverse
        elif how == "difference":
            value = high - low
        elif how == "max_deviation":
            value = np.abs(apart).max(axis=1, initial=0.0)
        elif how == "mean_deviation":
            value = np.abs(apart).sum(axis=1) / np.maximum(number, 1)
        elif how == "variance":
            value = (apart**2).sum(axis=1) / np.maximum(number, 1)
        else:
            value = np.sqrt((np.where(some, rate, 0.0) ** 2).sum(axis=1))
    return np.where(number >= 2, value, np.nan)


def _column(values: ArrayLike, length: int, name: str) -> Floats:
    vector = np.asarray(values, dtype=np.float64)
    if vector.shape != (length,) or not np.all(np.isfinite(vector)):
        raise InputError.one(name, f"shape {vector.shape}", f"({length},), a finite number a document")
    check_bounded(name, vector)
    return vector


class _Rates(GroupMeasure):
    parameters = (*BROWSING, GROUP, COMBINE)
    relevance: ClassVar[bool] = True

    @classmethod
    def of_groups(cls, measure: Measure, evaluation: Evaluation, attribute: str) -> Scores:
        """Return how unequal the groups' rates are, from the expected exposure."""
        model = browsing_of(measure, evaluation.options.model, evaluation.options.max_grade)
        amount, size = cls.parts(evaluation, evaluation.exposure(model))
        rate = rates(evaluation.by_group(attribute, amount), evaluation.by_group(attribute, size))
        value = combined(rate, str(measure.get("combine")))
        relevant = evaluation.per_row((evaluation.grade > 0).astype(np.float64)) > 0
        return Scores.of(
            np.where(np.isfinite(value), value, np.nan),
            ("query_not_judged", ~evaluation.query_judged),
            ("no_relevant_document", ~relevant if cls.relevance else False),
            ("no_groups", ~np.isfinite(value)),
        )

    @classmethod
    @abstractmethod
    def parts(cls, evaluation: Evaluation, exposure: Floats) -> tuple[Floats, Floats]:
        """Return what is added up and what it is divided by, (over.nnz,) each."""


class DP(_Rates):
    """Demographic parity of exposure."""

    name = "DP"
    relevance = False
    description = (
        "demographic parity: smallest over largest mean exposure of a group's documents, from the expected exposure; "
        "1 is best (Singh & Joachims 2018, Raj & Ekstrand 2022)"
    )

    @classmethod
    def parts(cls, evaluation: Evaluation, exposure: Floats) -> tuple[Floats, Floats]:
        """Exposure and membership."""
        return exposure, np.ones(len(exposure))


class EUR(_Rates):
    """Exposed utility ratio."""

    name = "EUR"
    description = (
        "exposed utility ratio: smallest over largest exposure a unit of relevance (grade), from the expected "
        "exposure; 1 is best; groups without relevance do not count (Singh & Joachims 2018, Raj & Ekstrand 2022)"
    )

    @classmethod
    def parts(cls, evaluation: Evaluation, exposure: Floats) -> tuple[Floats, Floats]:
        """Exposure and relevance."""
        return exposure, evaluation.grade


class RUR(_Rates):
    """Realised utility ratio."""

    name = "RUR"
    description = (
        "realised utility ratio: smallest over largest sum of exposure times relevance (grade) a unit of relevance, "
        "from the expected exposure; 1 is best; groups without relevance do not count (Singh & Joachims 2018, Raj & "
        "Ekstrand 2022)"
    )

    @classmethod
    def parts(cls, evaluation: Evaluation, exposure: Floats) -> tuple[Floats, Floats]:
        """Exposure times relevance, and relevance."""
        return exposure * evaluation.grade, evaluation.grade
