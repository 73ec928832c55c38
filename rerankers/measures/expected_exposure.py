r"""Expected exposure of documents and of groups: loss, disparity, relevance, norm of the target, and utility.

With exposure E and target T over the documents of a query (or over groups, E_g = \sum_d weight E_d and T_g alike):
EEL = |E - T|^2 = EED - 2 EER + EET, EED = |E|^2, EER = E·T, EET = |T|^2 (Diaz et al. 2020). The target is equal
expected exposure: all rankings by grade, equally likely. None of them is utility, which stands beside them.

Where a policy has no closed form, its exposure is estimated from S draws X_s, and |mean X|^2 is too large by the
variance of the mean; EED and EEL then use the unbiased (S |mean X|^2 - mean |X_s|^2) / (S - 1), so that EEL may fall
slightly below 0. Given rankings are the policy themselves, and so are draws where it is they that are to be judged
(``force_draws``): nothing is corrected.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from rerankers.measures.browse import PARAMETERS, browsing_of
from rerankers.measures.decomposition import decompose
from rerankers.measures.definition import Definition, Parameter
from rerankers.measures.exposure_forms import bilinear
from rerankers.measures.group_measure import has_groups
from rerankers.measures.scores import Scores

if TYPE_CHECKING:
    from rerankers.exposure.browsing import BrowsingModel
    from rerankers.measures.evaluation import Evaluation
    from rerankers.measures.names import Measure
    from rerankers.measures.placebo import Bilinear

GROUP = Parameter("group", str, "attribute whose groups take the place of documents", aliases=("attribute",))


class _Term(Definition):
    """A term of the decomposition, of documents or, with ``group``, of one attribute's groups."""

    term: ClassVar[str]
    parameters: ClassVar[tuple[Parameter, ...]] = (*PARAMETERS, GROUP)
    carries = False

    @classmethod
    def per_unit(cls, measure: Measure, evaluation: Evaluation) -> Scores:
        """Return the term of every query."""
        return _term(cls.term, measure, evaluation, cls.attribute(measure, evaluation))

    @classmethod
    def attribute(cls, measure: Measure, evaluation: Evaluation) -> str | None:
        """Return the attribute whose groups count, None for documents."""
        named = dict(measure.params).get("group")
        return None if named is None else str(named)

    @classmethod
    def depends_on_groups(cls, given: Collection[str]) -> bool:
        """Whether an attribute is named."""
        return "group" in given

    @classmethod
    def bilinear(cls, measure: Measure, evaluation: Evaluation) -> Bilinear | None:
        """Return the term as a bilinear form of exposure and target."""
        attribute = cls.attribute(measure, evaluation)
        if attribute is None or not has_groups(evaluation, attribute):
            return None
        return bilinear(evaluation, _model(measure, evaluation), attribute, cls.term)

    @classmethod
    def gaps_under(cls, measure: Measure, evaluation: Evaluation) -> tuple[BrowsingModel, str] | None:
        """Return what a group loss is about."""
        attribute = cls.attribute(measure, evaluation)
        if not cls.has_gaps or attribute is None or not has_groups(evaluation, attribute):
            return None
        return _model(measure, evaluation), attribute


class _GroupTerm(_Term):
    """The same over the groups of the one attribute that was chosen."""

    parameters = PARAMETERS

    @classmethod
    def attribute(cls, measure: Measure, evaluation: Evaluation) -> str | None:
        """Return the attribute there is; with several, `plan` asks for each by name instead."""
        return next(iter(evaluation.groups), "")

    @classmethod
    def depends_on_groups(cls, given: Collection[str]) -> bool:
        """Whether it depends on groups: always."""
        return True


def _model(measure: Measure, evaluation: Evaluation) -> BrowsingModel:
    return browsing_of(measure, evaluation.options.model, evaluation.options.max_grade)


def _term(term: str, measure: Measure, evaluation: Evaluation, attribute: str | None) -> Scores:
    unjudged = ("query_not_judged", ~evaluation.query_judged)
    if attribute is not None and not has_groups(evaluation, attribute):
        return Scores.of(np.full(len(evaluation.over), np.nan), ("no_groups", True))
    model = _model(measure, evaluation)
    terms = decompose(evaluation, model, attribute)
    few = terms.too_few_draws and term in ("loss", "disparity")
    return Scores.of(getattr(terms, term), unjudged, ("too_few_draws", few))


class EEL(_Term):
    """Expected-exposure loss |E - T|^2."""

    name = "EEL"
    term = "loss"
    carries = has_gaps = True
    description = "expected-exposure loss: squared distance of exposure and target, EED - 2 EER + EET; 0 is ideal"


class EED(_Term):
    """Expected-exposure disparity |E|^2."""

    name = "EED"
    term = "disparity"
    description = "expected-exposure disparity: squared norm of the exposure; low where exposure is spread"


class EER(_Term):
    """Expected-exposure relevance E·T."""

    name = "EER"
    term = "relevance"
    description = "expected-exposure relevance: inner product of exposure and target; it is not utility"


class EET(_Term):
    """Squared norm of the target |T|^2."""

    name = "EET"
    term = "target"
    description = "squared norm of the target exposure; the same for every system"


class GroupEEL(_GroupTerm):
    """EEL over groups."""

    name = "group_EEL"
    term = "loss"
    carries = has_gaps = True
    description = "EEL over the groups of every chosen attribute"


class GroupEED(_GroupTerm):
    """EED over groups."""

    name = "group_EED"
    term = "disparity"
    description = "EED over the groups of every chosen attribute"


class GroupEER(_GroupTerm):
    """EER over groups."""

    name = "group_EER"
    term = "relevance"
    description = "EER over the groups of every chosen attribute"


class GroupEET(_GroupTerm):
    """EET over groups."""

    name = "group_EET"
    term = "target"
    description = "EET over the groups of every chosen attribute"


class Utility(Definition):
    """Expected number of satisfying looks: sum of exposure times satisfaction over relevant documents."""

    name = "utility"
    description = "sum of exposure times satisfaction over documents of grade > 0 (satisfaction 1 for rbp and dcg)"
    parameters = PARAMETERS

    @classmethod
    def per_unit(cls, measure: Measure, evaluation: Evaluation) -> Scores:
        """Return the utility of every query, 0 where nothing relevant is judged."""
        model = _model(measure, evaluation)
        value = evaluation.per_row(evaluation.exposure(model) * evaluation.satisfaction(model))
        return Scores.of(value, ("query_not_judged", ~evaluation.query_judged))
