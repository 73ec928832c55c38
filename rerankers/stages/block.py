"""What is done to one block of queries: make the policy, draw from it, measure it beside the anchors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from rerankers.ledger import AUTHORS
from rerankers.measures.anchors import anchors
from rerankers.measures.evaluation import Evaluation, Options
from rerankers.measures.evidence import Evidence, evidence
from rerankers.measures.group_exposure import GroupRows, group_rows
from rerankers.measures.table import UnitScores, score_block
from rerankers.methods import GROUP_TIERS, answered, check_policy
from rerankers.methods.belief import logits
from rerankers.policies import Mixture
from rerankers.stages.metadata import Stopwatch
from rerankers.stages.report_shares import Shares, shares_of
from rerankers.values import Block

if TYPE_CHECKING:
    from rerankers.measures.names import Measure
    from rerankers.methods import Method
    from rerankers.methods.targets import Target
    from rerankers.policies import Policy
    from rerankers.stages.pool import Part
    from rerankers.values import GroupAlignment, Ids, Rankings


@dataclass(frozen=True, slots=True, eq=False)
class BlockResult:
    """What measuring the systems of a block gives.

    Attributes
    ----------
    measures
        system -> its values.
    groups
        system -> attribute -> exposure and target by query and group.
    counts
        of the block, to be added up.
    estimated
        systems whose exposure came from draws, for want of a closed form.
    evidence
        system -> what stands behind its measures of groups.
    shares
        Lorenz curves of exposure, for the report.
    """

    measures: Mapping[str, UnitScores]
    groups: Mapping[str, Mapping[str, GroupRows]]
    counts: Mapping[str, int]
    estimated: tuple[str, ...]
    evidence: Mapping[str, Evidence]
    shares: Shares = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class Reranked:
    """What comes back from reranking a block.

    Attributes
    ----------
    policy, rankings
        the method's policy, and what is published: its draws, or the rankings that were served; None where nobody asks.
    result
        the measures of the method and of the anchors.
    seconds
        wall time by step.
    counts
        what the method met.
    """

    policy: Policy
    rankings: Rankings | None
    result: BlockResult
    seconds: Mapping[str, float]
    counts: Mapping[str, int]


@dataclass(frozen=True, slots=True, eq=False)
class RerankBlock:
    """The function that ``run`` maps over blocks. It holds nothing that differs between blocks.

    Attributes
    ----------
    name
        the method's name in results.
    method
        sees candidates and, in the tiers that may, groups; never judgments.
    queries
        the ids behind the query codes.
    measures, options
        how results are judged; ``options.samples`` and ``options.seed`` are those of the rankings drawn here.
    groups
        attribute -> resolved alignment over the pool's documents.
    target
        what the method aims at, None for methods that aim at none.
    authors
        who wrote what, for methods that keep accounts of authors.
    shown
        attribute -> alignment that the method sees in place of ``groups``; None where it sees those.
    companions
        what documents carry besides groups, for measures only.
    published
        whether the rankings that are published come back: they are many.
    """

    name: str
    method: Method
    queries: Ids
    measures: tuple[Measure, ...]
    options: Options
    groups: Mapping[str, GroupAlignment]
    target: Target | None = None
    authors: GroupAlignment | None = None
    shown: Mapping[str, GroupAlignment] | None = None
    companions: Mapping[str, GroupAlignment] = field(default_factory=dict)
    published: bool = True

    def __call__(self, part: Part) -> Reranked:
        """Return the results of one block."""
        watch = Stopwatch()
        shown = self.groups if self.shown is None else self.shown
        block = part.block(seen_by(self.method, shown, self.authors), self.options, self.target)
        policy, own, counts = self._own(part, block)
        draws = own.draws
        watch.lap("policy and draws")
        own.exposure(self.options.model), own.target(self.options.model)
        watch.lap("exposure")
        around = anchors(
            part.candidates.with_columns(score=block.relevance.value),
            part.judgments,
            part.stream,
            self.options.universe,
            logits(block),
        )
        evaluations = {self.name: own}
        evaluations |= {name: self._judged(one, part) for name, one in around.items()}
        result = collect(evaluations, self.queries, self.measures)
        watch.lap("measures, anchors")
        return Reranked(policy, draws if self.published else None, result, watch.seconds, counts)

    def _own(self, part: Part, block: Block) -> tuple[Policy, Evaluation, Mapping[str, int]]:
        """Return the policy of the method, how it is judged, and what the method counted.

        Rankings that were served are themselves what is judged, equally weighted: nothing is drawn from them.
        """
        if part.served is not None:
            return Mixture(part.served, part.stream), self._judged(part.served, part), {}
        policy, counts = answered(self.method, block)
        check_policy(policy, self.method, block)
        return policy, self._judged(policy, part), counts

    def _judged(self, source: Policy | Rankings, part: Part) -> Evaluation:
        return Evaluation(source, part.judgments, self.groups, self.options, self.companions)


def seen_by(
    method: Any, groups: Mapping[str, GroupAlignment], authors: GroupAlignment | None
) -> dict[str, GroupAlignment]:
    """Return what a method may see: the groups shown in the tiers of groups, authors where it asks for them."""
    seen = dict(groups) if method.tier in GROUP_TIERS else {}
    return seen if authors is None else {**seen, AUTHORS: authors}


def collect(evaluations: Mapping[str, Evaluation], queries: Ids, measures: Sequence[Measure]) -> BlockResult:
    """Measure the systems of a block; the first of them is the one whose counts are kept.

    Parameters
    ----------
    evaluations
        system -> its evaluation; systems may answer different queries.
    queries
        the ids behind the query codes.
    measures
        what to compute.
    """
    units = {name: queries.take(one.over.query) for name, one in evaluations.items()}
    first = next(iter(evaluations.values()))
    return BlockResult(
        measures={name: score_block(one, measures, units[name]) for name, one in evaluations.items()},
        groups={
            name: {attribute: group_rows(one, attribute) for attribute in one.groups}
            for name, one in evaluations.items()
        },
        counts=first.counts,
        estimated=tuple(name for name, one in evaluations.items() if one.estimated(one.options.model)),
        evidence=evidence(evaluations, units, measures),
        shares=shares_of(evaluations),
    )
