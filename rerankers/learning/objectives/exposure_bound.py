"""Objectives that are functions of a Plackett-Luce policy's exposure, bound to rows: exact, or from draws."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

import numpy as np

from rerankers._base.errors import ConfigError, choose
from rerankers.learning.objectives.base import Loss
from rerankers.learning.objectives.draws import Draws
from rerankers.learning.objectives.policy import PolicyAt, geometric_weights
from rerankers.learning.objectives.scores import check_scores

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.exposure.browsing import Browsing, BrowsingModel
    from rerankers.learning.objectives.terms import Term
    from rerankers.learning.rows import LearningRows

GRADIENTS = ("exact", "pl_rank_3", "reinforce")
BLOCK = 2048  # pairs that are worked on together, so that their densities fit the cache


@dataclass(frozen=True, slots=True)
class Gradient:
    """How the slopes of an objective come about.

    Attributes
    ----------
    kind
        ``exact``, ``pl_rank_3`` (Oosterhuis 2022) or ``reinforce`` (Williams 1992).
    draws
        rankings a query and step of the last two.
    """

    kind: str = "exact"
    draws: int = 1000

    def __post_init__(self) -> None:
        choose("objective.gradient", self.kind, GRADIENTS)
        if self.draws < 2:
            raise ConfigError(f"objective.draws: found {self.draws}; expected at least 2, one for each half")


class OfExposure(Protocol):
    """An objective that is a function of a Plackett-Luce policy's exposure."""

    def model(self) -> BrowsingModel:
        """Return the browsing model."""
        ...

    def gradients(self) -> Gradient:
        """Return how slopes come about."""
        ...

    def terms(self, rows: LearningRows, browsing: Browsing) -> tuple[list[Term], Mapping[str, int]]:
        """Return its terms for rows that ``browsing`` is bound to, and counts of what was met."""
        ...


class ExposureBound:
    """The sum of the terms of objectives, with one exposure and one gradient for all of them.

    Attributes
    ----------
    counts
        what was met while binding.
    """

    def __init__(self, rows: LearningRows, parts: Sequence[tuple[float, OfExposure]], seed: int) -> None:
        first = parts[0][1]
        self._rows, self._seed, self._gradient = rows, seed, first.gradients()
        self.counts: Counter[str] = Counter()
        self._blocks = [self._block(block, parts) for block in _blocks(rows)]

    def _block(self, rows: LearningRows, parts: Sequence[tuple[float, OfExposure]]) -> _Block:
        browsing = parts[0][1].model().bind(rows.grade, rows.indptr)
        terms: list[tuple[float, Term]] = []
        counts: Counter[str] = Counter()
        for weight, part in parts:
            found, met = part.terms(rows, browsing)
            terms += [(weight, term) for term in found]
            counts |= Counter(met)  # what both met is one thing
        self.counts.update(counts)
        surrogate = None if browsing.position is None else geometric_weights(browsing, rows.indptr)
        return _Block(rows, browsing, surrogate, terms)

    def __call__(self, scores: NDArray[np.float64], step: int = 0) -> Loss:
        """Return the loss at scores (nnz,), logits of the policy.

        Raises
        ------
        InputError
            for scores of another shape or not finite.
        """
        logit = check_scores(scores, self._rows)
        losses, start = [], 0
        for block in self._blocks:
            own = logit[start : start + block.rows.over.nnz]
            start += len(own)
            losses.append(
                block.exact(own)
                if self._gradient.kind == "exact"
                else block.estimated(own, Draws(self._gradient.kind, self._gradient.draws, self._seed, step))
            )
        empty = np.empty(0)
        return Loss(
            np.concatenate([empty, *[loss.value for loss in losses]]),
            np.concatenate([empty, *[loss.slope for loss in losses]]),
            np.concatenate([empty, *[loss.curvature for loss in losses]]),
        )


@dataclass(frozen=True, slots=True, eq=False)
class _Block:
    """Rows that are worked on together."""

    rows: LearningRows
    browsing: Browsing
    surrogate: tuple[NDArray[np.float64], NDArray[np.float64]] | None
    terms: list[tuple[float, Term]]

    def exact(self, logit: NDArray[np.float64]) -> Loss:
        policy = PolicyAt(self.rows.indptr, logit, self.browsing, self.surrogate)
        exposure = policy.exposure()
        pull = self._pull(exposure)
        slope = policy.gradient(pull)
        value = sum((weight * term.value(exposure) for weight, term in self.terms), np.zeros(len(self.rows)))
        return Loss(value, slope, self._curvature(policy, pull, slope))

    def estimated(self, logit: NDArray[np.float64], draws: Draws) -> Loss:
        """Return unbiased estimates for terms that are at most quadratic in the exposure.

        One half of the draws gives the derivatives by the exposures which the other half's gradient takes for fixed,
        both ways round.
        """
        halves = draws.halves(self.rows, logit, self.browsing)
        one, other = (half.exposure() for half in halves)
        pulls = self._pull(one), self._pull(other)
        slope = 0.5 * (halves[1].gradient(pulls[0]) + halves[0].gradient(pulls[1]))
        value = sum((weight * term.between(one, other) for weight, term in self.terms), np.zeros(len(self.rows)))
        policy = PolicyAt(self.rows.indptr, logit, self.browsing, self.surrogate)
        return Loss(value, slope, self._curvature(policy, 0.5 * (pulls[0] + pulls[1]), slope))

    def _pull(self, exposure: NDArray[np.float64]) -> NDArray[np.float64]:
        return sum((weight * term.pull(exposure) for weight, term in self.terms), np.zeros(len(exposure)))

    def _curvature(
        self, policy: PolicyAt, pull: NDArray[np.float64], slope: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        squares = [(weight * own, cells) for weight, term in self.terms for own, cells in term.squares()]
        return policy.curvature(pull, slope, squares)


def _blocks(rows: LearningRows) -> Iterator[LearningRows]:
    """Cut rows into pieces of about `BLOCK` pairs; none is cut in two, and no result depends on where."""
    start = 0
    while start < len(rows):
        stop = int(np.searchsorted(rows.indptr, rows.indptr[start] + BLOCK, side="right")) - 1
        stop = min(max(stop, start + 1), len(rows))
        low, high = int(rows.indptr[start]), int(rows.indptr[stop])
        yield replace(
            rows,
            over=rows.over.rows(start, stop),
            qids=rows.qids[start:stop],
            features=rows.features[low:high],
            grade=rows.grade[low:high],
            topic=rows.topic[start:stop],
            stream=rows.stream[start:stop],
        )
        start = stop
