r"""Sequences of groups all of whose bounded prefixes are within bounds: counted, and drawn uniformly.

How a sequence may go on depends on its numbers of documents by group alone, so that the sequences from a state on are
counted from the last rank to the first, N(s) = \sum_g N(s + 1_g) over the allowed states, and drawn from the first to
the last, the next group with probability N(s + 1_g) / N(s) (Gorantla, Deshpande & Louis, IJCAI 2023).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.errors import ConfigError

if TYPE_CHECKING:
    from numpy.typing import NDArray

MOST_STATES = 1_000_000


@dataclass(frozen=True, slots=True, eq=False)
class Sequences:
    """All sequences within bounds.

    Attributes
    ----------
    chance
        one float64 (m, G) a rank: the chance of each next group in each of the m states before it, over uniformly
        drawn sequences.
    after
        one int64 (m, G) a rank: the state that it leads to; any, where the chance is 0.
    log_count
        the natural logarithm of how many sequences there are; minus infinity where there are none.
    """

    chance: tuple[NDArray[np.float64], ...]
    after: tuple[NDArray[np.int64], ...]
    log_count: float

    @classmethod
    def within(cls, least: NDArray[np.int64], most: NDArray[np.int64]) -> Sequences:
        """Count the sequences of K groups.

        Parameters
        ----------
        least, most
            int64 (K + 1, G), bounds on how many of each group are among the first 0..K.

        Raises
        ------
        ConfigError
            where prefixes have too many states: wide bounds and many groups.
        """
        after, sizes = _reachable(least, most)
        mass, log_count = np.ones(sizes[-1]), 0.0
        chance: list[NDArray[np.float64]] = []
        for states in reversed(after):
            ahead = np.append(mass, 0.0)[states]  # -1, no state, has no mass
            total = ahead.sum(axis=1)
            chance.append(ahead / np.where(total > 0.0, total, 1.0)[:, None])
            scale = float(total.max(initial=0.0))
            if scale == 0.0:
                return cls((), (), -np.inf)
            mass, log_count = total / scale, log_count + float(np.log(scale))
        return cls(tuple(reversed(chance)), tuple(after), log_count)

    def draw(self, noise: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return uniformly drawn sequences.

        Parameters
        ----------
        noise
            float64 (draws, K), uniform in (0, 1).

        Returns
        -------
        int64 (draws, K), groups.
        """
        state = np.zeros(len(noise), np.int64)
        groups = np.empty(noise.shape, np.int64)
        for rank, (chance, after) in enumerate(zip(self.chance, self.after, strict=True)):
            upto = np.cumsum(chance, axis=1)[state]
            upto /= upto[:, -1:]
            group = np.count_nonzero(upto <= noise[:, rank, None], axis=1)
            groups[:, rank] = group
            state = after[state, group]
        return groups


def _reachable(least: NDArray[np.int64], most: NDArray[np.int64]) -> tuple[list[NDArray[np.int64]], list[int]]:
    """Return the transitions (m, G) between allowed states of each rank and the next, -1 for none, and their numbers.

    A state is allowed where it is within bounds and reachable from one that is; some lead nowhere.
    """
    groups = least.shape[1]
    radix = np.concatenate([[1], np.cumprod(most.max(axis=0)[:-1].astype(np.float64) + 1.0)])
    if radix[-1] * (most[:, -1].max() + 1.0) >= 2.0**62:
        raise _too_many()
    weights = radix.astype(np.int64)
    states = np.zeros((1, groups), np.int64)
    after, sizes = [], [1]
    for low, high in zip(least[1:], most[1:], strict=True):
        grown = states[:, None, :] + np.eye(groups, dtype=np.int64)
        allowed = np.all((grown >= low) & (grown <= high), axis=2)
        codes, place = np.unique((grown[allowed] * weights).sum(axis=1), return_inverse=True)
        step = np.full(allowed.shape, -1, np.int64)
        step[allowed] = place
        after.append(step)
        states = np.stack([codes // weights[g] % (most[:, g].max() + 1) for g in range(groups)], axis=1)
        sizes.append(len(states))
        if sum(sizes) > MOST_STATES:
            raise _too_many()
    return after, sizes


def _too_many() -> ConfigError:
    return ConfigError(
        f"method.every: found bounds that allow more than {MOST_STATES} states of prefixes; expected narrower ones, "
        "a lower method.slack or method.cutoff, or fewer groups"
    )
