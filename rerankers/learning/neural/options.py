"""The scorers that can be trained: their options, without torch until something is fitted."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Self

from rerankers._base.errors import ConfigError, choose

if TYPE_CHECKING:
    from pathlib import Path

    from rerankers.learning.learner import Fitted, Monitor, Point
    from rerankers.learning.objectives.base import Objective
    from rerankers.learning.rows import LearningRows

RATES = {"adam": 0.01, "adamw": 0.01, "sgd": 0.1, "lbfgs": 1.0}  # learning rates where none is given
ACTIVATIONS = ("relu", "gelu", "silu", "tanh")


@dataclass(frozen=True, slots=True)
class Training(ABC):
    """How a network is trained: the options that all scorers share.

    Attributes
    ----------
    optimizer
        ``adam`` (Kingma & Ba 2015), ``adamw`` (Loshchilov & Hutter 2019), ``sgd`` with momentum .9, or ``lbfgs``
        (strong Wolfe line search): that one takes all queries at once, and neither dropout, weight decay nor clipping.
    learning_rate
        above 0; None takes .01 for adam and adamw, .1 for sgd, 1 for lbfgs.
    schedule
        ``constant``, or ``cosine``: from the learning rate down to 0 at the last epoch.
    weight_decay
        of matrices, not of biases and norms.
    epochs
        at most; an epoch sees every query once (lbfgs: one iteration).
    queries_per_batch
        the mean loss of so many queries is one step; None takes all at once.
    clip
        largest Euclidean norm of the gradient of a step; None does not clip.
    patience
        epochs without a new best on the validation queries after which training stops; None runs all epochs and
        still keeps the best weights. Without validation queries it is not looked at.
    device
        ``cpu``, ``cuda``, or ``auto``: a GPU where there is one. Equal bits are promised a device type.
    dtype
        ``float64`` or ``float32``, of weights and inputs; losses are always float64.
    threads
        torch's threads while it trains. Equal bits are promised for equal numbers.
    checkpoint_every
        epochs between checkpoints, where a folder for them is given.
    """

    optimizer: str = "adam"
    learning_rate: float | None = None
    schedule: str = "constant"
    weight_decay: float = 0.0
    epochs: int = 100
    queries_per_batch: int | None = 16
    clip: float | None = None
    patience: int | None = 10
    device: str = "auto"
    dtype: str = "float64"
    threads: int = 1
    checkpoint_every: int = 1

    def __post_init__(self) -> None:
        choose("model.optimizer", self.optimizer, RATES)
        choose("model.schedule", self.schedule, ("constant", "cosine"))
        choose("model.device", self.device, ("auto", "cpu", "cuda"))
        choose("model.dtype", self.dtype, ("float64", "float32"))
        for name, least in (("epochs", 1), ("threads", 1), ("checkpoint_every", 1)):
            _at_least(name, getattr(self, name), least)
        for name in ("queries_per_batch", "patience"):
            if getattr(self, name) is not None:
                _at_least(name, getattr(self, name), 1)
        for name in ("learning_rate", "clip"):
            value = getattr(self, name)
            if value is not None and not (math.isfinite(value) and value > 0):
                raise ConfigError(f"model.{name}: found {value}; expected a number above 0, or null")
        if not (math.isfinite(self.weight_decay) and self.weight_decay >= 0):
            raise ConfigError(f"model.weight_decay: found {self.weight_decay}; expected a number of at least 0")
        if self.optimizer == "lbfgs":
            self._check_lbfgs()

    def _check_lbfgs(self) -> None:
        for name, found, expected in (
            ("queries_per_batch", self.queries_per_batch, None),
            ("weight_decay", self.weight_decay, 0.0),
            ("clip", self.clip, None),
            ("dropout", getattr(self, "dropout", 0.0), 0.0),
        ):
            if found != expected:
                wanted = "null" if expected is None else expected
                raise ConfigError(f"model.{name}: found {found}; expected {wanted} with model.optimizer=lbfgs")

    @property
    def rate(self) -> float:
        """The learning rate to start with."""
        return RATES[self.optimizer] if self.learning_rate is None else float(self.learning_rate)

    @abstractmethod
    def architecture(self) -> dict[str, Any]:
        """Return what the network is built from: plain values, stored with the weights."""

    def with_iterations(self, iterations: int) -> Self:
        """Return the spec that runs exactly this many epochs unless something stops it early."""
        return replace(self, epochs=iterations)

    def fit(
        self,
        train: LearningRows,
        objective: Objective,
        *,
        valid: LearningRows | None = None,
        monitor: Monitor | None = None,
        seed: int = 0,
        checkpoint: Path | None = None,
        progress: Callable[[Point], None] | None = None,
    ) -> Fitted:
        """Fit a scorer: see `rerankers.learning.learner.Learner.fit`, and `rerankers.learning.neural.fitting.fit`."""
        from rerankers.learning.neural.fitting import fit
        from rerankers.learning.neural.job import Job

        return fit(Job(self, train, objective, valid, monitor, seed), checkpoint, progress)


@dataclass(frozen=True, slots=True)
class Linear(Training):
    """A weighted sum of the standardised features and their missing-value indicators; it starts at 0."""

    def architecture(self) -> dict[str, Any]:
        """Return what the network is built from."""
        return {"kind": "pointwise", "hidden": [], "activation": "relu", "dropout": 0.0}


@dataclass(frozen=True, slots=True)
class MLP(Training):
    """A multilayer perceptron: each document is scored by itself.

    Attributes
    ----------
    hidden
        widths of the hidden layers, first to last.
    activation
        ``relu``, ``gelu``, ``silu`` or ``tanh``.
    dropout
        share of hidden values that are dropped in training, from 0 to below 1.
    """

    hidden: list[int] = field(default_factory=lambda: [64, 32])
    activation: str = "relu"
    dropout: float = 0.0

    def __post_init__(self) -> None:
        Training.__post_init__(self)  # the short form of super() does not work in a class with slots
        choose("model.activation", self.activation, ACTIVATIONS)
        _share("dropout", self.dropout)
        if not self.hidden:
            raise ConfigError("model.hidden: found an empty list; expected widths, or model=linear")
        for width in self.hidden:
            _at_least("hidden", width, 1)

    def architecture(self) -> dict[str, Any]:
        """Return what the network is built from."""
        return {
            "kind": "pointwise",
            "hidden": [int(width) for width in self.hidden],
            "activation": self.activation,
            "dropout": float(self.dropout),
        }


@dataclass(frozen=True, slots=True)
class Attention(Training):
    """Self-attention over the documents of a query: a score looks at the others, their order does not matter.

    Attributes
    ----------
    width
        of each document inside, a multiple of ``heads``.
    heads, blocks
        attention heads a block, and blocks.
    feed_forward
        width of each block's hidden layer.
    dropout
        share of values that are dropped on each way into the sum, from 0 to below 1.
    """

    width: int = 64
    heads: int = 2
    blocks: int = 2
    feed_forward: int = 128
    dropout: float = 0.1

    def __post_init__(self) -> None:
        Training.__post_init__(self)
        for name in ("width", "heads", "blocks", "feed_forward"):
            _at_least(name, getattr(self, name), 1)
        if self.width % self.heads:
            raise ConfigError(f"model.width: found {self.width}; expected a multiple of model.heads, {self.heads}")
        _share("dropout", self.dropout)

    def architecture(self) -> dict[str, Any]:
        """Return what the network is built from."""
        return {
            "kind": "attention",
            "size": int(self.width),
            "heads": int(self.heads),
            "blocks": int(self.blocks),
            "hidden": int(self.feed_forward),
            "dropout": float(self.dropout),
        }


def _at_least(name: str, value: int, least: int) -> None:
    if value < least:
        raise ConfigError(f"model.{name}: found {value}; expected at least {least}")


def _share(name: str, value: float) -> None:
    if not 0 <= value < 1:
        raise ConfigError(f"model.{name}: found {value}; expected a number from 0 to below 1")
