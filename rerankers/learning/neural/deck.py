"""Batches of whole queries, shuffled by key: what an epoch sees depends on (seed, epoch) and on nothing before it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.streams import generator

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.learning.neural.batches import Placed
    from rerankers.learning.objectives.base import Bound, Objective

EPOCHS = 8  # that one deal of the queries serves: binding an objective costs about as much as a step


class Deck:
    """Training rows as batches.

    The queries are dealt into batches anew every 8 epochs, and the batches come in a new order every epoch. The loss
    is a mean over queries, so which of them share a batch matters little; meanwhile objectives stay bound.

    Parameters
    ----------
    placed
        the training rows.
    objective
        what batches are bound to.
    size
        queries a batch; None takes all rows, in their order.
    seed
        of orders and deals.
    """

    def __init__(self, placed: Placed, objective: Objective, size: int | None, seed: int) -> None:
        self._placed, self._objective, self._seed = placed, objective, seed
        rows = len(placed.rows)
        self.batches = 1 if size is None else -(-rows // size)
        # Bound as a whole even for batches: what is wrong with the rows is said first, and what is odd is counted.
        self.whole = placed, objective.bind(placed.rows, seed)
        self._deal: tuple[int, list[tuple[Placed, Bound]]] = (-1, [])

    def __call__(self, epoch: int) -> Iterator[tuple[Placed, Bound]]:
        """Yield the batches of epoch 1, 2, … with the objective bound to each."""
        if self.batches == 1:
            yield self.whole
            return
        number = (epoch - 1) // EPOCHS
        if self._deal[0] != number:
            parts = deal(len(self._placed.rows), self.batches, self._seed, number)
            self._deal = number, [self._bound(rows) for rows in parts]
        for place in generator(self._seed, "neural", "order", epoch).permutation(self.batches):
            yield self._deal[1][place]

    def _bound(self, rows: NDArray[np.int64]) -> tuple[Placed, Bound]:
        batch = self._placed.batch(rows)
        return batch, self._objective.bind(batch.rows, self._seed)


def deal(rows: int, batches: int, seed: int, number: int) -> list[NDArray[np.int64]]:
    """Return the rows of each batch of one deal, ascending; batches are of equal size but for one row."""
    order = generator(seed, "neural", "deal", number).permutation(rows).astype(np.int64)
    return [np.sort(part) for part in np.array_split(order, batches)]
