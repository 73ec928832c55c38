"""The text files of the 2020 evaluator: judgments with a column of groups, and runs read as it reads them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from rerankers._base.byte_blocks import read_blocks
from rerankers._base.errors import InputError, Problems
from rerankers._base.fields import Fields
from rerankers._base.files import collect_lines
from rerankers.runs.draft import Draft
from rerankers.values import Ragged
from rerankers.values.qrels import met

QRELS_FORM = "qid groups docno grade, groups joined with |, or qid docno grade"
RUN_FORM = "qid sample docno rank score tag"
_WHOLE, _NUMBER = re.compile(r"[+-]?[0-9]+"), re.compile(r"[+-]?[0-9]+(\.0*)?")
_LARGEST = 2**15 - 1
_COLUMNS = (0, 1, 2)  # qid, sample, docno


@dataclass(slots=True)
class JudgedRows:
    """Judgments row by row as a file has them; a pair may come several times.

    ``groups`` has the text of the column of groups, empty where a line has three fields; ``line`` is None where the
    rows come from no file of lines.
    """

    qid: list[str] = field(default_factory=list)
    groups: list[str] = field(default_factory=list)
    docno: list[str] = field(default_factory=list)
    grade: list[int] = field(default_factory=list)
    line: list[int | None] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)

    def add(self, qid: str, groups: str, docno: str, grade: int, line: int | None = None) -> None:
        """Add a row."""
        self.qid.append(qid)
        self.groups.append(groups)
        self.docno.append(docno)
        self.grade.append(grade)
        self.line.append(line)


def read_judged_lines(path: Path, problems: Problems, *, whole_only: bool = False) -> JudgedRows:
    """Read lines of `QRELS_FORM`, separated by white space.

    Parameters
    ----------
    path
        plain, ``.gz`` or ``.zst``.
    problems
        gets every line that is not of the form.
    whole_only
        take no grade written as ``1.0``, as the official code does.
    """
    rows = JudgedRows()
    grades = _WHOLE if whole_only else _NUMBER
    blank = 0
    for number, _, text in collect_lines(path, problems):
        fields = text.split()
        if len(fields) == 3:
            fields.insert(1, "")
        if not fields:
            blank += 1
        elif len(fields) != 4:
            problems.add(number, f"{len(fields)} fields", QRELS_FORM)
        elif not grades.fullmatch(fields[3]) or abs(int(fields[3].partition(".")[0])) > _LARGEST:
            problems.add(number, f"grade {fields[3]!r}", f"a whole number from -{_LARGEST} to {_LARGEST}")
        else:
            rows.add(fields[0], fields[1], fields[2], int(fields[3].partition(".")[0]), number)
    if not rows.qid and not problems:
        problems.add(None, "no judgment", f"at least one line: {QRELS_FORM}")
    if blank:
        rows.counts["blank_qrels_lines"] = blank
    return rows


def read_ranked_lines(path: Path, problems: Problems, counts: dict[str, int]) -> Draft:
    """Read a text run as the 2020 evaluator does.

    Of two documents at one rank the first stands, ranks below 1 are dropped (both are counted), a document may come
    twice in a ranking, the score is not looked at. A sample all of whose rows are dropped is a ranking without
    documents.

    Raises
    ------
    InputError
        with the lines that have fewer than five fields or ranks that are no whole numbers, and with every ranking
        whose ranks have a gap.
    """
    parts = list(_parts(path, problems))
    problems.raise_if_any()
    table = pa.concat_tables(parts)
    if not table.num_rows:
        raise InputError.one(str(path), "no line", f"lines of {RUN_FORM}")
    coded = [table[name].combine_chunks().dictionary_encode() for name in ("qid", "sample", "docno")]
    query, sample, doc = (column.indices.to_numpy().astype(np.int64) for column in coded)
    qids, samples, docnos = (column.dictionary for column in coded)
    label_of_ranking, ranking = np.unique(query * len(samples) + sample, return_inverse=True)
    rank = table["rank"].to_numpy()
    order = np.lexsort((rank, ranking))
    positive = order[rank[order] > 0]
    again = np.zeros(len(positive), dtype=bool)
    again[1:] = (ranking[positive][1:] == ranking[positive][:-1]) & (rank[positive][1:] == rank[positive][:-1])
    kept = positive[~again]
    counts.update(met(rows_at_ranks_below_1=len(order) - len(positive), rows_at_taken_ranks=int(again.sum())))
    lengths = np.bincount(ranking[kept], minlength=len(label_of_ranking))
    indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    gap = rank[kept] != np.arange(len(kept)) - indptr[ranking[kept]] + 1
    for code in np.unique(ranking[kept][gap]).tolist():
        query_code, sample_code = divmod(int(label_of_ranking[code]), len(samples))
        found = f"a gap in the ranks of query {qids[query_code].as_py()!r}, sample {samples[sample_code].as_py()!r}"
        problems.add(None, found, "ranks 1, 2, 3 and so on")
    problems.raise_if_any()
    ranked = Ragged(label_of_ranking // len(samples), indptr, doc[kept])
    label = np.arange(len(label_of_ranking), dtype=np.int32)
    return Draft(qids.to_pylist(), docnos.cast(pa.large_string()), ranked, label)


def _parts(path: Path, problems: Problems) -> Iterator[pa.Table]:
    names = ["qid", "sample", "docno", "rank"]
    for first, block in read_blocks(path):
        fields = Fields.split(block, 6, first)
        rank = None if fields is None else fields.whole(3)
        if fields is None or rank is None:
            columns: list[Any] = _lines(first, block, problems)
        else:
            coded = (fields.names(column) for column in _COLUMNS)
            columns = [*(texts.take(pa.array(code)) for code, texts in coded), pa.array(rank)]
        yield pa.table(columns, names=names)


def _lines(first: int, block: bytes, problems: Problems) -> list[Any]:
    """Parse a block line by line, noting every problem."""
    kept: list[tuple[str, str, str, int]] = []
    for number, raw in enumerate(block.removesuffix(b"\n").split(b"\n"), first):
        fields = raw.decode("utf-8", "replace").split()
        if not fields:
            continue
        if len(fields) < 5:
            problems.add(number, f"{len(fields)} fields", RUN_FORM)
        elif not _WHOLE.fullmatch(fields[3]):
            problems.add(number, f"rank {fields[3]!r}", "a whole number")
        else:
            kept.append((fields[0], fields[1], fields[2], int(fields[3])))
    columns = list(zip(*kept, strict=True)) or [()] * 4
    return [*(pa.array(column, pa.large_string()) for column in columns[:3]), pa.array(columns[3], pa.int64())]
