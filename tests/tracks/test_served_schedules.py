"""What was served along sequences is submitted as it was served."""

from __future__ import annotations

import numpy as np
import pytest

from rerankers._base.errors import InputError
from rerankers._base.streams import query_streams
from rerankers.policies import Mixture
from rerankers.tracks.schedules import served_schedules
from rerankers.values import Ragged, Rankings


def served() -> Mixture:
    """Query 0 was served three rankings of two documents, query 1 one of three."""
    over = Ragged(np.array([0, 1]), np.array([0, 2, 5]), np.array([4, 7, 1, 2, 3]))
    items = [0, 1, 1, 0, 0, 1, 2, 0, 1]
    weight = np.array([1 / 3, 1 / 3, 1 / 3, 1.0])
    rankings = Rankings(
        over, np.array([0, 3, 4]), np.array([0, 2, 4, 6, 9]), np.array(items, np.int32), weight, np.zeros(4, np.int32)
    )
    return Mixture(rankings, query_streams(["a", "b"]))


def test_rankings_come_in_their_order() -> None:
    found = served_schedules(served(), {(0, 0): 2, (0, 1): 1, (1, 0): 1}, ["a", "b"], None)
    assert found.positions(0, 0, 0).tolist() == [0, 1]
    assert found.positions(0, 0, 1).tolist() == [1, 0]
    assert found.positions(0, 1, 0).tolist() == [0, 1]
    assert found.positions(1, 0, 0).tolist() == [2, 0, 1]


def test_what_does_not_fit() -> None:
    with pytest.raises(InputError, match="query a: found 3 served rankings; expected 2"):
        served_schedules(served(), {(0, 0): 2, (1, 0): 1}, ["a", "b"], None)
    with pytest.raises(InputError, match="up to 3 documents; expected at most 2"):
        served_schedules(served(), {(0, 0): 3, (1, 0): 1}, ["a", "b"], 2)
