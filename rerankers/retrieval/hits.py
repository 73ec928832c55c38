"""The hits of a batch of queries, and docnos turned into rows of an index."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from rerankers._base.errors import InputError


@dataclass(frozen=True, slots=True, eq=False)
class Hits:
    """The hits of B queries, one after the other; nnz in all.

    Attributes
    ----------
    indptr : int64 (B + 1,)
        hits of query i are ``indptr[i]`` to ``indptr[i + 1]``.
    document : int32 (nnz,)
        row in the index's ``docnos``.
    score : float64 (nnz,)
        Lucene's float32 scores, not rounded or perturbed.
    names : LargeStringArray
        the docnos of the whole index.
    without_terms : int64 (m,)
        the queries from which analysis left no term; they have no hits.
    """

    indptr: npt.NDArray[np.int64]
    document: npt.NDArray[np.int32]
    score: npt.NDArray[np.float64]
    names: pa.LargeStringArray
    without_terms: npt.NDArray[np.int64]

    @property
    def docnos(self) -> pa.LargeStringArray:
        """Docnos of the hits (nnz,)."""
        return self.names.take(pa.array(self.document))


def rows_of(names: pa.LargeStringArray, docnos: Sequence[str] | pa.Array, where: str) -> npt.NDArray[np.int32]:
    """Return the row of each docno in ``names``, int32 (nnz,).

    Raises
    ------
    InputError
        for docnos that ``names``, the docnos of the index ``where``, does not hold.
    """
    array = docnos if isinstance(docnos, pa.Array) else pa.array(docnos, pa.large_string())
    wanted = array.cast(pa.large_string()).dictionary_encode()
    # One pass over the index with a table of the wanted, which are few, and not the reverse.
    place = pc.index_in(names, value_set=wanted.dictionary).fill_null(-1).to_numpy(zero_copy_only=False)
    there = np.flatnonzero(place >= 0)
    rows = np.full(len(wanted.dictionary), -1, dtype=np.int32)
    rows[place[there]] = there
    missing = wanted.dictionary.filter(pa.array(rows < 0)).to_pylist()
    missing += [None] * min(1, array.null_count)
    if missing:
        some = ", ".join(repr(docno) for docno in missing[:5])
        raise InputError.one(where, f"{len(missing)} docnos that are not in it: {some}", "docnos of the index")
    codes: npt.NDArray[np.int32] = wanted.indices.to_numpy(zero_copy_only=False)
    return rows[codes]
