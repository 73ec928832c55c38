"""Whatever a file holds, reading it ends in a run or in an InputError."""

from __future__ import annotations

import contextlib
import gzip
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from run_twins import check

from rerankers._base.errors import InputError
from rerankers.runs import read_run

NAMES = st.sampled_from(["a", "a.txt", "a.csv", "a.tsv", "a.jsonl", "a.parquet", "a.gz", "a.zst", "run.trec.gz"])
WORD = st.sampled_from(
    ["q", "Q0", "d", "1", "2", "0", "-1", "1e3", "nan", "é", '"', ",", "\t", " ", "#", "{", "\r", "\x00"]
)
LINE = st.lists(WORD, max_size=8).map(" ".join) | st.text(max_size=12)
HEADED = st.lists(LINE).map(lambda lines: "\n".join(["qid,docno,rank,score,sample", *lines]))
TABBED = st.lists(LINE).map(lambda lines: "\n".join(["qid\tdocno\trank", *lines]))
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3),
    max_leaves=6,
)
RECORD = st.fixed_dictionaries(
    {}, optional={"qid": JSON, "ranking": JSON | st.lists(st.text(max_size=2)), "q_num": JSON}
)
RECORDS = st.lists(RECORD.map(json.dumps) | LINE).map("\n".join)
DATA = (
    st.binary(max_size=60)
    | st.text(max_size=60).map(str.encode)
    | st.lists(LINE).map("\n".join).map(str.encode)
    | HEADED.map(str.encode)
    | TABBED.map(str.encode)
    | RECORDS.map(str.encode)
    | st.binary(max_size=40).map(b"PAR1".__add__)
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("fuzz")


def check_attempt(source: Any) -> None:
    with contextlib.suppress(InputError):
        check(read_run(source))


@settings(max_examples=400)
@given(NAMES, DATA, st.sampled_from([bytes, gzip.compress, lambda data: pa.compress(data, codec="zstd", asbytes=True)]))
def test_files(folder: Path, name: str, data: bytes, pack: Any) -> None:
    path = folder / name
    path.write_bytes(pack(data))
    check_attempt(path)


@settings(max_examples=150)
@given(st.data())
def test_damaged_files(folder: Path, data: st.DataObject) -> None:
    table = pa.table({"qid": ["q", "q", "p"], "docno": ["a", "bb", "a"], "rank": [1, 2, 1], "score": [3.0, 2.0, 1.0]})
    pq.write_table(table, folder / "whole.parquet", compression=data.draw(st.sampled_from(["zstd", "none"])))
    text = b"q Q0 a 1 3 t\nq Q0 b 2 2 t\np Q0 a 1 1 t\n"
    name, whole = data.draw(
        st.sampled_from(
            [
                ("a.parquet", (folder / "whole.parquet").read_bytes()),
                ("a.gz", gzip.compress(text)),
                ("a.zst", pa.compress(text, codec="zstd", asbytes=True)),
                ("a.txt", text),
            ]
        )
    )
    damaged = bytearray(whole)
    for _ in range(data.draw(st.integers(1, 3))):
        damaged[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    path = folder / name
    path.write_bytes(bytes(damaged[: data.draw(st.integers(0, len(whole)))]))
    check_attempt(path)


VALUE = JSON | st.dictionaries(st.text(max_size=2), JSON, max_size=3) | st.binary(max_size=2)


@given(st.dictionaries(st.text(max_size=2) | st.integers() | st.none(), VALUE, max_size=3))
def test_mappings(run: dict[Any, Any]) -> None:
    check_attempt(run)


CELL = st.none() | st.integers(-3, 3) | st.text(max_size=2) | st.floats() | st.booleans() | st.binary(max_size=2)


@given(st.data(), st.integers(0, 4))
def test_tables(data: st.DataObject, rows: int) -> None:
    names = data.draw(
        st.lists(st.sampled_from(["qid", "docno", "rank", "score", "sample", "doc_id", "x"]), min_size=2, max_size=6)
    )
    columns = []
    for _ in names:
        kind = data.draw(st.sampled_from([st.integers(-3, 3), st.text(max_size=2), st.floats(), st.booleans()]))
        column = data.draw(st.lists(st.none() | kind, min_size=rows, max_size=rows))
        columns.append(pa.array(column).dictionary_encode() if data.draw(st.booleans()) else pa.array(column))
    check_attempt(pa.table(columns, names=names))
