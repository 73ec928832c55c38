"""Ex-post group-fair rankings (Gorantla et al. 2023): random, and every single one within bounds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from rerankers._base.errors import ConfigError, choose
from rerankers._base.streams import stream_key, uniforms
from rerankers.exposure.checks import check_rank
from rerankers.methods.belief import logits
from rerankers.methods.prefixes.labels import Labels, reranked, said
from rerankers.methods.prefixes.quotas import bounds
from rerankers.methods.prefixes.sequences import Sequences
from rerankers.methods.tilting.aims import check_temperature, check_unknown

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.policies import Mixture
    from rerankers.values import Block

WITHIN = ("plackett_luce", "score")


@dataclass(frozen=True, slots=True)
class ExpostGroupFair:
    """Draw a sequence of groups uniformly from all within bounds, then documents inside the groups.

    Gorantla, Deshpande & Louis (IJCAI 2023, "Sampling ex-post group-fair rankings") with documents in the order of
    merit inside a group, or Plackett-Luce there (Gorantla, Bhansali, Deshpande & Louis, "Optimizing learning-to-rank
    models for ex-post fair relevance", SIGIR 2024). A randomised ranker that is fair on average may show unfair
    rankings; of these, each is fair.

    Attributes
    ----------
    within
        how documents are ordered inside a group: ``plackett_luce`` or ``score``.
    temperature
        of Plackett-Luce.
    every
        prefixes whose length is a multiple of it are bounded: 1 all, 10 blocks of ten.
    slack
        documents by which a bounded prefix may miss the target's share of it, rounded down and up.
    cutoff
        the ranks that are chosen so; the others follow by belief, or Plackett-Luce. None: all.
    attribute
        whose groups count; None takes the only one.
    unknown
        ``target``: documents of the group "unknown" are a group like any other where the target speaks of it;
        ``keep``: they stay at their ranks, the others being ranked around them.
    draws
        rankings a query, made once with the job's seed: the policy draws one of them.

    Notes
    -----
    A group that is used up leaves its share to the others in proportion, see `rerankers.methods.prefixes.quotas`: then
    there always is a ranking within bounds. The exposure of the policy is exactly that of its rankings.
    """

    within: str = "plackett_luce"
    temperature: float = 1.0
    every: int = 1
    slack: int = 0
    cutoff: int | None = None
    attribute: str | None = None
    unknown: str = "target"
    draws: int = 100
    tier: ClassVar[str] = "given_groups"
    uses_target: ClassVar[bool] = True

    def __post_init__(self) -> None:
        choose("method.within", self.within, WITHIN)
        check_temperature(self.temperature)
        if not 0 <= self.slack <= 1_000_000:
            raise ConfigError(f"method.slack: found {self.slack}; expected a whole number from 0 to 1,000,000")
        check_rank("method.every", self.every, optional=False)
        check_rank("method.cutoff", self.cutoff)
        check_rank("method.draws", self.draws, optional=False)
        check_unknown(self.unknown)

    def policy(self, block: Block) -> Mixture:
        """Return the policy that draws one of ``draws`` fair rankings; see `counted`."""
        return self.counted(block)[0]

    def counted(self, block: Block) -> tuple[Mixture, Mapping[str, int]]:
        """Return the policy and the counts.

        They are ``rows_with_used_up_group`` (a group has fewer documents than its share of the ranks), and
        ``rows_without_target`` (no bounds), ``documents_in_several_groups``, ``documents_left_in_place``.

        Raises
        ------
        ConfigError
            where the block has no groups, or not the named ones, and for bounds too wide for the number of groups.
        InputError
            as the target.
        """
        labels = Labels.of(block, self.attribute, self.unknown, "expost_group_fair")
        counts, logit = labels.counts, logits(block)

        def rule(row: int, members: NDArray[np.int64], group: NDArray[np.int64]) -> NDArray[np.int64]:
            own = logit[block.candidates.row(row)][members]
            ranks = len(members) if self.cutoff is None else min(self.cutoff, len(members))
            present, code = np.unique(group, return_inverse=True)
            size, share = np.bincount(code), labels.share[row][present]
            if share.sum() <= 0.0:
                counts["rows_without_target"] += 1
                least, most = np.zeros((ranks + 1, len(size)), np.int64), np.tile(size, (ranks + 1, 1))
            else:
                counts["rows_with_used_up_group"] += bool(np.any(share / share.sum() * ranks > size))
                least, most = bounds(share, size, ranks, self.every, self.slack)
            sequences = Sequences.within(least, most)
            key = stream_key(block.seed, block.stream[row], "expost_group_fair")
            noise = uniforms(key, 0, self.draws, ranks + len(members))
            return filled(sequences.draw(noise[:, :ranks]), code, self._places(own, noise[:, ranks:]))

        policy = reranked(block, labels.code, rule, draws=self.draws)
        return policy, said(counts)

    def _places(self, logit: NDArray[np.float64], noise: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return documents in the order in which their groups give them: int64 (draws, n)."""
        if self.within == "score":
            return np.tile(np.arange(len(logit), dtype=np.int64), (len(noise), 1))
        # exponential clocks, of which the earliest is first (Yellott 1977)
        with np.errstate(over="ignore"):
            clock = np.log(-np.log(noise)) + (logit.max() - logit) / self.temperature
        return np.argsort(clock, axis=1, kind="stable").astype(np.int64, copy=False)


def filled(sequence: NDArray[np.int64], group: NDArray[np.int64], order: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return rankings whose groups are as drawn, of documents in their own order.

    Parameters
    ----------
    sequence
        int64 (draws, K), the groups of the first ranks.
    group
        int64 (n,), of the documents.
    order
        int64 (draws, n): a ranking of all documents, in whose order each group gives its own. The documents that are
        not among the first K follow in this order.
    """
    draws, ranks = sequence.shape
    of_place = group[order]
    ranking = np.empty(order.shape, np.int64)
    chosen = np.zeros(order.shape, np.bool_)
    line = np.arange(draws)[:, None]
    for g in np.unique(group):
        slot = sequence == g
        number = np.cumsum(of_place == g, axis=1)
        taken = (of_place == g) & (number <= slot.sum(axis=1, keepdims=True))
        chosen |= taken
        ranking[:, :ranks][slot] = order[taken]  # both row by row, in the order of ranks and of places
    rest = np.argsort(chosen, axis=1, kind="stable")[:, : order.shape[1] - ranks]
    ranking[:, ranks:] = order[line, rest]
    return ranking
