"""Lines by byte offset, from plain and compressed files."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rerankers._base.errors import InputError, Problems
from rerankers._base.files import collect_lines, lines_at

RAW = "\ufefffirst é\r\n\r\nthird\n\nlast without an end".encode()


def written(folder: Path, suffix: str, raw: bytes = RAW) -> Path:
    path = folder / f"lines.txt{suffix}"
    if suffix == ".gz":
        raw = gzip.compress(raw)
    elif suffix == ".zst":
        raw = pa.compress(raw, codec="zstd", asbytes=True)
    path.write_bytes(raw)
    return path


@pytest.mark.parametrize("suffix", ["", ".gz", ".zst"])
@pytest.mark.parametrize("order", [[0, 1, 2, 3, 4], [4, 0, 2], [3], []])
def test_offsets_lead_back_to_their_lines(tmp_path: Path, suffix: str, order: list[int]) -> None:
    path = written(tmp_path, suffix)
    problems = Problems("x")
    lines = list(collect_lines(path, problems))
    assert not problems
    assert [number for number, _, _ in lines] == [1, 2, 3, 4, 5]
    assert [text for _, _, text in lines] == ["first é", "", "third", "", "last without an end"]
    offsets = np.array([lines[place][1] for place in order], dtype=np.int64)
    assert list(lines_at(path, offsets)) == [lines[place][2] for place in order]


@pytest.mark.parametrize("suffix", ["", ".gz", ".zst"])
@pytest.mark.parametrize("order", [[0, 10_000], [10_000, 0]])
def test_an_offset_beyond_the_file_says_that_it_changed(tmp_path: Path, suffix: str, order: list[int]) -> None:
    with pytest.raises(InputError, match="changed"):
        list(lines_at(written(tmp_path, suffix), np.array(order, dtype=np.int64)))


def test_a_line_that_cannot_be_read_joins_the_problems_and_ends_the_lines(tmp_path: Path) -> None:
    path = written(tmp_path, "", b"good\nb\xffd\nnever seen\n")
    problems = Problems(str(path))
    problems.add(1, "something", "nothing")
    assert [text for _, _, text in collect_lines(path, problems)] == ["good"]
    assert [problem.line for problem in problems.kept] == [1, 2]


@given(st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\r\n\ufeff"), max_size=12), max_size=8))
def test_any_text_comes_back(tmp_path_factory: pytest.TempPathFactory, texts: list[str]) -> None:
    path = written(tmp_path_factory.mktemp("lines"), ".gz", "".join(f"{text}\n" for text in texts).encode())
    lines = list(collect_lines(path, Problems("x")))
    assert [text for _, _, text in lines] == texts
    backwards = np.array([offset for _, offset, _ in lines[::-1]], dtype=np.int64)
    assert list(lines_at(path, backwards)) == texts[::-1]
