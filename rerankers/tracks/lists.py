"""Runs whose rankings may name a document twice, as the official evaluators take them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rerankers._base.errors import Problems
from rerankers._base.files import COMPRESSED, open_bytes, read_lines
from rerankers.runs import jsonl, mapping, parquet, read_run, run_name, table
from rerankers.tracks.expeval_files import read_ranked_lines
from rerankers.values import Counts, Ids, Ragged, Rankings
from rerankers.values.qrels import met

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.runs.draft import Draft

DUPLICATES = ("accumulate", "first", "error")
EMPTY = ("ignore", "count")


@dataclass(frozen=True, slots=True, eq=False)
class Lists:
    """One or several rankings a query, equally weighted.

    Attributes
    ----------
    name
        what reports call the run.
    qids
        the Q query ids.
    docs
        sorted ids of the ranked documents.
    rankings
        as of `rerankers.runs.Run`, but a ranking may hold a document several times.
    counts
        what was met.
    """

    name: str
    qids: tuple[str, ...]
    docs: Ids
    rankings: Rankings
    counts: Counts


def read_lists(source: Any, duplicates: str, empty: str) -> Lists:
    """Read a run.

    Parameters
    ----------
    source
        whatever `read_run` takes.
    duplicates
        what happens to a document that comes twice in a ranking: ``error``: the run is refused, and so are ranks that
        repeat or leave gaps (`read_run`); ``accumulate``: it stays twice; ``first``: its first place stands and what
        follows moves up. With these two, text runs are read as `read_ranked_lines` says.
    empty
        rankings without documents: ``count``, or ``ignore``: they are no rankings.

    Raises
    ------
    InputError
        with everything that is wrong.
    MissingError
        when there is no such file.
    """
    problems, counts = Problems(str(source) if isinstance(source, str | Path) else "run"), dict[str, int]()
    draft = None if duplicates == "error" else _draft(source, problems, counts)
    if draft is None:
        run = read_run(source)
        name = run_name(Path(source)) if isinstance(source, str | Path) else run.name
        found, dropped = _without_empty(run.rankings, empty)
        return Lists(name, run.qids, run.docs, found, {**run.counts, **dropped})
    problems.raise_if_any()
    name = run_name(Path(source)) if isinstance(source, str | Path) else "run"
    rows = _distinct(draft, counts) if duplicates == "first" else draft.ranked
    docs, code = Ids.coded(draft.docnos)
    rankings = _rankings(rows, code, len(draft.qids))
    counts |= met(documents_again_in_a_ranking=_repeats(rankings))
    dropped = {}
    if "rows_at_ranks_below_1" not in counts:  # a sample whose rows were dropped counts for the official code
        rankings, dropped = _without_empty(rankings, empty)
    return Lists(name, tuple(draft.qids), docs, rankings, {**counts, **dropped})


def _draft(source: Any, problems: Problems, counts: dict[str, int]) -> Draft | None:
    """Return the rankings of the forms that may repeat documents, None for every other form."""
    if isinstance(source, Mapping):
        return mapping.read_mapping(source, "run", problems, counts)
    if not isinstance(source, str | Path) or Path(source).is_dir() or Path(source).suffix == ".parquet":
        return None
    path = Path(source)
    with open_bytes(path) as stream:
        if path.suffix not in COMPRESSED and stream.read(4) == parquet.MAGIC:
            return None
    first = next((line for _, line in read_lines(path) if line.strip()), "")
    if first.lstrip().startswith("{"):
        return jsonl.read_jsonl(path, problems, counts)
    if not first or table.delimiter(first) is not None:
        return None
    return read_ranked_lines(path, problems, counts)


def _rankings(ranked: Ragged, code: NDArray[np.int32], queries: int) -> Rankings:
    order = np.argsort(ranked.query, kind="stable")
    if not np.array_equal(order, np.arange(len(order))):
        ranked = ranked.take(order)
    doc = code[ranked.doc].astype(np.int64)
    width = int(doc.max(initial=0)) + 1
    key, place = np.unique(ranked.query[ranked.row_index].astype(np.int64) * width + doc, return_inverse=True)
    indptr = np.searchsorted(key, np.arange(queries + 1, dtype=np.int64) * width)
    over = Ragged(np.arange(queries, dtype=np.int32), indptr, (key % width).astype(np.int32))
    item = (place - indptr[ranked.query[ranked.row_index]]).astype(np.int32)
    samples = np.bincount(ranked.query, minlength=queries)
    query_ptr = np.concatenate([[0], np.cumsum(samples)]).astype(np.int64)
    label = np.arange(len(ranked)) - np.repeat(query_ptr[:-1], samples)
    weight = np.repeat(1.0 / np.maximum(samples, 1), samples)
    return Rankings(over, query_ptr, ranked.indptr, item, weight, label.astype(np.int32))


def _distinct(draft: Draft, counts: dict[str, int]) -> Ragged:
    """Return the rankings with the first place of each document only."""
    ranked, width = draft.ranked, max(len(draft.docnos), 1)
    _, first = np.unique(ranked.row_index * width + ranked.doc, return_index=True)
    keep = np.sort(first)
    counts.update(met(documents_again_in_a_ranking_removed=ranked.nnz - len(keep)))
    return Ragged(ranked.query, np.searchsorted(keep, ranked.indptr), ranked.doc[keep])


def _repeats(rankings: Rankings) -> int:
    width = int(rankings.item.max(initial=0)) + 1
    key = np.sort(rankings.ranking_of_item * width + rankings.item)
    return int(np.count_nonzero(key[1:] == key[:-1]))


def _without_empty(rankings: Rankings, empty: str) -> tuple[Rankings, Counts]:
    """Leave rankings without documents out, so that they take no part in the mean; queries keep their rows."""
    keep = np.diff(rankings.item_ptr) > 0
    if empty == "count" or keep.all():
        return rankings, {}
    samples = np.bincount(rankings.row_of_ranking[keep], minlength=len(rankings.over))
    found = Rankings(
        rankings.over,
        np.concatenate([[0], np.cumsum(samples)]).astype(np.int64),
        np.append(rankings.item_ptr[:-1][keep], rankings.item_ptr[-1]),
        rankings.item,
        np.repeat(1.0 / np.maximum(samples, 1), samples),
        rankings.label[keep],
    )
    return found, {"empty_rankings_ignored": int(np.sum(~keep))}
