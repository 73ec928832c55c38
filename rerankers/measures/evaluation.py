"""One block of queries of one system: everything measures are computed from, computed once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np

from rerankers.exposure.rankings import exposure_of
from rerankers.exposure.targets import equal_exposure
from rerankers.measures.hits import Hits
from rerankers.measures.options import Options
from rerankers.measures.universe import Universe
from rerankers.policies import Mixture
from rerankers.values import Counts, Exposure, GroupAlignment, Judgments, Ragged, Rankings

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.exposure.browsing import BrowsingModel
    from rerankers.policies import Policy

__all__ = ["Evaluation", "Options"]

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Evaluation:
    """A block of one system with its judgments and groups. Lazy: twenty measures share few exposures.

    Every number of a query depends on that query alone, so neither the block nor the order of queries matters.

    Attributes
    ----------
    source
        a policy over candidates, or `Rankings`, which are then themselves the policy (their weights are exact).
    judgments
        coded like the source's rows; rows of other queries are ignored.
    groups
        attribute -> resolved alignment over the same document codes.
    options
        how it is judged.
    companions
        ``ATTRIBUTE:KIND`` -> what documents carry besides the groups of an attribute, over the same codes, such as
        ``gender:neutrality``; see `rerankers.values.companions`. Their unknown part stays unknown.

    Raises
    ------
    ValueError
        for an alignment that is not resolved or has fewer documents than the codes in use.
    """

    source: Policy | Rankings
    judgments: Judgments
    groups: Mapping[str, GroupAlignment] = field(default_factory=lambda: MappingProxyType({}))
    options: Options = field(default_factory=Options)
    companions: Mapping[str, GroupAlignment] = field(default_factory=lambda: MappingProxyType({}))
    _cache: dict[tuple[object, ...], Any] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        highest = max(int(self.source.over.doc.max(initial=-1)), int(self.judgments.doc.max(initial=-1)))
        for name, companion in self.companions.items():
            if companion.n_docs <= highest:
                raise ValueError(
                    f"companions {name!r}: found {companion.n_docs} documents; expected at least {highest + 1}"
                )
        for attribute, alignment in self.groups.items():
            if not alignment.resolved or alignment.n_docs <= highest:
                raise ValueError(
                    f"groups {attribute!r}: found an alignment of {alignment.n_docs} documents, resolved: "
                    f"{alignment.resolved}; expected a resolved one over at least {highest + 1} document codes"
                )

    @cached_property
    def universe(self) -> Universe:
        """The documents that count, with their grades."""
        return Universe(self.source.over, self.judgments, self.options.universe)

    @property
    def over(self) -> Ragged:
        """The rows over which sums run (B rows)."""
        return self.universe.over

    @property
    def grade(self) -> NDArray[np.float64]:
        """float64 (over.nnz,), negative and missing grades as 0."""
        return self.universe.grade

    @property
    def query_judged(self) -> NDArray[np.bool_]:
        """Boolean (B,)."""
        return self.universe.query_judged

    @cached_property
    def draws(self) -> Rankings:
        """The policy's first ``samples`` draws, the same that a job publishes."""
        if isinstance(self.source, Rankings):
            return self.source
        return self.source.sample(self.options.samples, self.options.seed)

    @property
    def rankings(self) -> Rankings:
        """What classic measures are averaged over: a finite mixture's own rankings, else the draws."""
        if isinstance(self.source, Mixture) and not self.options.force_draws:
            return self.source.rankings
        return self.draws

    @cached_property
    def hits(self) -> Hits:
        """Where relevant documents stand in `rankings`."""
        return Hits.of(self.rankings, self.universe.candidate_grade)

    def candidate_exposure(self, model: BrowsingModel) -> Exposure:
        """Return the exposure of the source's own documents: exact where there is a closed form, else from draws."""
        return self.once(("candidates", model), lambda: self._candidate_exposure(model))

    def exposure(self, model: BrowsingModel) -> NDArray[np.float64]:
        """Return the expected exposure, float64 (over.nnz,), 0 for documents that are never ranked."""
        return self.once(("exposure", model), lambda: self.universe.spread(self.candidate_exposure(model).value))

    def estimated(self, model: BrowsingModel) -> bool:
        """Whether a policy's exposure comes from draws. That of given rankings is exact: they are the policy."""
        return not isinstance(self.source, Rankings) and not self.candidate_exposure(model).exact

    def target(self, model: BrowsingModel) -> NDArray[np.float64]:
        """Return the equal-expected-exposure target, float64 (over.nnz,)."""
        return self.once(("target", model), lambda: self._target(model))

    def satisfaction(self, model: BrowsingModel) -> NDArray[np.float64]:
        """Return what a look at each document is worth, float64 (over.nnz,), 0 for those that are not relevant."""
        bound = model.bind(self.grade, self.over.indptr)
        return np.where(self.grade > 0, bound.satisfaction, 0.0)

    def by_group(self, attribute: str, value: NDArray[np.float64]) -> NDArray[np.float64]:
        """Add up a value of documents, float64 (over.nnz,), by query and group: float64 (B, G)."""
        return self.groups[attribute].totals(self.over.row_index, self.over.doc, value, len(self.over))

    def members(self, attribute: str, flag: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Count the flagged documents, bool (over.nnz,), by query and group they belong to: float64 (B, G)."""
        alignment = self.groups[attribute]
        belongs = replace(alignment, weight=(alignment.weight > 0).astype(np.float64))
        return belongs.totals(self.over.row_index, self.over.doc, flag.astype(np.float64), len(self.over))

    def per_row(self, value: NDArray[np.float64]) -> NDArray[np.float64]:
        """Add up a value of documents, float64 (over.nnz,), by query: float64 (B,). One term after another."""
        total = np.bincount(self.over.row_index, weights=value, minlength=len(self.over))
        return total.astype(np.float64, copy=False)

    @property
    def counts(self) -> Counts:
        """What a reader of the results should know about the block."""
        universe = self.universe
        relevant = np.bincount(self.over.row_index, weights=self.grade > 0, minlength=len(self.over)) > 0
        return {
            "queries": len(self.over),
            "queries_not_judged": int(np.sum(~self.query_judged)),
            "queries_without_relevant_document": int(np.sum(self.query_judged & ~relevant)),
            "queries_without_candidates": int(np.sum(self.source.over.lengths == 0)),
            "candidates_not_judged": int(np.sum(~universe.candidate_judged)),
            "judged_not_candidates": universe.union.nnz - self.source.over.nnz,
            "negative_grades": int(np.sum(universe.own.grade < 0)),
        }

    def _candidate_exposure(self, model: BrowsingModel) -> Exposure:
        browsing = model.bind(self.universe.candidate_grade, self.source.over.indptr)
        if not isinstance(self.source, Rankings) and not self.options.force_draws:
            exact = self.source.exposure(browsing)
            if exact is not None:
                return exact
        return exposure_of(self.draws, browsing)

    def _target(self, model: BrowsingModel) -> NDArray[np.float64]:
        return equal_exposure(self.over.indptr, self.grade, model.bind(self.grade, self.over.indptr))

    def once(self, key: tuple[object, ...], compute: Callable[[], T]) -> T:
        """Return what was computed under a key before, or compute it now."""
        if key not in self._cache:
            self._cache[key] = compute()
        return cast("T", self._cache[key])
