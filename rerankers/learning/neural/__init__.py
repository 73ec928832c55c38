"""Scorers trained by torch: linear, multilayer perceptron, attention. torch is loaded when one is fitted or read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rerankers.learning.neural.options import MLP, Attention, Linear, Training

if TYPE_CHECKING:
    from rerankers.learning.neural.scorer import NeuralScorer

__all__ = ["MLP", "Attention", "Linear", "NeuralScorer", "Training"]


def __getattr__(name: str) -> Any:
    if name == "NeuralScorer":  # the one name that needs torch
        from rerankers.learning.neural.scorer import NeuralScorer

        return NeuralScorer
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
