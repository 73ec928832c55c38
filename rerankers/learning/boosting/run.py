"""A fit under way: trees are grown, measured, and taken up again where a checkpoint left them."""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.errors import InputError
from rerankers.learning.boosting.checkpoint import Checkpoint
from rerankers.learning.boosting.history import History
from rerankers.learning.boosting.member import Data, Member
from rerankers.learning.boosting.native import native_task
from rerankers.learning.boosting.newton import Newton, mean_loss
from rerankers.learning.boosting.parameters import can_be_passed, draws, member_seeds, tree_parameters
from rerankers.learning.boosting.text import Forest
from rerankers.learning.learner import Point
from rerankers.learning.monitors.base import reading

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.learning.boosting.job import Job


class Run:
    """A fit from nothing, or from a checkpoint without its last iteration.

    Parameters
    ----------
    job
        rows that hold documents, and the rest.
    before
        the checkpoint.
    """

    def __init__(self, job: Job, before: Checkpoint | None = None) -> None:
        self.job, self.options = job, job.options
        self.history = History() if before is None else before.history.first(before.history.iterations - 1)
        self.finished = False
        self.start = perf_counter() - (0.0 if before is None else before.seconds)
        drawn = job.options.query_fraction < 1
        task = None if drawn else native_task(job.objective, job.train)
        seeds = member_seeds(job.seed, job.options.members)
        parameters = [tree_parameters(job.options, task, seed) for seed in seeds]
        self.draws, self.passable = drawn or draws(parameters[0]), can_be_passed(parameters[0])
        self.data = Data(job.train, job.valid, task)
        # Every member draws what an objective estimates by itself; of a native objective only values are wanted.
        keys = [job.seed, *seeds[1:]] if task is None else [job.seed]
        self.bounds = [job.objective.bind(job.train, key) for key in keys]
        self.valid = None if job.valid is None else job.objective.bind(job.valid, job.seed)
        self.members = [self._member(number, parameters[number], before) for number in range(len(seeds))]

    def _member(self, number: int, parameters: dict[str, object], before: Checkpoint | None) -> Member:
        done = self.history.iterations
        newton = None
        if self.data.task is None:
            known = None if before is None or done == 0 else before.exponents[number]
            seed = int(str(parameters["seed"]))
            newton = Newton(self.bounds[number], self.job.train, self.options.query_fraction, seed, known)
        base = None
        if before is not None and done > 0:
            base = Forest.of(before.texts[number]).first(self.history.trees(number, done))
        member = Member(self.data, parameters, newton, base, done)
        if newton is not None:
            newton.move(member.train_scores() if done else np.zeros(self.job.train.over.nnz), done)
        return member

    @classmethod
    def continued(cls, job: Job, found: Checkpoint) -> Run | None:
        """Return the fit at a checkpoint; None where it cannot be taken up with the same bits.

        The last tree of the checkpoint is grown once more. Only where it comes out the same, the fit goes on from
        there: whatever has changed on the machine, no other bits than those of a fit at a stretch are given.
        """
        run = cls(job, found)
        if not run.passable:
            return None
        split = run._grow()
        history = run.history.plus(split, None)
        same = history.split == found.history.split and all(
            member.forest(history.trees(number, history.iterations)).trees == Forest.of(text).trees
            for number, (member, text) in enumerate(zip(run.members, found.texts, strict=True))
        )
        if not same:
            return None
        run._move(found.history.iterations)
        run.history = found.history
        return run

    def step(self) -> Point | None:
        """Do an iteration and return what was measured after it, None where nothing was."""
        split = self._grow()
        iteration = self.history.iterations + 1
        last = iteration >= self.options.iterations or not (any(split) or self.draws)
        values = self._measured(iteration, last or iteration % self.options.record_every == 0)
        point = Point(iteration, perf_counter() - self.start, values) if values else None
        self.history = self.history.plus(split, point)  # at once: an interruption finds a whole iteration or none
        self.finished = last or (self.valid is not None and self.history.stale(self.options.patience))
        return point

    def checkpoint(self) -> Checkpoint:
        """Return where the fit stands."""
        return Checkpoint(
            self.history,
            self.texts(self.history.iterations),
            tuple(None if member.newton is None else member.newton.exponent for member in self.members),
            perf_counter() - self.start,
            self.finished,
        )

    def texts(self, iterations: int) -> tuple[str, ...]:
        """Return the models of the members after so many iterations."""
        history = self.history
        return tuple(member.text(history.trees(number, iterations)) for number, member in enumerate(self.members))

    def _grow(self) -> tuple[bool, ...]:
        return tuple(member.grow() for member in self.members)

    def _move(self, iteration: int) -> list[float]:
        """Bring slopes up to date and return the mean loss of every member; none for native objectives."""
        return [
            member.newton.move(member.train_scores(), iteration) for member in self.members if member.newton is not None
        ]

    def _measured(self, iteration: int, recorded: bool) -> dict[str, float]:
        values: dict[str, float] = {}
        losses = self._move(iteration)
        if self.data.task is not None and recorded:
            score = _mean([member.train_scores() for member in self.members])
            losses = [mean_loss(self.bounds[0], score, self.job.train, iteration)]
        if losses:
            values["train"] = sum(losses) / len(losses)
        if self.valid is not None and self.job.valid is not None:
            score = _mean([member.valid_scores() for member in self.members])
            if recorded or self.job.monitor is None:
                values["valid"] = mean_loss(self.valid, score, self.job.valid, iteration)
            values |= self._monitored(score, iteration, values.get("valid", 0.0))
        return values

    def _monitored(self, score: NDArray[np.float64], iteration: int, loss: float) -> dict[str, float]:
        if self.job.monitor is None:
            return {"monitor": loss}
        seen = reading(self.job.monitor, score)
        values = {"monitor": seen.value, **seen.parts}
        for name, value in values.items():
            if not np.isfinite(value):
                raise InputError.one("monitor", f"{name} of {value} after iteration {iteration}", "a finite number")
        return values


def _mean(scores: list[NDArray[np.float64]]) -> NDArray[np.float64]:
    # As `TreeScorer.score` does it: one after another from zero.
    total = np.zeros(len(scores[0]))
    for score in scores:
        total += score
    return total / len(scores)
