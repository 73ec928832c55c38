"""What a caller has in memory, as the files that a job reads: then the command line can repeat the job.

Runs, judgments, groups and collections become files of the forms that `rerankers.runs`, `rerankers.values` and
`rerankers.collections` read, and are checked by their readers.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from rerankers._base.errors import ConfigError, InputError, Problems
from rerankers._base.files import atomic_path, write_text
from rerankers.api.frames import columns, is_table, nameless, rows, table_of
from rerankers.api.labels import ATTRIBUTE, label_rows
from rerankers.measures.inputs import HIGHEST, LOWEST, qrels_table, whole_grade
from rerankers.runs import ARROW_FILE, Run, read_run, write_run

COLLECTION_PARTS = ("docs", "queries", "qrels", "groups")


def run_file(source: Any, folder: Path, name: str) -> Path:
    """Write a run (a frame, a mapping or a `Run`) to ``folder/name/run.arrow``, so that results call it by that name.

    Raises
    ------
    InputError
        with everything that is wrong with it.
    """
    run = read_run(source)
    place = folder / _as_folder(name)
    place.mkdir(parents=True, exist_ok=True)
    write_run(place / ARROW_FILE, run.rankings, list(run.qids), run.docs)
    return place / ARROW_FILE


def candidates_file(source: Any, folder: Path) -> Path:
    """Write candidates with their scores, one ranking a query, as a parquet file that keeps every bit of a score.

    Raises
    ------
    InputError
        for a source that is wrong, or has several rankings of a query.
    """
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    run: Run = read_run(source)
    listed = run.candidates()
    row = listed.row_index
    table = {
        "qid": pa.array(run.qids).take(pa.array(listed.query[row])),
        "sample": pa.array(np.zeros(listed.nnz, np.int32)),
        "rank": pa.array(np.arange(listed.nnz, dtype=np.int32) - listed.indptr[row] + 1),
        "docno": run.docs.names.take(pa.array(listed.doc)),
        **({"score": pa.array(listed.score)} if "score" in listed.columns else {}),
    }
    folder.mkdir(parents=True, exist_ok=True)
    with atomic_path(folder / "candidates.parquet") as path:
        pq.write_table(pa.table(table), path)
    return folder / "candidates.parquet"


def qrels_file(source: Any, folder: Path) -> Path:
    """Write judgments (a frame, ``{qid: {docno: grade}}``, or tuples as ir_measures has them) as a qrels file."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "qrels.txt"
    write_text(path, "".join(_qrels_lines(judgments_of(source))))
    return path


def judgments_of(source: Any) -> dict[str, dict[str, int]]:
    """Return ``{qid: {docno: grade}}`` from a frame, such a mapping, or tuples with these fields.

    Raises
    ------
    InputError
        for missing columns, grades that are no whole numbers, and a pair that is judged twice.
    """
    if isinstance(source, Mapping) and not is_table(source):
        table = qrels_table(source)
        triples: Iterable[tuple[Any, ...]] = zip(
            table.qid.to_pylist(), table.docno.to_pylist(), table.grade.tolist(), strict=True
        )
    elif is_table(source):
        triples = rows(columns(source, ("qid", "docno", "grade"), "qrels"))
    else:
        triples = _of_tuples(source)
    found: dict[str, dict[str, int]] = {}
    problems = Problems("qrels")
    for qid, docno, grade in triples:
        if nameless(qid) or nameless(docno):
            problems.add(None, f"a judgment of query {qid!r}, document {docno!r}", "ids in every row")
            continue
        whole = whole_grade(grade)
        if whole is None:
            what = f"a whole number from {LOWEST} to {HIGHEST}"
            problems.add(None, f"grade {grade!r} for query {qid!r}, document {docno!r}", what)
            continue
        judged = found.setdefault(str(qid), {})
        if judged.setdefault(str(docno), whole) != whole:
            problems.add(None, f"two grades for query {qid!r}, document {docno!r}", "one")
    problems.raise_if_any()
    return found


def _of_tuples(source: Any) -> Iterator[tuple[Any, Any, Any]]:
    try:
        for one in source:
            yield one.query_id, one.doc_id, one.relevance
    except (TypeError, AttributeError) as error:
        expected = "a path, a frame, {qid: {docno: grade}}, or tuples with query_id, doc_id and relevance"
        raise InputError.one("qrels", f"a {type(source).__name__}", expected) from error


