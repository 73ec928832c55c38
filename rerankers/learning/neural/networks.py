"""The networks: a score for every document of a block of queries."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch
from torch import nn

from rerankers._base.streams import generator
from rerankers.exposure.rows import buckets

if TYPE_CHECKING:
    from numpy.typing import NDArray

ACTIVATIONS: dict[str, type[nn.Module]] = {
    "relu": nn.ReLU,
    "gelu": nn.GELU,
    "silu": nn.SiLU,
    "tanh": nn.Tanh,
}


class Dropout(nn.Module):
    """Inverted dropout (Srivastava et al. 2014) from a generator of its own: torch's global one is left alone."""

    def __init__(self, rate: float) -> None:
        super().__init__()
        self.rate = rate
        self.random: torch.Generator | None = None

    def forward(self, values: torch.Tensor) -> torch.Tensor:
        """Return the values, in training with a share ``rate`` of them 0 and the others raised by as much."""
        if not self.training or self.rate == 0.0:
            return values
        # Always of one dtype, so that networks of different ones drop the same.
        chance = torch.rand(values.shape, generator=self.random, device=values.device, dtype=torch.float32)
        return values * (chance >= self.rate) / (1.0 - self.rate)


class Pointwise(nn.Module):
    """A linear scorer (no hidden layer) or a multilayer perceptron: each document by itself."""

    def __init__(self, width: int, hidden: list[int], activation: str, dropout: float) -> None:
        super().__init__()
        layers: list[nn.Module] = []
        for size in hidden:
            layers += [nn.Linear(width, size), ACTIVATIONS[activation](), Dropout(dropout)]
            width = size
        self.layers = nn.Sequential(*layers, nn.Linear(width, 1))

    def forward(self, inputs: torch.Tensor, lengths: NDArray[np.int64]) -> torch.Tensor:
        """Return scores (nnz,) of inputs (nnz, width)."""
        scores: torch.Tensor = self.layers(inputs).squeeze(1)
        return scores


class Attention(nn.Module):
    """Self-attention over the documents of a query (Pobrotyn et al. 2020), without places: order does not matter.

    Blocks are pre-norm (Xiong et al. 2020): normalised, attended to and added; normalised, fed forward and added.
    """

    def __init__(self, width: int, size: int, heads: int, blocks: int, hidden: int, dropout: float) -> None:
        super().__init__()
        self.enter = nn.Linear(width, size)
        self.blocks = nn.ModuleList([_Block(size, heads, hidden, dropout) for _ in range(blocks)])
        self.norm, self.leave = nn.LayerNorm(size), nn.Linear(size, 1)

    def forward(self, inputs: torch.Tensor, lengths: NDArray[np.int64]) -> torch.Tensor:
        """Return scores (nnz,) of inputs (nnz, width) in rows of these lengths (B,)."""
        places = _places(lengths, inputs.device)
        values = self.enter(inputs)
        for block in self.blocks:
            values = block(values, places)
        scores: torch.Tensor = self.leave(self.norm(values)).squeeze(1)
        return scores


class _Block(nn.Module):
    def __init__(self, size: int, heads: int, hidden: int, dropout: float) -> None:
        super().__init__()
        self.heads = heads
        self.first, self.second = nn.LayerNorm(size), nn.LayerNorm(size)
        self.ask, self.give = nn.Linear(size, 3 * size), nn.Linear(size, size)
        self.forth = nn.Sequential(nn.Linear(size, hidden), nn.ReLU(), Dropout(dropout), nn.Linear(hidden, size))
        self.dropout = Dropout(dropout)

    def forward(self, values: torch.Tensor, places: _Places) -> torch.Tensor:
        mixed = self._attend(self.ask(self.first(values)), places)
        values = values + self.dropout(self.give(mixed))
        added: torch.Tensor = values + self.dropout(self.forth(self.second(values)))
        return added

    def _attend(self, asked: torch.Tensor, places: _Places) -> torch.Tensor:
        """Attend within rows: rows of one length together, so there is no padding and nothing to mask."""
        size, mixed = asked.shape[1] // 3, []
        for place in places.rows:
            rows, length = place.shape
            query, key, value = (
                part.view(rows, length, self.heads, -1).transpose(1, 2) for part in torch.chunk(asked[place], 3, dim=-1)
            )
            seen = nn.functional.scaled_dot_product_attention(query, key, value)
            mixed.append(seen.transpose(1, 2).reshape(rows * length, size))
        return torch.cat(mixed)[places.back]


class _Places(NamedTuple):
    """Where the rows of each length lie, int64 (rows, length) each, and where each pair is once these are in line."""

    rows: list[torch.Tensor]
    back: torch.Tensor


def _places(lengths: NDArray[np.int64], device: torch.device) -> _Places:
    start = np.cumsum(lengths) - lengths
    rows = [start[chosen][:, None] + np.arange(length) for length, chosen in buckets(lengths)]
    back = np.empty(int(lengths.sum()), dtype=np.int64)
    back[np.concatenate([place.ravel() for place in rows])] = np.arange(len(back))
    return _Places([torch.from_numpy(place).to(device) for place in rows], torch.from_numpy(back).to(device))


Network = Pointwise | Attention


def build(architecture: Mapping[str, Any], width: int) -> Network:
    """Return the network of an architecture, its weights in float64 and not yet set; no random number is drawn.

    Parameters
    ----------
    architecture
        ``kind``: ``pointwise`` or ``attention``, and the arguments of that network.
    width
        inputs a document.
    """
    kinds: dict[str, type[Network]] = {"pointwise": Pointwise, "attention": Attention}
    options = {name: value for name, value in architecture.items() if name != "kind"}
    with torch.device("meta"):  # without it every layer would draw from torch's global generator
        network = kinds[architecture["kind"]](width, **options)
    return network.to(torch.float64).to_empty(device="cpu")


def start(network: Network, seed: int) -> None:
    """Set the weights to start from: a function of the seed and the architecture alone, the same on every device.

    Matrices and biases are uniform within 1 / sqrt(inputs of the layer), norms are the identity, and a network of one
    layer, a linear scorer, starts at 0: all documents alike.
    """
    random = torch.Generator().manual_seed(int(generator(seed, "neural", "start").integers(2**62)))
    layers = [module for module in network.modules() if isinstance(module, nn.Linear)]
    with torch.no_grad():
        for module in network.modules():
            if isinstance(module, nn.LayerNorm):
                module.weight.fill_(1.0)
                module.bias.fill_(0.0)
        for layer in layers:
            bound = layer.in_features**-0.5 if len(layers) > 1 and layer.in_features else 0.0
            for values in (layer.weight, layer.bias):
                values.uniform_(-bound, bound, generator=random)
