"""The store of texts over a file of JSON lines: offsets in memory, texts read again when asked for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from rerankers._base.errors import InputError, choose
from rerankers._base.files import lines_at
from rerankers._base.json_text import parse_json

if TYPE_CHECKING:
    from numpy.typing import NDArray

DOCUMENT_KEYS = ("docno", "doc_id", "id", "_id")
_NAMES_A_STEP = 10_000


@dataclass(frozen=True, slots=True, eq=False)
class JsonlDocuments:
    """The store of texts: docnos and byte offsets in memory, texts in the file.

    Attributes
    ----------
    path
        the file, plain or compressed (see `lines_at` for how compressed files are read out of order).
    fields
        names of the text fields.
    fingerprint
        of the file's bytes and the names of the text fields; not of its path or date.
    names, offset
        docnos ascending by code point; int64, where the line of each starts in the unpacked file.
    """

    path: Path
    fields: tuple[str, ...]
    fingerprint: str
    names: pa.LargeStringArray
    offset: NDArray[np.int64]

    def texts(self, fields: Sequence[str]) -> Iterator[tuple[str, str]]:
        """Yield (docno, the fields that are not empty, joined by a blank), docnos ascending by code point.

        Raises
        ------
        ConfigError
            for a field that is not one of ``self.fields``.
        InputError
            when the file has changed since it was scanned.
        """
        for field in fields:
            choose("text field", field, self.fields)
        lines = lines_at(self.path, self.offset)
        for start in range(0, len(self.names), _NAMES_A_STEP):
            for docno in self.names[start : start + _NAMES_A_STEP].to_pylist():
                record = self._record(docno, next(lines))
                yield docno, " ".join(filter(None, (as_text(record.get(field)) for field in fields)))

    def _record(self, docno: str, line: str) -> dict[str, Any]:
        try:
            record = parse_json(line)
        except (ValueError, RecursionError):
            record = None
        key = next((key for key in DOCUMENT_KEYS if isinstance(record, dict) and key in record), None)
        if not isinstance(record, dict) or key is None or str(record[key]) != docno:
            found = f"another line where document {docno!r} was"
            raise InputError.one(str(self.path), found, "the file as it was first read", mend="Start over.")
        return record


def as_text(value: Any) -> str:
    """Return a text field as text: a list is joined by blanks, null is empty."""
    return " ".join(value) if isinstance(value, list) else value or ""
