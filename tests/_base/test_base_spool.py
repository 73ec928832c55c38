"""Spools hold rows in memory or in a file, and are read as one array either way."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from rerankers._base.spool import Spool


@pytest.mark.parametrize("most", [1 << 20, 100, 0])
@pytest.mark.parametrize("width", [None, 3, 0])
def test_rows_come_back_in_order(most: int, width: int | None, tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    pieces = [rng.random(rows if width is None else (rows, width)) for rows in (4, 0, 7, 1)]
    spool = Spool(np.float64, width, tmp_path, most)
    for number, piece in enumerate(pieces, 1):
        spool.append(piece)
        assert np.array_equal(spool.array(), np.concatenate(pieces[:number]))
    assert len(spool) == 12
    assert list(tmp_path.iterdir()) == []  # the file has no name


def test_an_empty_spool(tmp_path: Path) -> None:
    assert Spool(np.int32, 4, tmp_path).array().shape == (0, 4)
    assert Spool(np.int32, None, tmp_path).array().shape == (0,)


def test_other_rows_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="expected"):
        Spool(np.float64, 2, tmp_path).append(np.zeros((3, 4)))


def test_what_is_written_to_the_array_stays(tmp_path: Path) -> None:
    spool = Spool(np.int64, None, tmp_path, 8)
    spool.append(np.arange(5))
    spool.array()[2] = 9
    spool.append(np.arange(2))
    assert spool.array().tolist() == [0, 1, 9, 3, 4, 0, 1]
