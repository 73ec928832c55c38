"""Arrow columns of a run: names become codes, ranks and scores become numbers, what cannot be is noted by row."""

from __future__ import annotations

import re
from collections.abc import Sized
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from rerankers._base.errors import Problems
from rerankers.values import Ids

if TYPE_CHECKING:
    from numpy.typing import NDArray

WHOLE = re.compile(r"[+-]?[0-9]{1,18}")
_FINITE = "a finite number in every row"
REAL = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")


def codes_of(column: pa.ChunkedArray, what: str = "ids") -> tuple[NDArray[np.int32], pa.LargeStringArray]:
    """Return the code of each row, int32 (-1 for a missing name), and the names by code.

    Names are in any order. Those of a foreign dictionary may repeat, be missing or never occur.

    Raises
    ------
    TypeError
        when the column is neither text nor whole numbers.
    pyarrow.ArrowInvalid
        when its text is not UTF-8.
    """
    coded = pa.types.is_dictionary(column.type)
    kind = column.type.value_type if coded else column.type
    if not (_is_text(kind) or pa.types.is_integer(kind)):
        raise TypeError(f"{what} in a column of {kind}")
    column = column if coded else pc.dictionary_encode(column)
    array = column.chunk(0) if column.num_chunks == 1 else column.unify_dictionaries().combine_chunks()
    if isinstance(array, pa.ChunkedArray):  # how a column without chunks comes back from some versions
        array = pa.concat_arrays(array.chunks)
    names = array.dictionary.cast(pa.large_string())
    names.validate(full=True)
    indices = array.indices.fill_null(-1) if array.indices.null_count else array.indices
    codes: NDArray[np.int32] = indices.to_numpy().astype(np.int32, copy=False)
    if names.null_count:
        codes = np.where(np.append(names.is_valid().to_numpy(zero_copy_only=False), False)[codes], codes, np.int32(-1))
    return codes, names


def encode(column: pa.ChunkedArray, what: str = "ids") -> tuple[NDArray[np.int32], pa.LargeStringArray]:
    """Return what `codes_of` does, with each name once, in the order of appearance; names that never occur go."""
    codes, names = distinct(*codes_of(column, what))
    return by_appearance(codes, names)


def distinct(codes: NDArray[np.int32], names: pa.LargeStringArray) -> tuple[NDArray[np.int32], pa.LargeStringArray]:
    """Return the same rows with each name once."""
    if pc.count_distinct(names, mode="all").as_py() == len(names) and not names.null_count:
        return codes, names
    found = pc.dictionary_encode(names)
    merged = found.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int32)
    return np.append(merged, np.int32(-1))[codes], found.dictionary


def _is_text(kind: pa.DataType) -> bool:
    return any(is_kind(kind) for is_kind in (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view))


def by_appearance(
    codes: NDArray[np.int32], names: pa.LargeStringArray
) -> tuple[NDArray[np.int32], pa.LargeStringArray]:
    """Return the same rows with names in the order of appearance, without those that never occur.

    Raises
    ------
    pyarrow.ArrowInvalid
        when a row has no place among the names.
    """
    check_places(codes, names, least=-1)
    first = np.full(len(names) + 1, len(codes))
    first[codes[::-1]] = np.arange(len(codes))[::-1]  # of equal codes the last one written stays: the first row
    order = np.argsort(first[:-1])[: np.count_nonzero(first[:-1] < len(codes))]
    if np.array_equal(order, np.arange(len(names))):
        return codes, names
    fresh = np.full(len(names) + 1, -1, dtype=np.int32)
    fresh[order] = np.arange(len(order), dtype=np.int32)
    return fresh[codes], names.take(pa.array(order))


def check_places(codes: NDArray[np.int32], names: Sized, least: int = 0) -> None:
    """Raise `pyarrow.ArrowInvalid` where a row has no place among the names, as in dictionaries that are broken."""
    if codes.min(initial=0) < least or codes.max(initial=-1) >= len(names):
        raise pa.ArrowInvalid(f"rows without a place in their dictionary of {len(names)} names")


def by_name(codes: NDArray[np.int32], names: pa.LargeStringArray) -> tuple[NDArray[np.int32], Ids]:
    """Return the same rows under the sorted ids of the names that occur; names may repeat."""
    used = np.zeros(len(names), dtype=bool)
    used[codes] = True
    docs, code = ids_of(names, used)
    return code[codes], docs


