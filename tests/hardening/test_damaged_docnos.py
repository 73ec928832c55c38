"""The docnos of an index that were changed or damaged are told, and never reach Arrow."""

from __future__ import annotations

import random
from pathlib import Path

import pyarrow as pa
import pytest
from damage import damaged
from hypothesis import given
from hypothesis import strategies as st

from rerankers._base.errors import InputError
from rerankers.retrieval.index_files import DOCNO_FILE, IndexStats, docnos_checksum, read_docnos, write_docnos

NAMES = pa.array([f"d{number}" for number in range(50)], pa.large_string())


def written(folder: Path) -> IndexStats:
    write_docnos(folder, NAMES)
    return IndexStats(50, 0, 9, 99, "a", "l", docnos_checksum(folder))


@given(seed=st.integers(0, 2**32 - 1))
def test_damaged_docnos_are_told(tmp_path_factory: pytest.TempPathFactory, seed: int) -> None:
    folder = tmp_path_factory.mktemp("index")
    stats = written(folder)
    whole = (folder / DOCNO_FILE).read_bytes()
    changed = damaged(whole, random.Random(seed))
    (folder / DOCNO_FILE).write_bytes(changed)
    if changed == whole:
        assert read_docnos(folder, stats).equals(NAMES)
        return
    with pytest.raises(InputError, match="changed or damaged"):
        read_docnos(folder, stats)


def test_docnos_that_are_not_there_are_told(tmp_path: Path) -> None:
    stats = written(tmp_path)
    (tmp_path / DOCNO_FILE).unlink()
    with pytest.raises(InputError, match="No such file"):
        read_docnos(tmp_path, stats)
    (tmp_path / DOCNO_FILE).mkdir()
    with pytest.raises(InputError, match="Is a directory"):
        read_docnos(tmp_path, stats)
