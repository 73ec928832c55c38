"""The author lists of documents on their way from records to arrays."""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from rerankers.collections.json_records import fit_id, kind_of
from rerankers.values.authors import Authors
from rerankers.values.ids import Ids

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers._base.errors import Problems


class AuthorLists:
    """Author ids, flattened; an author without an id (null or empty text) is kept as null and counted."""

    def __init__(self, key: str, problems: Problems) -> None:
        self.key = key
        self.without_id = 0
        self._problems = problems
        self._ids: list[str | None] = []
        self._chunks: list[pa.LargeStringArray] = []
        self._lengths = array("q")
        self._seen = False

    def add(self, number: int, record: Mapping[str, Any]) -> None:
        """Take over the list of one document."""
        value = record.get(self.key)
        self._seen = self._seen or self.key in record
        if value is not None and not isinstance(value, list):
            self._problems.add(number, f"{self.key} that is {kind_of(value)}", "a list of author ids, or null")
            value = None
        for entry in value or ():
            blank = entry is None or entry == ""
            self.without_id += blank
            self._ids.append(None if blank else fit_id(entry, f"an id in {self.key}", number, self._problems))
        self._lengths.append(len(value or ()))

    def flush(self) -> None:
        """Move what was gathered into Arrow."""
        self._chunks.append(pa.array(self._ids, pa.large_string()))
        self._ids.clear()

    def authors(self, code: NDArray[np.int32], n_docs: int) -> Authors | None:
        """Return the lists by document code, or None where no record had the key.

        Parameters
        ----------
        code
            int32 (records,), the code of each record's document.
        n_docs
            number of document codes.
        """
        if not self._seen:
            return None
        self.flush()
        names = pa.concat_arrays(self._chunks)
        ids = Ids.union(names.drop_null())
        entry_doc = np.repeat(code, np.array(self._lengths, np.int64))
        order = np.argsort(entry_doc, kind="stable")
        counts = np.bincount(entry_doc, minlength=n_docs)
        indptr = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        return Authors(ids, indptr, ids.codes(names)[order])
