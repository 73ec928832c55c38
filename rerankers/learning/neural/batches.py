"""Rows as a trainer takes them: standardised inputs on the device, scores and losses that are checked."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch

from rerankers._base.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.learning.learner import Monitor
    from rerankers.learning.neural.inputs import Inputs
    from rerankers.learning.neural.networks import Network
    from rerankers.learning.objectives.base import Bound, Loss
    from rerankers.learning.rows import LearningRows

_PAIRS = 1 << 15  # pairs that are scored together at most, or one query


@dataclass(frozen=True, slots=True, eq=False)
class Placed:
    """Rows that all hold a document, and their inputs (nnz, width) on the device."""

    rows: LearningRows
    inputs: torch.Tensor

    @classmethod
    def of(cls, rows: LearningRows, inputs: Inputs, device: torch.device, dtype: torch.dtype) -> Placed:
        """Place rows, none of them empty."""
        return cls(rows, torch.tensor(inputs(rows.features), dtype=dtype, device=device))

    def batch(self, chosen: NDArray[np.int64]) -> Placed:
        """Return some of the rows, in that order."""
        rows = self.rows.take(chosen)
        shift = self.rows.indptr[chosen] - rows.indptr[:-1]
        pairs = np.arange(rows.over.nnz) + np.repeat(shift, rows.over.lengths)
        return Placed(rows, self.inputs[torch.from_numpy(pairs).to(self.inputs.device)])

    def scores(self, network: Network) -> NDArray[np.float64]:
        """Return the scores (nnz,) without dropout and without gradients."""
        network.eval()
        scores = np.empty(len(self.inputs))
        with torch.no_grad():
            for first, last in spans(self.rows.indptr):
                low, high = int(self.rows.indptr[first]), int(self.rows.indptr[last])
                scores[low:high] = plain(network(self.inputs[low:high], np.diff(self.rows.indptr[first : last + 1])))
        network.train()
        return scores


@dataclass(frozen=True, slots=True, eq=False)
class Validation:
    """What early stopping looks at: the monitor, or else the objective's own loss, on rows of its own."""

    placed: Placed
    bound: Bound
    monitor: Monitor | None

    def __call__(self, network: Network, epoch: int) -> dict[str, float]:
        """Return ``valid`` and ``monitor``. An estimated objective draws the same every epoch."""
        rows = self.placed.rows
        scores = checked_scores(self.placed.scores(network), rows, epoch)
        loss = checked_loss(self.bound(scores, 0), rows, epoch)
        values = {"valid": float(loss.value.mean())}
        values["monitor"] = values["valid"] if self.monitor is None else float(self.monitor(scores))
        if not np.isfinite(values["monitor"]):
            raise InputError.one("monitor", f"{values['monitor']} in epoch {epoch}", "a finite number")
        return values


def spans(indptr: NDArray[np.int64]) -> Iterator[tuple[int, int]]:
    """Yield (first row, end) of spans of rows that hold 32,768 pairs at most, or one row."""
    first, rows = 0, len(indptr) - 1
    while first < rows:
        last = int(np.searchsorted(indptr, indptr[first] + _PAIRS, side="right")) - 1
        last = min(max(last, first + 1), rows)
        yield first, last
        first = last


def filled(rows: LearningRows) -> LearningRows:
    """Return the rows that hold a document: the same value where all do."""
    lengths = np.diff(rows.indptr)
    return rows if np.all(lengths > 0) else rows.take(np.flatnonzero(lengths))


def plain(scores: torch.Tensor) -> NDArray[np.float64]:
    """Return a tensor as a float64 array on the host."""
    array: NDArray[np.float64] = scores.detach().to("cpu", torch.float64).numpy()
    return array


def checked_scores(scores: NDArray[np.float64], rows: LearningRows, epoch: int) -> NDArray[np.float64]:
    """Return the scores.

    Raises
    ------
    InputError
        naming the epoch and the first query with a score that is not finite.
    """
    if not np.all(np.isfinite(scores)):
        pair = int(np.argmin(np.isfinite(scores)))
        raise _diverged(rows, int(np.searchsorted(rows.indptr, pair, side="right")) - 1, epoch, "scores")
    return scores


def checked_loss(loss: Loss, rows: LearningRows, epoch: int) -> Loss:
    """Return the loss.

    Raises
    ------
    InputError
        naming the epoch and the first query whose loss or slope is not finite.
    """
    wrong = ~np.isfinite(loss.value)
    if not np.all(np.isfinite(loss.slope)):
        pairs = np.flatnonzero(~np.isfinite(loss.slope))
        wrong[np.searchsorted(rows.indptr, pairs, side="right") - 1] = True
    if np.any(wrong):
        raise _diverged(rows, int(np.argmax(wrong)), epoch, "a loss or a slope")
    return loss


def _diverged(rows: LearningRows, row: int, epoch: int, what: str) -> InputError:
    verb = "are" if what == "scores" else "is"
    return InputError.one(
        f"query {rows.qids[row]}",
        f"{what} that {verb} not finite, in epoch {epoch}",
        "finite numbers",
        mend="Training has diverged: lower model.learning_rate or set model.clip.",
    )
