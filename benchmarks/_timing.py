"""Timing contenders in one process, in turn, so that a busy machine slows all of them alike."""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

Work = Callable[[], object]

SHORTEST = 0.01  # seconds a repetition lasts at least: quicker work is called several times in it
FEWEST = 5  # repetitions; the median of fewer says little


@dataclass(frozen=True, slots=True)
class Seconds:
    """Seconds a call took, one number a repetition."""

    all: tuple[float, ...]

    @property
    def median(self) -> float:
        """The middle one."""
        return statistics.median(self.all)

    @property
    def best(self) -> float:
        """The least."""
        return min(self.all)


@dataclass(frozen=True, slots=True)
class Result:
    """One contest: what ours and the peer took for the same task.

    Attributes
    ----------
    demanded
        the least ratio (peer / ours, of medians) that counts as met; None where the line is only shown.
    peer_name
        what the peer is: the published code and its commit, or a version written for the comparison.
    notes
        what both computed and how far they agree.
    """

    contest: str
    ours: Seconds
    peer: Seconds
    peer_name: str
    demanded: float | None = None
    notes: str = ""

    @property
    def ratio(self) -> float:
        """How many times ours is faster: by medians, which is what counts."""
        return self.peer.median / self.ours.median

    @property
    def best_ratio(self) -> float:
        """The same by the best repetitions, which a busy machine disturbs less."""
        return self.peer.best / self.ours.best

    @property
    def missed(self) -> bool:
        """Whether a ratio is demanded and not met."""
        return self.demanded is not None and self.ratio < self.demanded

    @property
    def verdict(self) -> str:
        """What a table says of it."""
        return "" if self.demanded is None else "missed" if self.missed else "ok"


@dataclass(frozen=True, slots=True)
class NotRun:
    """A contest that could not be held, and why."""

    contest: str
    reason: str


@dataclass(frozen=True, slots=True)
class Growth:
    """How the time (or memory) of one function grows with one size.

    Attributes
    ----------
    sizes, values
        the sizes and what was measured there, in ``unit``.
    exponent
        slope of a straight line fitted to the logarithms.
    """

    what: str
    variable: str
    sizes: tuple[int, ...]
    values: tuple[float, ...]
    exponent: float
    unit: str = "ms"
    notes: str = ""

    @property
    def last_exponent(self) -> float:
        """The slope between the two largest sizes, where fixed costs weigh least."""
        return exponent(self.sizes[-2:], self.values[-2:])


@dataclass(frozen=True, slots=True)
class Gain:
    """Squared errors of the mean exposure of so many rankings: independent draws, and chosen together.

    Attributes
    ----------
    counts
        numbers of rankings.
    independent, together
        mean over repeats of the squared distance to the exact exposure, one a number.
    """

    what: str
    counts: tuple[int, ...]
    independent: tuple[float, ...]
    together: tuple[float, ...]


Finding = Result | NotRun | Growth | Gain


@dataclass(slots=True)
class Report:
    """All that one run of the benchmarks has found."""

    results: list[Result] = field(default_factory=list)
    not_run: list[NotRun] = field(default_factory=list)
    growth: list[Growth] = field(default_factory=list)
    gains: list[Gain] = field(default_factory=list)

    def add(self, found: Finding) -> None:
        """Put a finding where it belongs."""
        homes = {Result: self.results, NotRun: self.not_run, Growth: self.growth, Gain: self.gains}
        homes[type(found)].append(found)  # type: ignore[attr-defined]


def interleaved(
    works: Sequence[Work], repetitions: int, clock: Callable[[], float] = time.perf_counter
) -> list[Seconds]:
    """Time each work once a round, after warm-up calls; quick ones are called several times in a row each round.

    What lives already is hidden from the garbage collector meanwhile: no contender pays for objects of the others.
    ``clock=time.process_time`` takes the processor time of all threads, which other processes disturb less.
    """
    calls = [_calls(work) for work in works]
    gc.collect()
    gc.freeze()
    taken: list[list[float]] = [[] for _ in works]
    for _ in range(max(FEWEST, repetitions)):
        for work, count, seconds in zip(works, calls, taken, strict=True):
            seconds.append(_clock(work, count, clock) / count)
    gc.unfreeze()
    return [Seconds(tuple(seconds)) for seconds in taken]


def exponent(sizes: Sequence[int], values: Sequence[float]) -> float:
    """Return the slope of a straight line through the logarithms."""
    return float(np.polyfit(np.log(sizes), np.log(values), 1)[0])


def _calls(work: Work) -> int:
    """Warm up (the first call may compile), then return how many calls fill the shortest repetition."""
    work()
    once = _clock(work, 1)
    return max(1, min(10_000, round(SHORTEST / max(once, 1e-7))))


def _clock(work: Work, count: int, clock: Callable[[], float] = time.perf_counter) -> float:
    start = clock()
    for _ in range(count):
        work()
    return clock() - start
