"""The loop: epochs of batches of whole queries, early stopping, checkpoints; equal arguments give equal bits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from rerankers._base.errors import InputError
from rerankers._base.streams import generator
from rerankers.learning.checked import row_counts, same_features, usable
from rerankers.learning.learner import Fitted, Point
from rerankers.learning.neural.batches import (
    Placed,
    Validation,
    checked_loss,
    checked_scores,
    plain,
)
from rerankers.learning.neural.checkpoints import Checkpoint, read_checkpoint, write_checkpoint
from rerankers.learning.neural.deck import Deck
from rerankers.learning.neural.inputs import Inputs
from rerankers.learning.neural.job import Job
from rerankers.learning.neural.machine import device, steady
from rerankers.learning.neural.networks import Dropout, build, start
from rerankers.learning.neural.scorer import NeuralScorer
from rerankers.learning.neural.steps import optimizer_of, pack, set_rate, unpack

if TYPE_CHECKING:
    from rerankers.learning.objectives.base import Bound


@dataclass(slots=True)
class _State:
    """What a checkpoint must hold beside the weights and the optimiser."""

    epoch: int = 0
    step: int = 0
    seconds: float = 0.0
    best: float | None = None  # the least value of the monitor so far
    best_epoch: int = 0
    clipped: int = 0
    curve: list[tuple[int, float, dict[str, float]]] = field(default_factory=list)


def fit(job: Job, checkpoint: Path | None, progress: Callable[[Point], None] | None) -> Fitted:
    """Fit a network.

    ``train`` of the curve is the mean over queries of the loss as each was met in the epoch, before its step.
    Queries without a document are left out, and counted. Validation queries are scored after each epoch; the weights
    of the least value, the first of equals, are kept.

    Raises
    ------
    ConfigError
        for a device that is not there, checkpoints of another fit, and an objective that cannot be recognised by them.
    InputError
        for rows without a pair or without a feature that varies, validation rows with other features, and a loss that
        is not finite, naming epoch and query.
    """
    where = device(job.options.device)
    with steady(job.options.threads):
        return _Fit(job, where).run(checkpoint, progress)


class _Fit:
    def __init__(self, job: Job, where: torch.device) -> None:
        self.job, self.device, options = job, where, job.options
        train = usable(job.train, "train")
        self.inputs = Inputs.learn(train.features, train.names)
        if not np.any(self.inputs.inverse > 0) and not len(self.inputs.marked):
            raise InputError.one("train", "no feature with two different values", "at least one")
        dtype = getattr(torch, options.dtype)
        self.train = Placed.of(train, self.inputs, where, dtype)
        self.counts = {**row_counts(job.train, train), **self.inputs.counts(train.features)}
        self.validation = None
        if job.valid is not None:
            valid = same_features(usable(job.valid, "valid"), train)
            self.counts["valid_values_missing_unlike_training"] = self.inputs.newly_missing(valid.features)
            placed = Placed.of(valid, self.inputs, where, dtype)
            self.validation = Validation(placed, job.objective.bind(valid, job.seed), job.monitor)
        self.architecture = options.architecture()
        network = build(self.architecture, self.inputs.width)
        start(network, job.seed)
        self.network = network.to(where, dtype)
        self.random = torch.Generator(device=where)
        dropouts = [module for module in self.network.modules() if isinstance(module, Dropout) and module.rate > 0]
        for module in dropouts:
            module.random = self.random
        self.drops = bool(dropouts)
        self.optimizer = optimizer_of(options, self.network)
        self.state, self.best = _State(), self._weights()
        self.deck = Deck(self.train, job.objective, options.queries_per_batch, job.seed)
        self.counts = {**getattr(self.deck.whole[1], "counts", {}), **self.counts}

    def run(self, checkpoint: Path | None, progress: Callable[[Point], None] | None) -> Fitted:
        options, state = self.job.options, self.state
        name = "" if checkpoint is None else self.job.fingerprint(self.device)
        if checkpoint is not None:
            self._resume(checkpoint, name)
        begin = perf_counter() - state.seconds
        while state.epoch < options.epochs and not self._stalled():
            values = {"train": self._epoch(state.epoch + 1)}
            state.epoch += 1
            if self.validation is not None:
                values |= self.validation(self.network, state.epoch)
                if state.best is None or values["monitor"] < state.best:
                    state.best, state.best_epoch, self.best = values["monitor"], state.epoch, self._weights()
            state.seconds = perf_counter() - begin
            state.curve.append((state.epoch, state.seconds, values))
            if progress is not None:
                progress(Point(*state.curve[-1]))
            last = state.epoch == options.epochs or self._stalled()
            if checkpoint is not None and (last or state.epoch % options.checkpoint_every == 0):
                write_checkpoint(checkpoint, name, self._checkpoint())
        return self._fitted()

    def _stalled(self) -> bool:
        patience, state = self.job.options.patience, self.state
        return self.validation is not None and patience is not None and state.epoch - state.best_epoch >= patience

    def _epoch(self, epoch: int) -> float:
        """Go once over the queries, and return their mean loss."""
        total = 0.0
        for batch, bound in self.deck(epoch):
            set_rate(self.optimizer, self.job.options, self.state.step, self.deck.batches * self.job.options.epochs)
            total += self._step(batch, bound, epoch) * len(batch.rows)
            self.state.step += 1
        return total / len(self.train.rows)

    def _step(self, batch: Placed, bound: Bound, epoch: int) -> float:
        """Take one step, and return the batch's mean loss before it."""
        if self.drops:
            key = generator(self.job.seed, "neural", "dropout", self.state.step)
            self.random.manual_seed(int(key.integers(2**62)))
        lengths, seen = np.diff(batch.rows.indptr), []

        def loss() -> torch.Tensor:
            self.optimizer.zero_grad()
            scores = self.network(batch.inputs, lengths)
            found = bound(checked_scores(plain(scores), batch.rows, epoch), self.state.step)
            checked_loss(found, batch.rows, epoch)
            slope = torch.from_numpy(found.slope / len(lengths)).to(scores.device, scores.dtype)
            scores.backward(gradient=slope)
            seen.append(float(found.value.mean()))
            return torch.tensor(seen[-1], dtype=torch.float64)

        if self.job.options.optimizer == "lbfgs":
            self.optimizer.step(loss)  # type: ignore[arg-type]
        else:
            loss()
            self._clip()
            self.optimizer.step()
        return seen[0]

    def _clip(self) -> None:
        limit = self.job.options.clip
        if limit is not None:
            norm = torch.nn.utils.clip_grad_norm_(self.network.parameters(), limit)
            self.state.clipped += int(float(norm) > limit)

    def _weights(self) -> dict[str, torch.Tensor]:
        return {name: values.detach().cpu().clone() for name, values in self.network.state_dict().items()}

    def _checkpoint(self) -> Checkpoint:
        tensors: dict[str, torch.Tensor] = {}
        state: dict[str, Any] = {name: getattr(self.state, name) for name in _State.__slots__}
        state["optimizer"] = pack(self.optimizer.state_dict()["state"], tensors, "optimizer")
        for part, weights in (("now", self._weights()), ("best", self.best)):
            tensors |= {f"{part}.{name}": values.contiguous() for name, values in weights.items()}
        return Checkpoint(self.state.epoch, state, tensors)

    def _resume(self, folder: Path, name: str) -> None:
        found, self.counts["checkpoints_damaged"] = read_checkpoint(folder, name)
        if found is None:
            return
        for field_name in _State.__slots__:
            setattr(self.state, field_name, found.state[field_name])
        self.state.curve = [(epoch, seconds, values) for epoch, seconds, values in self.state.curve]
        parts: dict[str, dict[str, torch.Tensor]] = {"now": {}, "best": {}}
        for key, values in found.tensors.items():
            part, _, rest = key.partition(".")
            if part in parts:
                parts[part][rest] = values
        self.network.load_state_dict(parts["now"])
        self.best = parts["best"]
        groups = self.optimizer.state_dict()["param_groups"]
        state = unpack(found.state["optimizer"], found.tensors)
        self.optimizer.load_state_dict({"state": state, "param_groups": groups})

    def _fitted(self) -> Fitted:
        state, chosen = self.state, self.validation is not None
        self.network.load_state_dict(self.best if chosen else self._weights())
        made: dict[str, str | int] = {
            "device": self.device.type,
            "threads": self.job.options.threads,
            "torch": str(torch.__version__),
        }
        if self.job.options.clip is not None:
            self.counts["clipped_steps"] = state.clipped
        scorer = NeuralScorer(self.architecture, self.inputs, self.network.cpu(), made)
        curve = tuple(Point(*point) for point in state.curve)
        counts = {name: count for name, count in self.counts.items() if count}
        return Fitted(scorer, state.best_epoch if chosen else state.epoch, curve, counts)
