"""Rankings that come as lists of document ids, gathered in order and in chunks, so that memory holds few strings."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from rerankers.runs.columns import codes_of
from rerankers.runs.draft import Draft
from rerankers.values import Ragged

if TYPE_CHECKING:
    from numpy.typing import NDArray

_IDS_A_CHUNK = 1 << 18


def is_text(text: str) -> bool:
    """Return whether UTF-8 can hold a text: JSON and Python may spell half of a surrogate pair."""
    return text.isascii() or not any("\ud800" <= sign <= "\udfff" for sign in text)


class RankedLists:
    """Collects rankings; the k-th one of a query becomes its sample k."""

    def __init__(self) -> None:
        self._codes: dict[str, int] = {}
        self._samples: list[int] = []
        self._query: list[int] = []
        self._label: list[int] = []
        self._length: list[int] = []
        self._line: list[int] = []
        self._pending: list[str] = []
        self._chunks: list[pa.Array] = []

    def __len__(self) -> int:
        return len(self._query)

    def add(self, qid: str, ranking: Iterable[Any], line: int | None = None) -> None:
        """Add a ranking, best document first; numbers become text."""
        code = self._codes.setdefault(qid, len(self._codes))
        if code == len(self._samples):
            self._samples.append(0)
        docnos = [docno if isinstance(docno, str) else str(docno) for docno in ranking]
        self._query.append(code)
        self._label.append(self._samples[code])
        self._samples[code] += 1
        self._length.append(len(docnos))
        if line is not None:
            self._line.append(line)
        self._pending += docnos
        if len(self._pending) >= _IDS_A_CHUNK:
            self._flush()

    def _flush(self) -> None:
        self._chunks.append(pa.array(self._pending, pa.large_string()).dictionary_encode())
        self._pending = []

    def draft(self, q_num: Sequence[str] = ()) -> Draft:
        """Return the rankings so far."""
        self._flush()
        doc, docnos = codes_of(pa.chunked_array(self._chunks))
        lengths = np.array(self._length, dtype=np.int64)
        columns: dict[str, NDArray[Any]] = {}
        if self._line:
            columns["line"] = np.repeat(np.array(self._line, dtype=np.int64), lengths)
        ranked = Ragged(
            np.array(self._query, dtype=np.int32),
            np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
            doc,
            columns,
        )
        return Draft(list(self._codes), docnos, ranked, np.array(self._label, dtype=np.int32), q_num)