def ids_of(names: pa.LargeStringArray, used: NDArray[np.bool_]) -> tuple[Ids, NDArray[np.int32]]:
    """Return the sorted ids of the names that are used, and the code of each name, 0 where it is not used."""
    if used.all():
        return Ids.coded(names)
    docs, codes = Ids.coded(names.filter(pa.array(used)))
    code = np.zeros(len(names), dtype=np.int32)
    code[used] = codes
    return docs, code


def line_of(line: NDArray[np.int64] | None, row: int) -> int:
    """Return the number of a row for messages; without lines, rows are numbered from 1."""
    return row + 1 if line is None else int(line[row])


def names_of(
    what: str, column: pa.ChunkedArray, line: NDArray[np.int64] | None, problems: Problems
) -> tuple[NDArray[np.int32], pa.LargeStringArray]:
    """Return `codes_of` a column, noting the rows without a name or with an empty one."""
    codes, names = codes_of(column, what)
    empty = pc.equal(names, "").fill_null(False).to_numpy(zero_copy_only=False)
    if empty.any() or column.null_count or names.null_count:
        for row in np.flatnonzero(np.append(empty, True)[codes]).tolist():
            problems.add(line_of(line, row), f"no {what}", f"a {what} in every row")
    return codes, names


def whole_numbers(
    what: str, column: pa.ChunkedArray, line: NDArray[np.int64] | None, problems: Problems
) -> NDArray[np.signedinteger] | None:
    """Return a column as int64 or int32, or None where all of it is missing; text and floats may hold whole numbers."""
    if column.null_count == len(column):
        return None
    kind = column.type
    if pa.types.is_integer(kind) and not pa.types.is_uint64(kind) and not column.null_count:
        whole: NDArray[np.signedinteger] = column.to_numpy()
        return whole if whole.dtype == np.int32 else whole.astype(np.int64, copy=False)
    if pa.types.is_floating(kind):
        return _whole_reals(what, column, line, problems)
    codes, names = encode(column, what)
    texts = names.to_pylist()
    fits = np.array([bool(WHOLE.fullmatch(text)) for text in texts] + [False])
    values = np.array([int(text) if fit else 0 for text, fit in zip(texts, fits, strict=False)] + [0], dtype=np.int64)
    for row in np.flatnonzero(~fits[codes]).tolist():
        found = repr(texts[codes[row]]) if codes[row] >= 0 else "nothing"
        problems.add(line_of(line, row), f"{what} {found}", "a whole number")
    return values[codes]


def _whole_reals(
    what: str, column: pa.ChunkedArray, line: NDArray[np.int64] | None, problems: Problems
) -> NDArray[np.int64] | None:
    real = column.cast(pa.float64()).to_numpy()  # missing becomes NaN
    if np.isnan(real).all():
        return None
    fits = np.isfinite(real) & (np.abs(real) < 2.0**53)
    fits[fits] = real[fits] == np.floor(real[fits])
    for row in np.flatnonzero(~fits).tolist():
        problems.add(line_of(line, row), f"{what} {real[row]}", "a whole number")
    return np.where(fits, real, 0).astype(np.int64)


def real_numbers(
    what: str, column: pa.ChunkedArray, line: NDArray[np.int64] | None, problems: Problems
) -> NDArray[np.float64] | None:
    """Return a column as float64, or None where all of it is missing; text may hold finite numbers.

    Whether numbers are finite is left to `note_not_finite`.
    """
    if column.null_count == len(column):
        return None
    kind = column.type
    if pa.types.is_floating(kind) or pa.types.is_integer(kind):
        numbers: NDArray[np.float64] = column.cast(pa.float64(), safe=False).to_numpy()  # missing becomes NaN
        return numbers
    codes, names = encode(column, what)
    texts = np.array([*names.to_pylist(), None], dtype=object)
    values = np.array([real_number(text) for text in texts])
    for row in np.flatnonzero(~np.isfinite(values)[codes]).tolist():
        found = "nothing" if codes[row] < 0 else texts[codes[row]]
        problems.add(line_of(line, row), f"{what} {found}", _FINITE)
    return np.where(np.isfinite(values), values, 0.0)[codes]


def note_not_finite(
    what: str, numbers: NDArray[np.float64], line: NDArray[np.int64] | None, problems: Problems
) -> None:
    """Note the numbers that are not finite."""
    for row in np.flatnonzero(~np.isfinite(numbers)).tolist():
        problems.add(line_of(line, row), f"{what} {numbers[row]}", _FINITE)


def real_number(text: str | None) -> float:
    """Return the number that a text holds, NaN where it holds none."""
    return float(text) if text is not None and REAL.fullmatch(text) else float("nan")
