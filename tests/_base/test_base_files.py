"""Lines and blocks of plain and compressed files; writing whole files or none."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rerankers._base.byte_blocks import count_lines, filled_lines, line_ends, read_blocks
from rerankers._base.errors import ConfigError, InputError, MissingError, Problems
from rerankers._base.files import atomic_path, collect_lines, lines_at, open_bytes, read_lines, write_text

TEXT = "first\nsecond é\r\n\n last"
LINES = [(1, "first"), (2, "second é"), (3, ""), (4, " last")]


def packed(name: str, data: bytes) -> bytes:
    if name.endswith(".gz"):
        return gzip.compress(data)
    if name.endswith(".zst"):
        return pa.compress(data, codec="zstd", asbytes=True)
    return data


@pytest.fixture(params=["a.txt", "a.gz", "a.zst"])
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_lines(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(packed(name, TEXT.encode()))
    assert list(read_lines(path)) == LINES
    path.write_bytes(packed(name, b"\xef\xbb\xbf" + TEXT.encode() + b"\n"))
    assert list(read_lines(path)) == LINES
    path.write_bytes(packed(name, b""))
    assert list(read_lines(path)) == []


@given(text=st.text(alphabet="ab\r\n é\u2028\x0c\x85"))
def test_lines_twin(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    path = tmp_path_factory.mktemp("lines") / "a.txt"
    path.write_bytes(text.encode())
    expected = [line.removesuffix("\r") for line in text.split("\n")]
    if text.endswith("\n") or not text:
        expected.pop()
    assert [line for _, line in read_lines(path)] == expected


@given(text=st.text(alphabet="ab\n", max_size=40), size=st.integers(3, 12))
def test_blocks_are_the_whole_file_in_whole_lines(
    tmp_path_factory: pytest.TempPathFactory, text: str, size: int
) -> None:
    path = tmp_path_factory.mktemp("blocks") / "a.txt"
    path.write_bytes(b"\xef\xbb\xbf" + text.encode())
    blocks = list(read_blocks(path, size))
    assert b"".join(block for _, block in blocks) == text.encode()
    assert all(block.endswith(b"\n") for _, block in blocks[:-1])
    assert [number for number, _ in blocks] == [
        1 + sum(block.count(b"\n") for _, block in blocks[:index]) for index in range(len(blocks))
    ]
    for _, block in blocks:
        assert line_ends(block) == block.count(b"\n")
        lines = block.decode().removesuffix("\n").split("\n")
        assert count_lines(block) == len(lines)
        assert filled_lines(block).tolist() == [index for index, line in enumerate(lines) if line]


def test_not_utf8_names_the_line(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(packed(name, b"good\nb\xffd\n"))
    with pytest.raises(InputError, match=r"not UTF-8 \(invalid start byte at byte 1\)") as caught:
        list(read_lines(path))
    assert caught.value.problems[0].line == 2
    problems = Problems(str(path))
    assert list(collect_lines(path, problems)) == [(1, 0, "good")]
    assert problems.kept[0].line == 2


@pytest.mark.parametrize("name", ["a.gz", "a.zst"])
@pytest.mark.parametrize("cut", [1, 5, 12, -1])
def test_broken_archives(tmp_path: Path, name: str, cut: int) -> None:
    path = tmp_path / name
    rng = np.random.default_rng(0)
    data = packed(name, b"\n".join(rng.bytes(40).hex().encode() for _ in range(2000)))
    path.write_bytes(data[:-cut] if cut > 0 else b"this is no archive at all")
    for read in (read_lines, read_blocks):
        with pytest.raises(InputError, match=r"truncated or broken archive .*Fetch or write the file again"):
            list(read(path))


@pytest.mark.parametrize("name", ["a.gz", "a.zst"])
def test_archives_of_several_parts(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(packed(name, b"a\n") + packed(name, b"b\n"))
    assert [line for _, line in read_lines(path)] == ["a", "b"]
    assert b"".join(block for _, block in read_blocks(path)) == b"a\nb\n"


def test_missing_and_folders(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    with pytest.raises(MissingError, match="no such file"):
        open_bytes(path)
    path.mkdir()
    with pytest.raises(InputError, match="expected a readable file"):
        open_bytes(path)


@pytest.mark.parametrize("order", [[0, 1, 3], [3, 0], [1, 1], []])
def test_lines_at_offsets(tmp_path: Path, name: str, order: list[int]) -> None:
    path = tmp_path / name
    path.write_bytes(packed(name, b"\xef\xbb\xbf" + TEXT.encode()))
    found = list(collect_lines(path, Problems("")))
    offsets = np.array([found[index][1] for index in order], dtype=np.int64)
    assert list(lines_at(path, offsets)) == [LINES[index][1] for index in order]


def test_lines_at_offsets_of_a_changed_file(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(packed(name, b"a\n"))
    with pytest.raises(InputError, match="changed since"):
        list(lines_at(path, np.array([500])))


def test_atomic_path_is_all_or_nothing(tmp_path: Path) -> None:
    path = tmp_path / "new" / "a.tar.gz"
    with atomic_path(path) as temporary:
        assert temporary.name.endswith(".a.tar.gz")
        assert temporary.parent == path.parent
        temporary.write_text("one")
        assert not path.exists()
    assert path.read_text() == "one"

    def fail(target: Path, folder: bool) -> None:
        with atomic_path(target) as temporary:
            if folder:
                (temporary / "deep").mkdir(parents=True)
            else:
                temporary.write_text("two")
            raise RuntimeError("stop")

    for target, folder in ((path, False), (tmp_path / "folder", True)):
        with pytest.raises(RuntimeError, match="stop"):
            fail(target, folder)
    assert path.read_text() == "one"
    assert sorted(entry.name for entry in tmp_path.rglob("*")) == ["a.tar.gz", "new"]


def test_atomic_path_says_what_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match="cannot be written"):
        write_text(tmp_path / "file" / "a.txt", "x")
    (tmp_path / "folder" / "deep").mkdir(parents=True)
    with pytest.raises(ConfigError, match="cannot be written"):
        write_text(tmp_path / "folder", "x")
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["file", "folder"]


def test_write_text_is_utf8(tmp_path: Path) -> None:
    write_text(tmp_path / "a", "é\n")
    assert (tmp_path / "a").read_bytes() == b"\xc3\xa9\n"
