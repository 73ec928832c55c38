"""Where the exposures of a policy's documents come from, one row at a time; see `rerankers.exposure.account`."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from rerankers.exposure.account import RankAccount, by_ranks, plackett_luce_above, rank_ends
from rerankers.exposure.rankings import item_exposure
from rerankers.policies.grade_shuffle import GradeShuffle
from rerankers.policies.mixture import Mixture
from rerankers.policies.plackett_luce import PlackettLuce

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.exposure import Browsing
    from rerankers.policies.base import Policy


@dataclass(frozen=True, slots=True, eq=False)
class RowAccount:
    """The exposures of the n documents of a row, taken apart.

    Attributes
    ----------
    exposure
        float64 (n,).
    unsatisfied
        float64 (n,), the exposures if no look satisfied anybody: what ranks and patience alone give.
    ranks
        by ranges of ranks.
    draws
        rankings behind the numbers where the policy has no closed form; None where they are exact.
    error
        float64 (n,), the standard error of ``exposure``; zeros where it is exact, not a number with a single draw.
    """

    exposure: NDArray[np.float64]
    unsatisfied: NDArray[np.float64]
    ranks: RankAccount
    draws: int | None
    error: NDArray[np.float64]


def account(policy: Policy, browsing: Browsing, calm: Browsing, samples: int, seed: int) -> RowAccount:
    """Take the exposures of a policy of one row apart.

    Parameters
    ----------
    policy
        of one row of n documents.
    browsing, calm
        the model bound to the row, and bound so that nobody is satisfied (`rerankers.exposure.account.unsatisfied`).
    samples, seed
        of the draws that stand for a policy without closed form.
    """
    ends = rank_ends(policy.over.nnz)
    exact = policy.exposure(browsing)
    if exact is not None:
        exposing = partial(_exposure, policy)
        none = np.zeros(policy.over.nnz)
        return RowAccount(exact.value, exposing(calm), by_ranks(exposing, browsing, ends), None, none)
    drawn = Mixture(policy.sample(samples, seed), policy.stream)
    exposing = partial(_exposure, drawn)
    value = exposing(browsing)
    return RowAccount(
        value, exposing(calm), by_ranks(exposing, browsing, ends), samples, _error(drawn, browsing, value, samples)
    )


def _exposure(policy: Policy, browsing: Browsing) -> NDArray[np.float64]:
    found = policy.exposure(browsing)
    if found is None:  # of one row, only what browsing does to ranks differs between the calls
        raise TypeError(f"{type(policy).__name__} has a closed form for one browsing model and none for another")
    return found.value


def _error(drawn: Mixture, browsing: Browsing, mean: NDArray[np.float64], draws: int) -> NDArray[np.float64]:
    """Return the standard errors of means over equally weighted draws, float64 (n,)."""
    if draws < 2:
        return np.full(len(mean), np.nan)
    rankings = drawn.rankings
    seen = item_exposure(rankings, browsing)
    square = np.bincount(rankings.flat, weights=seen * seen, minlength=len(mean)) / draws
    return np.sqrt(np.maximum(square - mean * mean, 0.0) / (draws - 1))


def above(policy: Policy, doc: int, samples: int, seed: int) -> tuple[NDArray[np.float64], int | None]:
    """Return how often each document is ranked above one.

    Parameters
    ----------
    policy
        of one row of n documents.
    doc
        the place of the document in the row. Where a ranking leaves it out, all that it ranks are above it.
    samples, seed
        of the draws that stand for a policy without closed form.

    Returns
    -------
    chance
        float64 (n,), 0 for the document itself.
    draws
        rankings behind it, None where it is exact.
    """
    if isinstance(policy, PlackettLuce):
        return plackett_luce_above(policy.logit, doc), None
    if isinstance(policy, GradeShuffle):
        level = np.asarray(policy.level, dtype=np.float64)
        chance = 0.5 + 0.5 * np.sign(level - level[doc])
        chance[doc] = 0.0
        return chance, None
    exact = isinstance(policy, Mixture)
    rankings = policy.rankings if isinstance(policy, Mixture) else policy.sample(samples, seed)
    own = np.full(len(rankings), np.iinfo(np.int64).max)
    here = rankings.item == doc
    own[rankings.ranking_of_item[here]] = rankings.rank[here]
    higher = rankings.rank < own[rankings.ranking_of_item]
    weight = rankings.weight[rankings.ranking_of_item[higher]]
    chance = np.bincount(rankings.item[higher], weights=weight, minlength=policy.over.nnz).astype(np.float64)
    return chance, None if exact else samples
