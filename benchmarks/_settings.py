"""What every contest is told."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from _peers import Peers

from rerankers._base.streams import generator


@dataclass(frozen=True, slots=True)
class Settings:
    """The peers at hand, repetitions, and the seed of every input."""

    peers: Peers
    repetitions: int
    seed: int

    def generator(self, *names: str | int) -> np.random.Generator:
        """Return the random numbers of one contest: the same however many contests are held."""
        return generator(self.seed, "benchmark", *names)
