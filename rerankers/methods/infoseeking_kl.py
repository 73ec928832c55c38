"""The InfoSeeking rule of TREC Fair Ranking 2020: cost of relevance plus divergence of the prefix, greedily."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from rerankers._base.errors import ConfigError, choose
from rerankers._base.streams import stream_key, uniforms
from rerankers.exposure.checks import check_rank
from rerankers.exposure.rows import row_maxima
from rerankers.methods.tilting.aims import aims_of, attributes_of, check_between, check_temperature
from rerankers.methods.tilting.greedy import minmax, ranked
from rerankers.methods.tilting.ideals import Ideals, ideals_of
from rerankers.methods.tilting.kinds import kinds_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.policies import Mixture
    from rerankers.values import Block

IDEALS = ("candidates", "corpus", "target")
MISSING = -1.0  # the score of a document that the first stage did not find, in published runs


@dataclass(frozen=True, slots=True)
class InfoseekingKl:
    r"""Choose the next document by w_r relcost(d) + \sum_c w_c KL(P_c(prefix and d) || ideal_c).

    The rule of the InfoSeeking group's runs at TREC Fair Ranking 2020 (``UW_Kr_r60g20c20``: weights 0.6, 0.2, 0.2),
    for any attributes. P_c are the weights in groups that the documents of the prefix have together, over their sum.

    Attributes
    ----------
    relevance_weight
        w_r in [0, 1].
    attribute_weights
        w_c for each of the attributes; None: what w_r leaves of 1, in equal parts.
    attributes
        whose groups count; None takes all. Documents without a known group add nothing to a prefix.
    ideal
        ``candidates``: the groups of all candidates of the query; ``corpus``: those of all documents that have a place
        in the alignment; ``target``: the block's target.
    published
        as in 2020: unknown groups stand in the denominator of the ideal, which then sums to less than 1, and the
        largest and smallest score are not below 0, scores of -1 marking documents that were not found. Else the ideal
        is of the known groups alone, and any scores are scaled to [0, 1] within the query.
    stochastic
        draw the next document in proportion to exp(-cost / temperature) in place of taking the least cost.
    temperature
        of stochastic rankings.
    draws
        stochastic rankings a query, made once with the job's seed: the policy draws one of them.

    Notes
    -----
    Ties go to the document that comes first by score. The relative cost of relevance is (max - s) / (max - min), and 1
    where all scores are equal. Documents with equal weights in all groups are a kind, of which only the cheapest one
    left can be next: of order n M G for M kinds, n^2 G at most. As published, the cost of a document that was not found
    is 1 and that of one with a negative score above 1: then the cheapest is not always the first by score.
    """

    relevance_weight: float = 0.6
    attribute_weights: list[float] | None = None
    attributes: list[str] | None = None
    ideal: str = "candidates"
    published: bool = False
    stochastic: bool = False
    temperature: float = 0.1
    draws: int = 100
    tier: ClassVar[str] = "given_groups"

    def __post_init__(self) -> None:
        check_between("relevance_weight", self.relevance_weight)
        for weight in self.attribute_weights or []:
            check_between("attribute_weights", weight)
        choose("method.ideal", self.ideal, IDEALS)
        check_temperature(self.temperature)
        check_rank("method.draws", self.draws, optional=False)

    @property
    def uses_target(self) -> bool:
        """Whether the ideal is the job's target."""
        return self.ideal == "target"

    def policy(self, block: Block) -> Mixture:
        """Return the policy: one ranking a query or, of stochastic ones, ``draws`` that are equally likely.

        Raises
        ------
        ConfigError
            where the block has no groups, not the attributes that the method names, or another number of weights.
        InputError
            as the target, where that is the ideal.
        """
        attributes = attributes_of(block, self.attributes, "infoseeking_kl")
        heed = self._heed(attributes)
        aims = aims_of(block, attributes, "keep") if self.ideal == "target" else None
        ideals = ideals_of(block, attributes, corpus=self.ideal == "corpus", whole=self.published, aims=aims)
        cost = self.relevance_weight * self._cost(block)

        def order(row: int, docs: slice, by_score: NDArray[np.int64]) -> NDArray[np.int64]:
            return self._order(block, row, cost[docs], ideals, heed, by_score)

        return ranked(block, block.relevance.value, order, self.draws if self.stochastic else 1)

    def _heed(self, attributes: list[str]) -> NDArray[np.float64]:
        weights = self.attribute_weights
        if weights is None:
            return np.full(len(attributes), (1.0 - self.relevance_weight) / len(attributes))
        if len(weights) != len(attributes):
            raise ConfigError(
                f"method.attribute_weights: found {len(weights)}; expected one for each of {', '.join(attributes)}"
            )
        return np.array(weights, dtype=np.float64)

    def _cost(self, block: Block) -> NDArray[np.float64]:
        """Return the relative cost of relevance: float64 (nnz,), in [0, 1] but for negative scores, as published."""
        value, indptr = block.relevance.value, block.candidates.indptr
        if not self.published:
            cost = 1.0 - minmax(indptr, value)
            return np.where(np.repeat(_equal(indptr, value), np.diff(indptr)), 1.0, cost)
        found = np.where(value == MISSING, 0.0, value)  # the smallest score is that of what was found
        high = np.repeat(np.maximum(row_maxima(value, indptr), 0.0), np.diff(indptr))
        low = np.repeat(np.maximum(-row_maxima(-found, indptr), 0.0), np.diff(indptr))
        usable = (value != MISSING) & (high != low)
        with np.errstate(over="ignore"):  # a negative score far below the smallest positive one
            published = np.where(usable, high - value, 1.0) / np.where(usable, high - low, 1.0)
        return np.minimum(published, np.finfo(np.float64).max)

    def _order(
        self,
        block: Block,
        row: int,
        cost: NDArray[np.float64],
        ideals: Ideals,
        heed: NDArray[np.float64],
        by_score: NDArray[np.int64],
    ) -> NDArray[np.int64]:
        from rerankers.methods.tilting.greedy_loops import infoseeking_draws, infoseeking_order

        if not self.stochastic:
            cheapest = by_score[np.argsort(cost[by_score], kind="stable")]
            kinds = kinds_of(ideals.counts(row), cheapest)
            kind = (kinds.vector, kinds.start, kinds.document)
            place, chosen = np.empty(len(cost), np.int64), np.empty(len(cost), np.int64)
            place[by_score] = np.arange(len(cost))
            infoseeking_order(cost, *kind, place[kinds.document], ideals.share[row], ideals.part, heed, chosen)
            return chosen
        kinds = kinds_of(ideals.counts(row), by_score)
        kind = (kinds.vector, kinds.start, kinds.document)
        key = stream_key(block.seed, block.stream[row], "infoseeking_kl")
        noise = np.ascontiguousarray(uniforms(key, 0, self.draws, len(cost)))
        drawn = np.empty((self.draws, len(cost)), np.int64)
        infoseeking_draws(cost, *kind, ideals.share[row], ideals.part, heed, float(self.temperature), noise, drawn)
        return drawn


def _equal(indptr: NDArray[np.int64], value: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Say which rows have one value only: bool (B,)."""
    equal: NDArray[np.bool_] = row_maxima(value, indptr) == -row_maxima(-value, indptr)
    return equal
