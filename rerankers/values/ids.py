"""Names at the door, int32 codes inside."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from rerankers._base.errors import InputError
from rerankers._base.fingerprint import fingerprint

if TYPE_CHECKING:
    from numpy.typing import NDArray

_MANY = 1000  # names; fewer are sorted as they are, without loading compiled code


@dataclass(frozen=True, eq=False)
class Ids:
    """Unique names; the code of a name is its row number.

    Document ids are always sorted by code point (`Ids.union`), so that "ties by docno ascending" is
    "ties by code ascending" and re-coding keeps the order. Query ids keep the order of their file.

    Attributes
    ----------
    names
        Arrow large_string array, unique, without nulls.
    """

    names: pa.LargeStringArray

    @cached_property
    def fingerprint(self) -> str:
        """Content fingerprint. Arrays coded under another fingerprint are re-coded, never mixed."""
        return _fingerprint(self.names)

    @classmethod
    def of(cls, names: Iterable[str] | pa.Array, what: str = "id") -> Ids:
        """Take names in their order.

        Raises
        ------
        InputError
            when a name occurs twice or is missing; ``what`` names the kind in the message.
        """
        array = _large_strings(names)
        if array.null_count:
            raise InputError.one(what, f"{array.null_count} missing names", "a name everywhere")
        if len(array) != pc.count_distinct(array, mode="all").as_py():
            counted = pc.value_counts(array)
            repeated = pc.filter(counted.field("values"), pc.greater(counted.field("counts"), 1))
            shown = ", ".join(repr(name) for name in repeated.to_pylist()[:5])
            raise InputError.one(what, f"{len(repeated)} names more than once ({shown})", "unique names")
        return cls(array)

    @classmethod
    def union(cls, *parts: Iterable[str] | pa.Array | Ids) -> Ids:
        """Return the sorted union of names, the form of document ids; a sorted part with all names comes back."""
        if len(parts) == 1 and isinstance(parts[0], Ids) and parts[0].is_sorted:
            return parts[0]
        arrays = [part.names if isinstance(part, Ids) else _large_strings(part) for part in parts]
        unique = pc.unique(pa.concat_arrays(arrays)) if arrays else _large_strings([])
        if unique.null_count:
            raise InputError.one("id", "a missing name", "a name everywhere")
        for part in parts:
            if isinstance(part, Ids) and len(part) == len(unique) and part.is_sorted:
                return part
        ordered = unique.take(pa.array(_order(unique)))
        return cls(ordered)

    @classmethod
    def coded(cls, names: Iterable[str] | pa.Array) -> tuple[Ids, NDArray[np.int32]]:
        """Return the sorted ids of names, and the code of each name, int32; the code of one that repeats repeats too.

        Raises
        ------
        InputError
            when a name is missing.
        """
        array = _large_strings(names)
        if array.null_count:
            raise InputError.one("id", "a missing name", "a name everywhere")
        if _ascends(array):
            return cls(array), np.arange(len(array), dtype=np.int32)
        order = _order(array)
        ordered = array.take(pa.array(order))
        first = np.ones(len(ordered), dtype=bool)
        first[1:] = pc.not_equal(ordered[1:], ordered[:-1]).to_numpy(zero_copy_only=False)
        code = np.empty(len(ordered), dtype=np.int32)
        code[order] = np.cumsum(first) - 1
        return cls(ordered if first.all() else ordered.filter(pa.array(first))), code

    def __len__(self) -> int:
        return len(self.names)

    @property
    def is_sorted(self) -> bool:
        """Whether names ascend by code point."""
        return _ascends(self.names)

    def codes(self, names: Iterable[str] | pa.Array) -> NDArray[np.int32]:
        """Return the code of each name, int32, -1 where the name is unknown."""
        found = pc.index_in(_large_strings(names), value_set=self.names)
        codes: NDArray[np.int32] = found.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int32, copy=False)
        return codes

    def take(self, codes: NDArray[np.integer] | Sequence[int]) -> list[str]:
        """Return the names of codes."""
        names: list[str] = self.names.take(pa.array(np.asarray(codes, dtype=np.int64))).to_pylist()
        return names

    def name(self, code: int) -> str:
        """Return one name."""
        return str(self.names[int(code)].as_py())

    def recoder(self, new: Ids) -> NDArray[np.int32]:
        """Return the map old code -> code in ``new``, int32 (len(self),), -1 where a name is missing there."""
        if new is self or new.fingerprint == self.fingerprint:
            return np.arange(len(self), dtype=np.int32)
        return new.codes(self.names)


def _ascends(array: pa.LargeStringArray) -> bool:
    return len(array) < 2 or bool(pc.all(pc.less(array[:-1], array[1:])).as_py())


def _order(array: pa.LargeStringArray) -> NDArray[np.integer]:
    """Return the order of names by code point."""
    if len(array) >= _MANY:
        from rerankers.values.ids_loops import lead_bytes

        bounds, text = _bytes_of(array)
        lead = np.empty(len(array), dtype=np.uint64)
        lead_bytes(text, bounds, lead)
        order: NDArray[np.integer] = np.argsort(lead)
        ordered = lead[order]
        if np.all(ordered[1:] > ordered[:-1]):  # a tenth of the time that whole names take, if they differ there
            return order
    order = pc.array_sort_indices(array).to_numpy()
    return order


def _bytes_of(array: pa.LargeStringArray) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
    """Return where names begin and end, int64 (names + 1,), and their bytes; there is at least one name."""
    _, offsets, data = array.buffers()
    bounds = np.frombuffer(offsets, dtype=np.int64)[array.offset : array.offset + len(array) + 1]
    return bounds, np.frombuffer(b"" if data is None else data, dtype=np.uint8)


def _large_strings(names: Iterable[str] | pa.Array) -> pa.LargeStringArray:
    if isinstance(names, pa.ChunkedArray):
        names = names.combine_chunks()
    if isinstance(names, pa.Array):
        return names if names.type == pa.large_string() else names.cast(pa.large_string())
    try:
        return pa.array(list(names), type=pa.large_string())
    except UnicodeEncodeError as error:
        raise InputError.one("id", f"a name that is no text ({error.reason})", "text that UTF-8 can hold") from None


def _fingerprint(array: pa.LargeStringArray) -> str:
    if not len(array):
        return fingerprint("ids", np.empty(0, dtype=np.int64), b"")
    bounds, text = _bytes_of(array)
    return fingerprint("ids", np.diff(bounds), text[bounds[0] : bounds[-1]].data)
