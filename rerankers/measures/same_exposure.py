r"""Policies of one expected exposure beside each other: how much their rankings vary, and how soon a few even out.

Under position-based browsing the exposures e of a policy say nothing of its rankings: swaps (`Transpositions`) and
few rankings (Carathéodory, `mixture_of_exposure`) give the same e. For complete rankings the sum over all documents of
the variance of their exposure is the same for all of them, |v|^2 - |e|^2 with the weights v of the ranks, so that no
policy has the lowest. What differs is who bears it: some documents, for instance the relevant ones, can be given the
least variance possible (`least_variance`). And what users meet in n impressions differs by how the rankings are served:
independent draws leave the squared error (|v|^2 - |e|^2) / n, schedules far less.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.errors import InputError
from rerankers._base.streams import stream_key, uniforms
from rerankers.exposure import Positions
from rerankers.exposure.checks import whole_number
from rerankers.exposure.optimal.permutahedron import document_array, padded_weights
from rerankers.exposure.rankings import exposure_of
from rerankers.measures.exposure_variance import of_rankings
from rerankers.measures.least_variance import least_variance_policy
from rerankers.policies import Mixture, Transpositions, mixture_of_exposure
from rerankers.values import Rankings

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from rerankers.exposure import Browsing
    from rerankers.policies import Policy
    from rerankers.values import Ragged

    Serve = Callable[[int, int], Rankings]

DRAWN, SCHEDULED, BILLIARD = "draws", "schedule", "billiard"
LEAST = "least variance"


@dataclass(frozen=True, slots=True)
class Spread:
    """One policy of the given exposure under one way of serving it.

    Attributes
    ----------
    policy, served
        what it is, and how rankings are taken from it: ``draws``, ``schedule`` or ``billiard``.
    variance
        the sum over documents of the variance of their exposure in one ranking: equal for all policies.
    of_worth
        the same over documents by their worth.
    error
        for each number of impressions: the mean over seeds of the squared error of the mean exposure.
    """

    policy: str
    served: str
    variance: float
    of_worth: float
    error: tuple[float, ...]


def compare_same_exposure(
    over: Ragged,
    exposure: ArrayLike,
    position: ArrayLike,
    stream: NDArray[np.uint64],
    worth: ArrayLike | None = None,
    impressions: Sequence[int] = (10, 100),
    seeds: int = 50,
) -> list[Spread]:
    """Return the policies of one exposure, each drawn and scheduled, and the billiard of Carathéodory's.

    They are transpositions, Carathéodory's mixture and, where documents differ in worth, the policy of least variance.

    Parameters
    ----------
    over
        one row of n documents.
    exposure
        (n,), in the permutahedron of the weights.
    position
        (K,), weights of ranks, at least 0 and not increasing.
    stream
        uint64 (1, 2), the digest of the query.
    worth
        (n,), how much the variance of each document counts in ``of_worth``; 1 for all unless given.
    impressions
        numbers of rankings that users meet.
    seeds
        over how many seeds errors are averaged.

    Raises
    ------
    ValueError
        for more than one row, exposures outside the permutahedron, and arguments of another form.
    """
    if len(over) != 1:
        raise InputError.one("over", f"{len(over)} rows", "one row")
    whole_number("seeds", seeds, 1)
    counts = [whole_number("impressions", count, 1) for count in impressions]
    goal = document_array("exposure", exposure, over.nnz)
    counted = np.ones(over.nnz) if worth is None else document_array("worth", worth, over.nnz)
    weights = padded_weights(position, over.nnz)
    swaps = Transpositions.of_exposure(over, goal, weights, stream)
    mixture, _ = mixture_of_exposure(over, goal, weights, stream)

    def lined_up(count: int, seed: int) -> Rankings:
        key = stream_key(seed, stream[0], "billiard")
        return _taken(mixture.rankings, billiard(mixture.rankings.weight, count, key))

    ways: list[tuple[str, Policy, str, Serve]] = [
        ("transpositions", swaps, DRAWN, swaps.sample),
        ("transpositions", swaps, SCHEDULED, swaps.schedule),
        ("Carathéodory", mixture, DRAWN, mixture.sample),
        ("Carathéodory", mixture, SCHEDULED, mixture.schedule),
        ("Carathéodory", mixture, BILLIARD, lined_up),
    ]
    if np.any(counted != counted[:1]):
        steady, _ = least_variance_policy(over, goal, weights, stream, counted)
        ways += [(LEAST, steady, DRAWN, steady.sample), (LEAST, steady, SCHEDULED, steady.schedule)]
    found = []
    for name, policy, served, serve in ways:
        variance = _variance(policy, weights)
        errors = tuple(_error(serve, goal, weights, count, seeds) for count in counts)
        found.append(Spread(name, served, float(variance.sum()), float(np.dot(counted, variance)), errors))
    return found


def billiard(weights: ArrayLike, n: int, key: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Return n letters of a billiard word: letter i comes at the times (j + phase_i) / weight_i, j = 0, 1, ….

    So a letter of weight w comes about n w times in every n letters, at most a few more or fewer. A ball in a cube
    that meets its walls gives such words (Arnoux, Mauduit, Shiokawa & Tamura 1994).

    Parameters
    ----------
    weights
        (m,), positive in sum, at least 0.
    n
        at least 0.
    key
        uint64 (2,), of `rerankers._base.streams`, for the phases.
    """
    share = document_array("weights", weights)
    if np.any(share < 0) or not share.sum() > 0:
        raise InputError.one("weights", f"{share.min(initial=0.0)}", "numbers of at least 0, not all 0")
    share = share / share.sum()
    phase = uniforms(key, 0, 1, len(share))[0]
    letters, times = [np.empty(0, np.int64)], [np.empty(0)]
    for letter in np.flatnonzero(share).tolist():
        count = int(np.ceil((n + len(share)) * share[letter])) + 1  # more than come before the time n + m
        letters.append(np.full(count, letter, dtype=np.int64))
        with np.errstate(over="ignore"):  # a letter so rare comes never
            times.append((np.arange(count) + phase[letter]) / share[letter])
    order = np.argsort(np.concatenate(times), kind="stable")
    word: NDArray[np.int64] = np.concatenate(letters)[order][:n]
    return word


def _taken(rankings: Rankings, chosen: NDArray[np.int64]) -> Rankings:
    """Return chosen rankings of a single row, equally weighted."""
    lists = [rankings.item[rankings.item_ptr[place] : rankings.item_ptr[place + 1]] for place in chosen.tolist()]
    return Rankings.of_matrix(rankings.over, [np.stack(lists)])


def _variance(policy: Policy, weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the variance of the exposure of each document: float64 (n,)."""
    over = policy.over
    if isinstance(policy, Mixture):
        return of_rankings(policy.rankings, Positions(tuple(weights.tolist())), np.zeros(over.nnz))
    first, second = (policy.exposure(_bound(one, over)) for one in (weights, np.square(weights)))
    if first is None or second is None:
        raise TypeError("position-based exposure has a closed form for these policies")
    return np.maximum(second.value - np.square(first.value), 0.0)


def _bound(weights: NDArray[np.float64], over: Ragged) -> Browsing:
    return Positions(tuple(weights.tolist())).bind(None, over.indptr)


def _error(serve: Serve, goal: NDArray[np.float64], weights: NDArray[np.float64], count: int, seeds: int) -> float:
    total = 0.0
    for seed in range(seeds):
        rankings = serve(count, seed)
        seen = exposure_of(rankings, _bound(weights, rankings.over)).value
        total += float(np.square(seen - goal).sum())
    return total / seeds
