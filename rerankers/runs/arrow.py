"""The Arrow form of runs, for reading without unpacking: an IPC file with one row a query and list columns.

``qid``; ``docno``, the documents that any of its rankings holds, ascending; ``label``, the sample number of each
ranking, ascending; ``items``, for each ranking a list of positions in ``docno``, from 0, best first. There is one
batch, document ids are a dictionary, and nothing is compressed: the file is mapped into memory and its arrays are used
where they lie. The schema's metadata tell kind and version.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa

import rerankers
from rerankers._base.errors import InputError, Problems
from rerankers._base.files import atomic_path
from rerankers.runs._arrow_checks import check_lists, check_rankings
from rerankers.runs.columns import by_name
from rerankers.runs.run import Run, met
from rerankers.values import Ids, Ragged, Rankings
from rerankers.values.table import facts_of, from_lists, list_type, one_array, to_lists, with_facts

MAGIC = b"ARROW1"
KIND, VERSION = "run", 1
SCHEMA = pa.schema(
    [
        pa.field("qid", pa.large_string(), nullable=False),
        pa.field("docno", list_type(pa.dictionary(pa.int32(), pa.large_string())), nullable=False),
        pa.field("label", list_type(pa.int32()), nullable=False),
        pa.field("items", list_type(list_type(pa.int32())), nullable=False),
    ]
)
_MEND = "Write it again with write_run."


def map_file(path: Path) -> pa.Table:
    """Map an Arrow IPC file into memory and check its structure.

    Raises
    ------
    InputError
        when it is broken.
    """
    # All of it will be looked at: pages are mapped together, not at the first touch of each, where the system can.
    how = mmap.MAP_SHARED | getattr(mmap, "MAP_POPULATE", 0)
    try:
        with path.open("rb") as stream:
            mapped = mmap.mmap(stream.fileno(), 0, flags=how, prot=mmap.PROT_READ)
        table = pa.ipc.open_file(pa.py_buffer(mapped)).read_all()
        table.validate(full=True)
    except (pa.ArrowException, OSError, ValueError) as error:  # ValueError: nothing in it
        raise InputError.one(
            str(path), f"no readable Arrow file ({error})", "an Arrow IPC file", mend="Fetch or write the file again."
        ) from error
    return table


def holds_lists(table: pa.Table, where: str) -> bool:
    """Return whether a table is a run in the form of this module; others may have one row a ranked document.

    Raises
    ------
    InputError
        when it is one of another version, or has other columns than it says.
    """
    try:
        facts = facts_of(table.schema)
    except ValueError as error:
        raise InputError.one(where, f"metadata that cannot be read ({error})", "JSON") from error
    if facts.get("kind") != KIND:
        return False
    if facts.get("version") != VERSION:
        mend = f"Read it with fair-rerankers {facts.get('package')}."
        raise InputError.one(where, f"a run of version {facts.get('version')}", f"version {VERSION}", mend=mend)
    if not table.schema.equals(SCHEMA):
        found, expected = (", ".join(f"{field.name} {field.type}" for field in each) for each in (table.schema, SCHEMA))
        raise InputError.one(where, f"columns {found}", f"columns {expected}", mend=_MEND)
    return True


def run_of(table: pa.Table, name: str, problems: Problems) -> Run:
    """Return the run that a table of this form holds; its arrays are those of the table.

    Raises
    ------
    InputError
        with everything that is wrong: missing or empty ids, queries that repeat or have no ranking, documents and
        sample numbers that do not ascend, positions outside ``docno`` or twice in a ranking, documents in no ranking.
    """
    if not table.num_rows:
        raise InputError.one(problems.where, "no row", "at least one query")
    columns = [one_array(table[column]) for column in SCHEMA.names]
    qid, docno, label, items = columns
    (indptr, coded), (label_ptr, label), (query_ptr, inner) = (from_lists(lists) for lists in (docno, label, items))
    item_ptr, item = from_lists(inner)
    check_lists([*columns, coded, coded.dictionary, label, inner, item], qid, label_ptr, query_ptr, problems)
    doc, docs = by_name(coded.indices.to_numpy(), coded.dictionary)
    over = Ragged(np.arange(len(qid), dtype=np.int32), indptr, doc)
    counts = query_ptr[1:] - query_ptr[:-1]
    weight = np.repeat(1.0 / counts, counts)
    rankings = Rankings(over, query_ptr, item_ptr, item.to_numpy(), weight, label.to_numpy())
    qids = qid.to_pylist()
    check_rankings(rankings, qids, docs, problems)
    counted = {
        "empty_rankings": int(np.count_nonzero(item_ptr[1:] == item_ptr[:-1])),
        "queries_with_fewer_rankings": int(np.count_nonzero(counts < counts.max())),
    }
    return Run(name, tuple(qids), docs, rankings, met(counted))


@contextmanager
def open_sink(path: Path) -> Iterator[ArrowSink]:
    """Open an Arrow file for writing runs, whole or not at all; it is written at the end, from memory."""
    sink = ArrowSink()
    yield sink
    with atomic_path(path) as temporary, pa.ipc.new_file(str(temporary), sink.schema) as writer:
        writer.write_table(sink.table())


class ArrowSink:
    """The rankings of a file; it takes them by position, not by name."""

    def __init__(self) -> None:
        self._blocks: list[pa.Table] = []

    @property
    def schema(self) -> pa.Schema:
        """The columns, with what the file says of itself."""
        return with_facts(SCHEMA, {"kind": KIND, "version": VERSION, "package": rerankers.__version__})

    def write(self, rankings: Rankings, qids: Sequence[str], docs: Ids) -> None:
        """Add the rankings of some queries; ``qids`` has the name of each row. Rows without rankings are left out."""
        if np.any(rankings.counts == 0):
            some = np.flatnonzero(rankings.counts)
            rankings, qids = rankings.take(some), [qids[row] for row in some.tolist()]
        rankings = ranked_only(rankings)
        columns = {
            "qid": pa.array(qids, pa.large_string()),
            "docno": to_lists(rankings.over.indptr, docs.names.take(pa.array(rankings.over.doc))),
            "label": to_lists(rankings.query_ptr, rankings.label),
            "items": to_lists(rankings.query_ptr, to_lists(rankings.item_ptr, rankings.item)),
        }
        self._blocks.append(pa.table(columns))

    def table(self) -> pa.Table:
        """Return everything that was added, as one batch with one dictionary, so that it can be used in place."""
        if not self._blocks:
            return self.schema.empty_table()
        whole = pa.concat_tables(self._blocks)
        indptr, names = from_lists(whole["docno"])
        docs, code = Ids.coded(names)
        docno = to_lists(indptr, pa.DictionaryArray.from_arrays(pa.array(code), docs.names))
        columns = [docno if name == "docno" else one_array(whole[name]) for name in SCHEMA.names]
        return pa.table(columns, schema=self.schema)


def ranked_only(rankings: Rankings) -> Rankings:
    """Return the rankings over the documents that they hold, ascending by code."""
    over, flat = rankings.over, rankings.flat
    used = np.zeros(over.nnz, dtype=bool)
    used[flat] = True
    kept = np.flatnonzero(used)
    row = over.row_index[kept]
    order = np.lexsort((over.doc[kept], row))
    indptr = np.append(0, np.cumsum(np.bincount(row, minlength=len(over))))
    place = np.empty(over.nnz, dtype=np.int64)
    place[kept[order]] = np.arange(len(kept)) - indptr[row]
    kept = kept[order]
    return replace(rankings, over=Ragged(over.query, indptr, over.doc[kept]), item=place[flat].astype(np.int32))
