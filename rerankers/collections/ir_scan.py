"""One pass over the documents of a data set of ir_datasets, and its store of texts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from rerankers._base.errors import InputError, Problems, choose
from rerankers.collections.author_lists import AuthorLists
from rerankers.collections.jsonl_store import as_text
from rerankers.collections.number_columns import NumberColumns
from rerankers.values.ids import Ids
from rerankers.values.qrels import met

if TYPE_CHECKING:
    from rerankers.values.authors import Authors
    from rerankers.values.collection import Counts

TEXT_FIELDS = ("title", "abstract", "text", "body")
_ROWS_A_STEP = 10_000


@dataclass(frozen=True, slots=True, eq=False)
class IrDocuments:
    """The texts of a data set, fetched from its store when asked for.

    Attributes
    ----------
    dataset
        of ir_datasets.
    fields
        names of the text fields.
    fingerprint
        of the collection.
    names
        docnos ascending by code point.
    """

    dataset: Any
    fields: tuple[str, ...]
    fingerprint: str
    names: pa.LargeStringArray

    def texts(self, fields: Sequence[str]) -> Iterator[tuple[str, str]]:
        """Yield (docno, the fields that are not empty, joined by a blank), docnos ascending by code point.

        Raises
        ------
        ConfigError
            for a field that is not one of ``self.fields``.
        InputError
            when the store lacks a document it listed before.
        """
        for field in fields:
            choose("text field", field, self.fields)
        store = self.dataset.docs_store()
        for start in range(0, len(self.names), _ROWS_A_STEP):
            names = self.names[start : start + _ROWS_A_STEP].to_pylist()
            found = store.get_many(names)
            for name in names:
                if name not in found:
                    raise InputError.one("ir_datasets", f"no document {name!r} in the store", "every listed document")
                yield name, " ".join(filter(None, (as_text(getattr(found[name], field)) for field in fields)))


@dataclass(frozen=True, slots=True, eq=False)
class IrScan:
    """What one pass found: ids ascending, first records of documents only.

    Attributes
    ----------
    names
        docnos ascending.
    text_fields
        those in use.
    numbers
        name -> float64 (names,).
    counts
        what was met.
    lists, order
        author lists by record, and the record of each name; None without an author field.
    """

    names: pa.LargeStringArray
    text_fields: tuple[str, ...]
    numbers: Mapping[str, np.ndarray[Any, np.dtype[np.float64]]]
    counts: Counts
    lists: AuthorLists | None = None
    order: np.ndarray[Any, np.dtype[np.int64]] | None = None

    @classmethod
    def nothing(cls) -> IrScan:
        """Return the scan of a data set without documents."""
        return cls(pa.array([], pa.large_string()), (), {}, {})

    def authors_over(self, code: np.ndarray[Any, np.dtype[np.int32]], n_docs: int) -> Authors | None:
        """Return the author lists by document code; ``code`` (names,) is that of each name."""
        if self.lists is None or self.order is None:
            return None
        of_record = np.empty(len(code), np.int32)
        of_record[self.order] = code
        return self.lists.authors(of_record, n_docs)


def scan_documents(dataset: Any, text_fields: Sequence[str] | None, author_field: str | None) -> IrScan:
    """Read all documents once.

    Raises
    ------
    InputError
        for authors that are no list of ids, or a document twice where authors are read.
    ConfigError
        for fields that do not occur.
    """
    problems = Problems("ir_datasets")
    lists = None if author_field is None else AuthorLists(author_field, problems)
    numbers, chunks, held = NumberColumns(), [], []
    textual: set[str] = set()
    rows = 0
    for document in dataset.docs_iter():
        record: dict[str, Any] = document._asdict()
        held.append(str(record["doc_id"]))
        for key, value in record.items():
            if isinstance(value, str):
                textual.add(key)
            elif type(value) in (int, float):
                numbers.put(key, rows, value)
        if lists is not None:
            lists.add(rows + 1, record)
        rows += 1
        if len(held) >= _ROWS_A_STEP:
            chunks.append(pa.array(held, pa.large_string()))
            held.clear()
            if lists is not None:
                lists.flush()
    chunks.append(pa.array(held, pa.large_string()))
    names = pa.concat_arrays(chunks)
    ids, code = Ids.coded(names)
    _, first = np.unique(code, return_index=True)
    repeated = rows - len(ids)
    if lists is not None and repeated:
        problems.add(None, f"{repeated} documents again", "each once, where authors are read")
    problems.raise_if_any()
    textual.discard("doc_id")
    for field in text_fields or ():
        choose("collection.text_fields", field, sorted(textual))
    used = tuple(text_fields or (field for field in TEXT_FIELDS if field in textual))
    if author_field is not None and rows and lists is not None and author_field not in type(document)._fields:
        choose("collection.author_field", author_field, type(document)._fields)
    columns = {name: column[first] for name, column in numbers.arrays(rows).items()}
    counts = met(documents=len(ids), duplicate_documents=repeated)
    return IrScan(ids.names, used, columns, counts, lists, first.astype(np.int64))
