"""Runs as Arrow tables, frames, CSV, TSV and parquet files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from run_twins import PLAIN, Plain, check, in_label_order, plain_of, problems_in, problems_of

from rerankers._base.errors import InputError
from rerankers.runs import read_run


class Offered:
    """A frame of another library: all it has is the Arrow interface, its column names and a choice of columns."""

    def __init__(self, table: pa.Table) -> None:
        self.table = table
        self.columns = table.column_names

    def __getitem__(self, names: list[str]) -> Offered:
        return Offered(self.table.select(names))

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.table.__arrow_c_stream__(requested_schema)


def table_of(plain: Plain, first: int = 1) -> pa.Table:
    rows = [
        (qid, sample, rank, docno, 1 / (rank + 1))
        for qid, samples in plain.items()
        for sample, docs in samples.items()
        for rank, docno in enumerate(docs, first)
    ]
    columns = dict(zip(("qid", "sample", "rank", "docno", "score"), zip(*rows, strict=True), strict=True))
    return pa.table({name: list(column) for name, column in columns.items()})


FORMS = [
    lambda table: table,
    lambda table: table.combine_chunks().to_batches()[0],
    lambda table: table.to_pandas(),
    Offered,
    lambda table: table.set_column(0, "q_id", table["qid"].dictionary_encode()).rename_columns(
        ["query_id", "sample", "rank", "doc_id", "score"]
    ),
    lambda table: pa.concat_tables([table.slice(0, 1), table.slice(1)]),
]


@given(PLAIN, st.sampled_from(FORMS), st.sampled_from([0, 1]), st.randoms(use_true_random=False))
def test_tables(plain: Plain, form: Any, first: int, random: Any) -> None:
    table = table_of(plain, first)
    order = list(range(len(table)))
    random.shuffle(order)
    run = read_run(form(table.take(order)))
    check(run)
    in_order = in_label_order(plain)
    assert plain_of(run) == {qid: in_order[qid] for qid in dict.fromkeys(table["qid"].take(order).to_pylist())}
    assert run.name == "run"


@given(PLAIN)
def test_files(tmp_path_factory: pytest.TempPathFactory, plain: Plain) -> None:
    folder, frame = tmp_path_factory.mktemp("files"), table_of(plain).to_pandas()
    frame.to_parquet(folder / "a.parquet")
    frame.to_csv(folder / "a.csv.gz", index=False)
    (folder / "a.tsv").write_text(
        "\r\n".join("\t".join(map(str, row)) for row in [tuple(frame.columns), *frame.itertuples(index=False)])
    )
    (folder / "renamed").write_bytes((folder / "a.parquet").read_bytes())
    for name in ("a.parquet", "a.csv.gz", "a.tsv", "renamed"):
        run = read_run(folder / name)
        check(run)
        assert plain_of(run) == in_label_order(plain)
        assert run.name == ("renamed" if name == "renamed" else "a")


def test_frames_with_other_columns_and_dtypes() -> None:
    frame = pd.DataFrame(
        {
            "docid": [5, 6, 7],
            "docno": ["b", "a", "c"],
            "qid": [30, 30, 4],
            "rank": [1.0, 0.0, 0.0],
            "score": [1, 2, 3],
            "query": [object(), None, 3],
        }
    )
    run = read_run(frame)
    assert plain_of(run) == {"30": {0: ["a", "b"]}, "4": {0: ["c"]}}
    assert run.rankings.over.columns["score"].tolist() == [2.0, 1.0, 3.0]
    categories = frame.astype({"docno": "category", "qid": "category"})[["qid", "docno", "rank"]]
    assert plain_of(read_run(categories)) == plain_of(run)
    assert plain_of(read_run(categories[categories["qid"] == 4])) == {"4": {0: ["c"]}}
    numbers = pa.table({"qid": pa.array([1, 1], pa.uint8()), "docno": [30, 4], "rank": pa.array([2, 1], pa.uint64())})
    assert plain_of(read_run(numbers)) == {"1": {0: ["4", "30"]}}


def test_without_ranks_scores_decide() -> None:
    frame = pd.DataFrame({"qid": ["q"] * 4, "docno": ["d", "b", "c", "a"], "score": [1.0, 2.0, 2.0, -1.0]})
    expected = {"q": {0: ["b", "c", "d", "a"]}}
    for value in (frame, frame.assign(rank=np.nan), pa.table({**frame, "rank": pa.nulls(4)})):
        run = read_run(value)
        assert plain_of(run) == expected
        assert run.counts == {"rankings_ordered_by_score": 1}


def found(frame: Any) -> list[tuple[int | None, str]]:
    return [(problem.line, problem.found) for problem in problems_of(lambda: read_run(frame))]


def table(**changed: Any) -> pa.Table:
    columns = {"qid": ["q", "q"], "docno": ["a", "b"], "rank": [1, 2], "score": [2.0, 1.0]} | changed
    return pa.table({name: column for name, column in columns.items() if column is not None})


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (table(qid=None), [(None, "columns docno, rank, score")]),
        (table(rank=None, score=None), [(None, "columns qid, docno")]),
        (table(rank=pa.nulls(2), score=None), [(None, "neither ranks nor scores")]),
        (pa.table([["q"], ["q"], ["d"], [1]], ["qid", "qid", "docno", "rank"]), [(None, "column qid more than once")]),
        (table().slice(0, 0), [(None, "no row")]),
        (pa.table({}), [(None, "columns none")]),
        (table(qid=["q", None], docno=["", "b"]), [(1, "no document id"), (2, "no query id")]),
        (table(rank=[1, None]), [(2, "rank nothing")]),
        (table(rank=["1", "x"]), [(2, "rank 'x'")]),
        (table(rank=[1.0, 1.5]), [(2, "rank 1.5")]),
        (table(rank=[1.0, np.nan]), [(2, "rank nan")]),
        (table(score=[1.0, None]), [(2, "score nan")]),
        (table(score=[np.inf, 1.0]), [(1, "score inf")]),
        (table(score=["1", "abc"]), [(2, "score abc")]),
        (table(score=["1", None]), [(2, "score nothing")]),
        (table(sample=[0, None]), [(2, "no sample")]),
        (table(docno=["a", "a"]), [(2, "document 'a' again in query 'q', sample 0, first on line 1")]),
        (table(rank=[1, 5]), [(2, "rank 5 in query 'q', sample 0")]),
        (table(qid=[1.5, 2.5]), [(None, "query id in a column of double")]),
        (table(qid=[["q"], ["q"]]), [(None, "query id in a column of list<item: string>")]),
        (table(docno=[b"a", b"\xff"]), [(None, "document id in a column of binary")]),
        (table(rank=[True, False]), [(None, "rank in a column of bool")]),
    ],
)
def test_wrong_tables(value: pa.Table, expected: list[tuple[int | None, str]]) -> None:
    assert [(line, text.replace("element", "item")) for line, text in found(value)] == expected


def test_text_that_is_no_utf8() -> None:
    bad = pa.Array.from_buffers(pa.string(), 2, pa.array([b"a", b"\xff"]).buffers())
    assert "UTF8" in found(table(docno=bad))[0][1].replace("-", "")


def test_frames_that_arrow_cannot_hold() -> None:
    frame = pd.DataFrame({"qid": ["q", 3], "docno": ["a", "b"], "rank": [1, 2]})
    assert found(frame)[0][1].startswith("data that Arrow cannot hold")
    assert found(pd.DataFrame())[0][1] == "columns none"
    for other in (7, None, [["a"]], b"q Q0 d 1 1 t"):
        assert found(other) == [(None, f"a {type(other).__name__}")]


def test_wrong_csv(tmp_path: Path) -> None:
    text = 'qid,docno,rank,score\nq,"a,b",1,2\n\nq,c,2\nq,d,x,1\nq,e,4,\nq,,5,1\n'
    assert problems_in(tmp_path / "a.csv", text) == [
        (4, "3 fields"),
        (5, "rank 'x'"),
        (6, "score nothing"),
        (7, "no document id"),
    ]
    assert problems_in(tmp_path / "a.csv", "qid,docno,rank\n") == [(None, "no row")]
    assert problems_in(tmp_path / "a.csv", "qid,docno\nq,d\n") == [(None, "columns qid, docno")]
    assert problems_in(tmp_path / "a.csv", '"qid" ,docno,rank\nq,d,1\n')[0][1].startswith("a line that is no CSV")
    assert problems_in(tmp_path / "a.csv", 'qid,docno,rank\nq,"d,1\n')[0][1].startswith("a line that is no CSV")
    assert problems_in(tmp_path / "a.csv", b"qid,docno,rank\nq,\xff,1\n")[0] == (
        2,
        "a byte that is not UTF-8 (invalid start byte at byte 2)",
    )


def test_csv_and_tsv_details(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text('\ufeff"qid", docno ,rank,extra\n1,"a,""b""",1,x\n\n1,c,2,\n')
    run = read_run(tmp_path / "a.csv")
    assert plain_of(run) == {"1": {0: ['a,"b"', "c"]}}
    assert run.counts == {"blank_lines": 1}
    (tmp_path / "a.tsv").write_text('query_id\tdoc_id\trank\n1\t"a,b"\t1\n')
    assert plain_of(read_run(tmp_path / "a.tsv")) == {"1": {0: ['"a,b"']}}


def test_broken_parquet(tmp_path: Path) -> None:
    pq.write_table(table(), tmp_path / "whole.parquet")
    data = (tmp_path / "whole.parquet").read_bytes()
    for part in (data[:-9], data[:4], b"", data[:20] + bytes(40) + data[60:]):
        (tmp_path / "a.parquet").write_bytes(part)
        with pytest.raises(InputError, match=r"a\.parquet: found no readable parquet file"):
            read_run(tmp_path / "a.parquet")
    pq.write_table(table(docno=["a", "a"]), tmp_path / "a.parquet")
    with pytest.raises(InputError, match=r"a\.parquet:2: found document 'a' again .* first on line 1"):
        read_run(tmp_path / "a.parquet")


def test_parquet_in_a_folder_that_looks_like_a_partition(tmp_path: Path) -> None:
    folder = tmp_path / "sample=7"
    folder.mkdir()
    pq.write_table(table(), folder / "run.parquet")
    run = read_run(folder)
    assert run.rankings.label.tolist() == [0]
    assert run.name == "sample=7"


def test_a_run_passes_through() -> None:
    run = read_run(table())
    assert read_run(run) is run
