"""Writing runs block by block with bounded memory, whole or not at all."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pyarrow as pa

from rerankers.runs import arrow, parquet, trec
from rerankers.runs.piece import Piece, Sink
from rerankers.runs.run import ARROW_FILE, PARQUET_FILE

if TYPE_CHECKING:
    from rerankers.values import Ids, Rankings

_ITEMS_A_PIECE = 1 << 20


class RunWriter:
    """Writes drawn or published rankings; a context manager.

    The bytes of the file do not depend on how the rankings are divided into calls of `write`. Scores are synthetic,
    1 / rank, so that score order and rank order agree for every reader.

    Parameters
    ----------
    path
        ``*.parquet``: columns qid, sample, rank, docno, score; ``*.arrow``: one row a query, not compressed, the
        quickest to read (see `rerankers.runs.arrow`); any other name: text, `qid sample docno rank score tag`,
        compressed where the name ends in ``.gz``.
    tag
        last field of the text form, one word.
    """

    def __init__(self, path: str | Path, tag: str = "fair-rerankers") -> None:
        self._path, self._tag = Path(path), trec.checked_tag(tag)
        self._stack = ExitStack()
        self.counts: dict[str, int] = {"empty_rankings_not_written": 0}

    def __enter__(self) -> Self:
        self._sink = self._open()
        return self

    def _open(self) -> Sink | arrow.ArrowSink:
        if self._path.suffix == Path(ARROW_FILE).suffix:
            return self._stack.enter_context(arrow.open_sink(self._path))
        if self._path.suffix == Path(PARQUET_FILE).suffix:
            return self._stack.enter_context(parquet.open_sink(self._path))
        return self._stack.enter_context(trec.open_sink(self._path, self._tag))

    def write(self, rankings: Rankings, qids: Sequence[str], docs: Ids) -> None:
        """Add the rankings of some queries.

        Parameters
        ----------
        rankings
            equally weighted; those without documents are counted (``empty_rankings_not_written``) where the form
            cannot hold them: only ``*.arrow`` can.
        qids, docs
            the names of the query and document codes of ``rankings.over``.

        Raises
        ------
        ValueError
            when the rankings of a query have different weights: draw from them first.
        InputError
            when an id with white space would go into a text file.
        """
        _check_weights(rankings)
        names = [qids[code] for code in rankings.over.query]
        if isinstance(self._sink, arrow.ArrowSink):
            self._sink.write(rankings, names, docs)
        else:
            self._write_pieces(self._sink, rankings, names, docs)

    def _write_pieces(self, sink: Sink, rankings: Rankings, names: Sequence[str], docs: Ids) -> None:
        self.counts["empty_rankings_not_written"] += int((np.diff(rankings.item_ptr) == 0).sum())
        used = np.zeros(rankings.over.nnz, dtype=bool)
        flat = rankings.flat
        used[flat] = True
        sink.check(str(self._path), names, docs.names.take(pa.array(np.unique(rankings.over.doc[used]))))
        row = rankings.row_of_ranking
        first = 0
        while first < len(rankings):
            limit = rankings.item_ptr[first] + _ITEMS_A_PIECE
            last = max(first + 1, int(np.searchsorted(rankings.item_ptr, limit, side="right")) - 1)
            low, high = int(rankings.item_ptr[first]), int(rankings.item_ptr[last])
            sink.write(
                Piece(
                    [names[index] for index in row[first:last]],
                    rankings.label[first:last],
                    np.diff(rankings.item_ptr[first : last + 1]),
                    docs.names.take(pa.array(rankings.over.doc[flat[low:high]])),
                )
            )
            first = last

    def __exit__(self, *exception: Any) -> None:
        self._stack.__exit__(*exception)


def write_run(
    path: str | Path, rankings: Rankings, qids: Sequence[str], docs: Ids, tag: str = "fair-rerankers"
) -> None:
    """Write a whole run at once; see `RunWriter`."""
    with RunWriter(path, tag) as writer:
        writer.write(rankings, qids, docs)


def _check_weights(rankings: Rankings) -> None:
    share = 1.0 / np.maximum(rankings.counts, 1)
    if not np.allclose(rankings.weight, share[rankings.row_of_ranking], rtol=1e-9, atol=0):
        raise ValueError("the rankings of a query have different weights; a run file takes equally weighted draws")
