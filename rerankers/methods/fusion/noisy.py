"""Rankings by scores with uniform noise of the size of their mean distance."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.errors import ConfigError
from rerankers._base.streams import stream_key, uniforms

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.values import Block


def check_noise(noise: float) -> None:
    """Raise `ConfigError` unless the option ``noise`` is a finite number of at least 0."""
    if not (np.isfinite(noise) and noise >= 0.0):
        raise ConfigError(f"method.noise: found {noise}; expected a number of at least 0")


def noisy_orders(
    block: Block, row: int, score: NDArray[np.float64], noise: float, draws: int, purpose: str
) -> NDArray[np.int64]:
    """Return rankings of a row by score plus noise, int64 (draws, n), ties as the row stands.

    Parameters
    ----------
    block, row
        whose stream the noise comes from.
    score
        float64 (n,), finite, n at least 1.
    noise
        the noise is uniform between 0 and ``noise`` times (max - min) / n.
    draws
        number of rankings.
    purpose
        of the stream: the method's name.
    """
    largest = max(1.0, float(np.abs(score).max()))
    unit = score / largest  # so that differences and noise of very large scores stay finite
    reach = noise * ((unit.max() - unit.min()) / len(unit))
    key = stream_key(block.seed, block.stream[row], purpose)
    drawn = unit + reach * uniforms(key, 0, draws, len(unit))
    return np.argsort(-drawn, axis=1, kind="stable").astype(np.int64)
