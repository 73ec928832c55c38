"""Plackett-Luce policies whose groups have exactly the exposure that a target gives them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from rerankers._base.errors import ConfigError
from rerankers.exposure.closed_form.plackett_luce import plackett_luce_exposure
from rerankers.methods.belief import logits
from rerankers.methods.targets.believed import aimed_model, believed_browsing
from rerankers.methods.tilting.aims import (
    aims_of,
    attributes_of,
    check_between,
    check_temperature,
    check_unknown,
)
from rerankers.methods.tilting.problem import GroupRows, group_rows
from rerankers.methods.tilting.solver import Tilts, tilted
from rerankers.policies import PlackettLuce

if TYPE_CHECKING:
    from rerankers.values import Block

LEAST_TOLERANCE = 1e-15  # nats: rounding


@dataclass(frozen=True, slots=True, eq=False)
class Tilted:
    """What `KlTilt` finds for a block.

    Attributes
    ----------
    policy
        Plackett-Luce, with tilted logits.
    attributes
        those that have a target; ``groups.part`` counts them.
    groups
        the groups of each row, with the targets that they were to reach.
    tilts
        the tilts, the exact shares, and how each row ended.
    counts
        of rows: ``targets_reached``; ``targets_projected``, where no tilts reach the target and the shares are the
        nearest ones, as far as the slope of the divergence tells (``tilts.slope``, at most 1e-9 nats a nat);
        ``targets_not_settled``, where it is still steeper after 300 rounds; of rows and attributes: those of
        `GroupRows`; and
        ``rows_with_guessed_probabilities``, where browsing depends on relevance and only scores are known.
    """

    policy: PlackettLuce
    attributes: tuple[str, ...]
    groups: GroupRows
    tilts: Tilts
    counts: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class KlTilt:
    r"""Tilt the logits of each group so that the exact exposure shares of the groups are those of a target.

    Attributes
    ----------
    temperature
        divides the logits before they are tilted, as in `plackett_luce`.
    strength
        0 to 1: the shares aimed at are in proportion to target^strength own^(1 - strength), of the exact shares that
        the policy has without tilts; 1 is the target itself, 0 changes nothing.
    attributes
        the attributes that have a target; None takes all. The tilts of several add up; where their targets contradict
        each other, the sum of the divergences is the least.
    unknown
        what "unknown" is, where it is a group (``groups.unknown=count``): ``target``: a group like any other if the
        target speaks of it; ``keep``: its documents are not tilted and do not count.
    tolerance
        the divergence of the shares from the target, in nats, that counts as none.

    Notes
    -----
    The policy is the information projection of Plackett-Luce on the target among its tilts by group: the logit of
    document d is s_d + \sum_g a_{dg} b_g, a its memberships. The exposure is exact under the block's browsing model,
    bound to what the block believes about relevance (`rerankers.methods.targets.believed_browsing`), and so is its
    Jacobian; see `rerankers.methods.tilting.solver`. Nothing is drawn. Where the first document is all that is seen,
    the tilts are log(t_g / m_g) with m_g the mass of a group under softmax, which is where the solver begins.
    """

    temperature: float = 1.0
    strength: float = 1.0
    attributes: list[str] | None = None
    unknown: str = "target"
    tolerance: float = 1e-12
    tier: ClassVar[str] = "given_groups"
    uses_target: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_temperature(self.temperature)
        check_between("strength", self.strength)
        check_unknown(self.unknown)
        if not LEAST_TOLERANCE <= self.tolerance <= 1.0:
            raise ConfigError(
                f"method.tolerance: found {self.tolerance}; expected nats between {LEAST_TOLERANCE:g} and 1"
            )

    def policy(self, block: Block) -> PlackettLuce:
        """Return the tilted policy of a block; see `tilted`."""
        return self.tilted(block).policy

    def counted(self, block: Block) -> tuple[PlackettLuce, Mapping[str, int]]:
        """Return the policy and the counts of `Tilted`."""
        found = self.tilted(block)
        return found.policy, found.counts

    def explain(self, block: Block, row: int) -> dict[str, Any]:
        """Return the tilts of a row's groups and what they do; see `rerankers.methods.explanation`."""
        from rerankers.methods.own_accounts import tilt_account

        found = self.tilted(block)
        plain = logits(block) / self.temperature
        own = plackett_luce_exposure(block.candidates.indptr, plain, believed_browsing(block))
        return tilt_account(found, block, found.groups.shares(found.groups.totals(own)), row)

    def tilted(self, block: Block) -> Tilted:
        """Return the tilted policy of a block with the shares that it has and what was met on the way.

        Raises
        ------
        ConfigError
            where the block has no groups, or not the attributes that the method names.
        InputError
            as the target.
        """
        attributes = attributes_of(block, self.attributes, "kl_tilt")
        groups = group_rows(block.candidates, aims_of(block, attributes, self.unknown))
        logit, browsing = logits(block) / self.temperature, believed_browsing(block)
        if self.strength < 1.0:
            own = groups.totals(plackett_luce_exposure(block.candidates.indptr, logit, browsing))
            groups = groups.softened(groups.shares(own), self.strength)
        tilts = tilted(logit, browsing, groups, self.tolerance)
        guessed = aimed_model(block).needs_grades and block.relevance.probability is None
        counts = {**tilts.counts, **groups.counts}
        if guessed and len(block.candidates):
            counts["rows_with_guessed_probabilities"] = len(block.candidates)
        policy = PlackettLuce(block.candidates, tilts.logit, block.stream)
        return Tilted(policy, tuple(attributes), groups, tilts, counts)
