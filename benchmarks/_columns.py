"""Large text files from Arrow columns: names, joined lines, written without a Python text a line."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import IO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc


def numbered(letter: str, numbers: np.ndarray) -> pa.LargeStringArray:
    """Return a letter and a number of seven digits for each of ``numbers``."""
    return joined(letter, pc.utf8_lpad(pa.array(numbers).cast(pa.large_string()), 7, "0"))


def joined(*parts: pa.Array | str) -> pa.LargeStringArray:
    """Return columns joined row by row; a text stands in each row."""
    scalars = [pa.scalar(part, pa.large_string()) if isinstance(part, str) else part for part in parts]
    return pc.binary_join_element_wise(*scalars, pa.scalar("", pa.large_string()))


def append(stream: IO[bytes], lines: pa.LargeStringArray) -> None:
    """Write a column as it is, one value after the other."""
    ends = np.frombuffer(lines.buffers()[1], dtype=np.int64)[lines.offset :]
    stream.write(memoryview(lines.buffers()[2])[ends[0] : ends[len(lines)]])


def write(path: Path, parts: Iterable[pa.LargeStringArray]) -> None:
    """Write columns to a file, which is there under its name when it is whole."""
    partial = path.with_name(f".{path.name}")
    with partial.open("wb") as stream:
        for part in parts:
            append(stream, part)
    partial.rename(path)
