"""Which documents a corpus has, in eight bytes a document."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from rerankers._base.errors import Problems
from rerankers._base.files import COMPRESSED, collect_lines
from rerankers._base.json_text import parse_json
from rerankers.collections.delimited import open_rows

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["DocumentIds", "read_document_ids"]

KEYS: Final = ("docno", "doc_id", "id", "page_id", "paper_sha")


@dataclass(frozen=True, slots=True, eq=False)
class DocumentIds:
    """The ids of a corpus as sorted 64-bit hashes, int64 (distinct ids,).

    Of a million ids that are not in a corpus of ten million, one in two million times one is taken for one that is.
    The hash is Python's own and differs from process to process, so these never go into a file.
    """

    hashes: NDArray[np.int64]

    @classmethod
    def of(cls, ids: Iterable[str]) -> DocumentIds:
        """Take ids, in any order, repeated or not."""
        return cls(np.unique(np.array(array("q", map(hash, ids)), dtype=np.int64)))

    def __len__(self) -> int:
        return len(self.hashes)

    def has(self, ids: Iterable[str]) -> NDArray[np.bool_]:
        """Return which ids the corpus has, bool (ids,)."""
        asked = np.array(array("q", map(hash, ids)), dtype=np.int64)
        if not len(self.hashes):
            return np.zeros(len(asked), dtype=np.bool_)
        place = np.minimum(np.searchsorted(self.hashes, asked), len(self.hashes) - 1)
        found: NDArray[np.bool_] = self.hashes[place] == asked
        return found


def read_document_ids(path: str | Path) -> DocumentIds:
    """Read the ids of a corpus or of a table of metadata (plain, ``.gz`` or ``.zst``).

    JSON lines and ``.csv`` or ``.tsv`` tables with a header have ids under one of `KEYS`; any other file has one id
    a line. Whole numbers become text.

    Raises
    ------
    InputError
        with the line of every record without an id.
    MissingError
        when there is no such file.
    """
    path = Path(path)
    problems = Problems(str(path))
    name = path.with_suffix("") if path.suffix in COMPRESSED else path
    if name.suffix in (".csv", ".tsv"):
        ids = _table(path, "\t" if name.suffix == ".tsv" else ",", problems)
    elif name.suffix in (".json", ".jsonl"):
        ids = _records(path, problems)
    else:
        ids = (text.strip() for _, _, text in collect_lines(path, problems) if text.strip())
    found = DocumentIds.of(ids)
    if not len(found) and not problems:
        problems.add(None, "no document", f"ids under one of {', '.join(KEYS)}, or one a line")
    problems.raise_if_any()
    return found


def _records(path: Path, problems: Problems) -> Iterator[str]:
    for number, _, text in collect_lines(path, problems):
        if not text.strip():
            continue
        try:
            record = parse_json(text)
        except (ValueError, RecursionError) as error:
            problems.add(number, f"a line that is no JSON ({error})", "a JSON object a line")
            continue
        value = next((record[key] for key in KEYS if key in record), None) if isinstance(record, dict) else None
        if isinstance(value, str) or type(value) is int:
            yield str(value)
        else:
            problems.add(number, f"id {value!r}", f"a text or whole number under one of {', '.join(KEYS)}")


def _table(path: Path, delimiter: str, problems: Problems) -> Iterator[str]:
    rows = open_rows(path, problems, delimiter)
    _, header = next(rows, (1, []))
    column = next((header.index(key) for key in KEYS if key in header), None)
    if column is None:
        problems.add(1, f"columns {', '.join(header[:20]) or 'none'}", f"one of {', '.join(KEYS)}")
        return
    for line, row in rows:
        if len(row) > column:
            yield row[column]
        elif row:
            problems.add(line, f"{len(row)} fields", f"at least {column + 1}")
