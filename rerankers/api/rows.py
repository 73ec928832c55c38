"""A frame of candidates: read once, reranked, and given back as what it was."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from rerankers._base.errors import InputError
from rerankers.api.frames import is_frame, nameless, table_of
from rerankers.retrieval.listed import trusted_scores
from rerankers.runs import Run, read_run
from rerankers.runs.columns import codes_of
from rerankers.runs.table import columns_of
from rerankers.values import Candidates

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.api.named_policy import Draws


@dataclass(frozen=True, eq=False)
class Source:
    """A frame with one ranking a query.

    Attributes
    ----------
    frame
        as the caller gave it.
    names
        our names of its columns -> its own.
    run
        what it says.
    """

    frame: Any
    names: dict[str, str]
    run: Run

    def candidates(self, k: int) -> Candidates:
        """Return the first k candidates of each query, best first, with scores that never rise down a row."""
        rows = self.run.candidates()
        score, _ = trusted_scores(rows)
        rows = rows.with_columns(score=score)
        keep = np.arange(rows.nnz) - rows.indptr[rows.row_index] < k
        indptr = np.concatenate([[0], np.cumsum(np.minimum(rows.lengths, k))])
        return Candidates(rows.query, indptr, rows.doc[keep], {"score": score[keep]})

    def labels(self, column: str) -> dict[str, Any]:
        """Return ``{docno: group}`` from a column of the frame.

        Raises
        ------
        InputError
            where the frame lacks the column, or has two groups for a document.
        """
        present = _columns(self.frame)
        if column not in present:
            raise InputError.one("groups", f"columns {', '.join(present)}", f"a column {column!r} in the frame")
        table = table_of(self.frame, "frame", [self.names["docno"], column])
        found: dict[str, Any] = {}
        for docno, group in zip(*(table[name].to_pylist() for name in (self.names["docno"], column)), strict=True):
            group = None if nameless(group) else group
            if found.setdefault(str(docno), group) != group:
                raise InputError.one("groups", f"two groups of document {str(docno)!r} in {column!r}", "one")
        return found

    def ranked(self, draws: Draws, with_sample: bool) -> Any:
        """Return the frame's rows in the order of the draws, with rank, score and maybe sample set anew."""
        place = self._places(draws)
        new: dict[str, NDArray[Any]] = {"sample": draws.sample} if with_sample else {}
        new |= {self.names.get("rank", "rank"): draws.rank, self.names.get("score", "score"): draws.score}
        return _taken(self.frame, place, new)

    def _places(self, draws: Draws) -> NDArray[np.int64]:
        """Return the row of the frame behind each ranked document."""
        table = table_of(self.frame, "frame", [self.names["qid"], self.names["docno"]])
        query, qids = codes_of(table[self.names["qid"]])
        doc, docnos = codes_of(table[self.names["docno"]])
        of_query = pa.array(list(draws.qids), pa.large_string())
        key = _codes(qids, of_query)[query].astype(np.int64) << 32 | draws.docs.codes(docnos)[doc]
        order = np.argsort(key, kind="stable")
        wanted = draws.query.astype(np.int64) << 32 | draws.doc
        return order[np.searchsorted(key[order], wanted)]


def _codes(names: pa.Array, among: pa.Array) -> NDArray[np.int32]:
    import pyarrow.compute as pc

    found: NDArray[np.int32] = pc.index_in(names, value_set=among).fill_null(-1).to_numpy(zero_copy_only=False)
    return found


def source_of(frame: Any) -> Source:
    """Read a frame of candidates.

    Raises
    ------
    InputError
        for what is no frame, and with everything that is wrong with it: missing columns, a document twice, several
        rankings of a query (a column ``sample``).
    """
    if isinstance(frame, pa.RecordBatch):
        frame = pa.Table.from_batches([frame])
    if not is_frame(frame):
        expected = "a frame of pandas, polars or Arrow with qid, docno and score or rank"
        raise InputError.one("frame", f"a {type(frame).__name__}", expected)
    names = columns_of(_columns(frame), "frame")
    return Source(frame, names, read_run(frame))


def _columns(frame: Any) -> list[str]:
    return list(frame.schema.names if isinstance(frame, pa.Table) else frame.columns)


def _taken(frame: Any, place: NDArray[np.int64], new: dict[str, NDArray[Any]]) -> Any:
    """Return rows of a frame with columns set; of pandas and Arrow as they are, of any other kind as Arrow."""
    if hasattr(frame, "iloc"):
        taken = frame.iloc[place].reset_index(drop=True)
        return taken.assign(**new)
    if hasattr(frame, "with_columns") and hasattr(frame, "to_series"):
        series = type(frame.to_series(0))
        return frame[place].with_columns(*(series(name, column) for name, column in new.items()))
    table = frame if isinstance(frame, pa.Table) else pa.table(frame)
    table = table.take(pa.array(place))
    for name, column in new.items():
        at = table.schema.get_field_index(name)
        table = table.append_column(name, pa.array(column)) if at < 0 else table.set_column(at, name, pa.array(column))
    return table