def _qrels_lines(judged: Mapping[str, Mapping[str, int]]) -> Iterator[str]:
    problems = Problems("qrels")
    for qid, grades in judged.items():
        for docno, grade in grades.items():
            if len(qid.split()) != 1 or len(docno.split()) != 1:
                problems.add(None, f"query {qid!r}, document {docno!r}", "ids without white space")
            yield f"{qid} 0 {docno} {grade}\n"
    problems.raise_if_any()


def groups_file(source: Any, folder: Path, name: str = "groups.csv") -> Path:
    """Write group labels as a CSV file; see `rerankers.api.labels.label_rows` for what they may be."""
    folder.mkdir(parents=True, exist_ok=True)
    found = list(label_rows(source))
    several = {attribute for _, attribute, _, _ in found} - {ATTRIBUTE}
    weighted = any(weight != "" for _, _, _, weight in found)
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["docno", "group", *(["attribute"] if several else []), *(["weight"] if weighted else [])])
    for docno, attribute, group, weight in found:
        writer.writerow([docno, group, *([attribute] if several else []), *([weight] if weighted else [])])
    write_text(folder / name, text.getvalue())
    return folder / name


def collection_folder(parts: Mapping[str, Any], folder: Path) -> Path:
    """Write a collection that is given as frames: ``docs`` and ``queries``, maybe ``qrels`` and ``groups``.

    ``docs`` has the column ``docno`` (``doc_id``, ``id``), every other column is a field; ``queries`` has ``qid`` and
    ``query``, or is ``{qid: query}``; see `qrels_file` and `groups_file` for the others.

    Raises
    ------
    ConfigError
        for other parts, or one that is missing.
    InputError
        as the parts.
    """
    wrong = [name for name in parts if name not in COLLECTION_PARTS]
    lacks = [name for name in ("docs", "queries") if name not in parts]
    if wrong or lacks:
        found = ", ".join(map(str, parts)) or "nothing"
        raise ConfigError(f"collection: found the parts {found}; expected docs and queries, maybe qrels and groups")
    folder.mkdir(parents=True, exist_ok=True)
    with atomic_path(folder / "docs.jsonl") as path:
        _write_lines(path, _documents(parts["docs"]))
    with atomic_path(folder / "queries.jsonl") as path:
        _write_lines(path, _queries(parts["queries"]))
    if parts.get("qrels") is not None:
        qrels_file(parts["qrels"], folder)
    if parts.get("groups") is not None:
        groups_file(parts["groups"], folder)
    return folder


def _documents(source: Any) -> Iterator[dict[str, Any]]:
    found = columns(source, ("docno",), "docs")
    table = table_of(source, "docs")
    named = next(name for name in ("docno", "doc_id", "id") if name in table.column_names)
    others = [name for name in table.column_names if name != named]
    for docno, row in zip(found["docno"].to_pylist(), table.select(others).to_pylist(), strict=True):
        if nameless(docno):
            raise InputError.one("docs", f"a document called {docno!r}", "a docno in every row")
        yield {"docno": str(docno), **{name: value for name, value in row.items() if value is not None}}


def _queries(source: Any) -> Iterator[dict[str, Any]]:
    if isinstance(source, Mapping) and not is_table(source):
        pairs: Iterable[tuple[Any, ...]] = source.items()
    else:
        pairs = rows(columns(source, ("qid", "query"), "queries"))
    for qid, text in pairs:
        if nameless(qid) or nameless(text):
            raise InputError.one("queries", f"qid {qid!r} with the text {text!r}", "a qid and a text in every row")
        yield {"qid": str(qid), "query": str(text)}


def _write_lines(path: Path, records: Iterable[Mapping[str, Any]]) -> None:
    with path.open("w", encoding="utf-8") as stream:
        for record in records:
            try:
                stream.write(f"{json.dumps(record, ensure_ascii=False, allow_nan=False)}\n")
            except (TypeError, ValueError) as error:
                raise InputError.one("docs", f"a value that JSON cannot hold ({error})", "text and numbers") from error


def _as_folder(name: str) -> str:
    """Return a name that is one folder; ids of runs come from users."""
    if not name or name in (".", "..") or "/" in name or "\0" in name:
        raise ConfigError(f"run: found the name {name!r}; expected one without slashes")
    return name
