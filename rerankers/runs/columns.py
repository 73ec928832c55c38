"""Arrow columns of a run: names become codes, ranks and scores become numbers, what cannot be is noted by row."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from rerankers._base.errors import Problems
from rerankers.values import Ids

if TYPE_CHECKING:
    from numpy.typing import NDArray

WHOLE = re.compile(r"[+-]?[0-9]{1,18}")
REAL = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")


def encode(column: pa.ChunkedArray, what: str = "ids") -> tuple[NDArray[np.int32], pa.LargeStringArray]:
    """Return the code of each row, int32 (-1 for a missing name), and the names by code, in order of appearance.

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
    array = column.unify_dictionaries().combine_chunks()
    if isinstance(array, pa.ChunkedArray):  # how a column without chunks comes back from some versions
        array = pa.concat_arrays(array.chunks)
    values = array.dictionary.cast(pa.large_string())
    values.validate(full=True)
    codes = array.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64, copy=False)
    distinct = pc.dictionary_encode(values)  # a foreign dictionary may repeat a name, or hold names that never occur
    codes = np.append(distinct.indices.fill_null(-1).to_numpy(zero_copy_only=False), -1)[codes]
    return _by_appearance(codes.astype(np.int32), distinct.dictionary)


def _is_text(kind: pa.DataType) -> bool:
    return any(is_kind(kind) for is_kind in (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view))


def _by_appearance(
    codes: NDArray[np.int32], names: pa.LargeStringArray
) -> tuple[NDArray[np.int32], pa.LargeStringArray]:
    first = np.full(len(names) + 1, len(codes))
    first[codes[::-1]] = np.arange(len(codes))[::-1]  # of equal codes the last one written stays: the first row
    order = np.argsort(first[:-1])[: np.count_nonzero(first[:-1] < len(codes))]
    if np.array_equal(order, np.arange(len(names))):
        return codes, names
    fresh = np.full(len(names) + 1, -1, dtype=np.int32)
    fresh[order] = np.arange(len(order), dtype=np.int32)
    return fresh[codes], names.take(pa.array(order))


def by_name(codes: NDArray[np.int32], names: pa.LargeStringArray) -> tuple[NDArray[np.int32], Ids]:
    """Return the same rows under sorted ids."""
    docs = Ids.union(names)
    return docs.codes(names)[codes], docs


def names_of(
    what: str, column: pa.ChunkedArray, line: NDArray[np.int64], problems: Problems
) -> tuple[NDArray[np.int32], pa.LargeStringArray]:
    """Return `encode` of a column, noting the rows without a name or with an empty one."""
    codes, names = encode(column, what)
    empty = int(pc.index(names, pa.scalar("", names.type)).as_py())
    for row in np.flatnonzero((codes < 0) | (codes == empty) & (empty >= 0)).tolist():
        problems.add(int(line[row]), f"no {what}", f"a {what} in every row")
    return codes, names


def whole_numbers(
    what: str, column: pa.ChunkedArray, line: NDArray[np.int64], problems: Problems
) -> NDArray[np.int64] | None:
    """Return a column as int64, or None where all of it is missing; text and floats may hold whole numbers."""
    if column.null_count == len(column):
        return None
    kind = column.type
    if pa.types.is_integer(kind) and not pa.types.is_uint64(kind) and not column.null_count:
        whole: NDArray[np.int64] = column.to_numpy().astype(np.int64, copy=False)
        return whole
    if pa.types.is_floating(kind):
        return _whole_reals(what, column, line, problems)
    codes, names = encode(column, what)
    texts = names.to_pylist()
    fits = np.array([bool(WHOLE.fullmatch(text)) for text in texts] + [False])
    values = np.array([int(text) if fit else 0 for text, fit in zip(texts, fits, strict=False)] + [0], dtype=np.int64)
    for row in np.flatnonzero(~fits[codes]).tolist():
        found = repr(texts[codes[row]]) if codes[row] >= 0 else "nothing"
        problems.add(int(line[row]), f"{what} {found}", "a whole number")
    return values[codes]


def _whole_reals(
    what: str, column: pa.ChunkedArray, line: NDArray[np.int64], problems: Problems
) -> NDArray[np.int64] | None:
    real = column.cast(pa.float64()).to_numpy()  # missing becomes NaN
    if np.isnan(real).all():
        return None
    fits = np.isfinite(real) & (np.abs(real) < 2.0**53)
    fits[fits] = real[fits] == np.floor(real[fits])
    for row in np.flatnonzero(~fits).tolist():
        problems.add(int(line[row]), f"{what} {real[row]}", "a whole number")
    return np.where(fits, real, 0).astype(np.int64)


def real_numbers(
    what: str, column: pa.ChunkedArray, line: NDArray[np.int64], problems: Problems
) -> NDArray[np.float64] | None:
    """Return a column as finite float64, or None where all of it is missing; text may hold numbers."""
    if column.null_count == len(column):
        return None
    kind = column.type
    if pa.types.is_floating(kind) or pa.types.is_integer(kind):
        real = column.cast(pa.float64(), safe=False).to_numpy()
        shown: Any = real
    else:
        codes, names = encode(column, what)
        texts = [*names.to_pylist(), None]
        real = np.array([real_number(text) for text in texts])[codes]
        shown = [texts[code] for code in codes] if not np.isfinite(real).all() else real
    for row in np.flatnonzero(~np.isfinite(real)).tolist():
        found = "nothing" if shown[row] is None else f"{shown[row]}"
        problems.add(int(line[row]), f"{what} {found}", "a finite number in every row")
    return np.array(real, dtype=np.float64)


def real_number(text: str | None) -> float:
    """Return the number that a text holds, NaN where it holds none."""
    return float(text) if text is not None and REAL.fullmatch(text) else float("nan")
