"""Written runs come back, with the same bytes however they are written."""

from __future__ import annotations

import gzip
import io
import subprocess
import zlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from run_twins import PLAIN, Plain, check, in_label_order, plain_of

from rerankers._base.errors import ConfigError, InputError
from rerankers.runs import Run, RunWriter, compress, parquet, read_run, write_run, writer
from rerankers.values import Rankings

FORMS = ("run.parquet", "run.trec.gz", "plain.trec")


def cut(rankings: Rankings, low: int, high: int) -> Rankings:
    """Return the rankings of rows low:high."""
    first, last = rankings.query_ptr[low], rankings.query_ptr[high]
    start, stop = rankings.item_ptr[first], rankings.item_ptr[last]
    return Rankings(
        rankings.over.rows(low, high),
        rankings.query_ptr[low : high + 1] - first,
        rankings.item_ptr[first : last + 1] - start,
        rankings.item[start:stop],
        rankings.weight[first:last],
        rankings.label[first:last],
    )


def write_blocks(path: Path, run: Run, size: int) -> None:
    with RunWriter(path) as file:
        for low in range(0, len(run.qids), size):
            file.write(cut(run.rankings, low, min(low + size, len(run.qids))), run.qids, run.docs)


def as_run(plain: Plain) -> Run:
    rows = [(q, s, r, d) for q, ss in plain.items() for s, ds in ss.items() for r, d in enumerate(ds, 1)]
    return read_run(pd.DataFrame(rows, columns=["qid", "sample", "rank", "docno"]))


@given(PLAIN, st.sampled_from(FORMS), st.integers(1, 3))
def test_round_trip(tmp_path_factory: pytest.TempPathFactory, plain: Plain, name: str, size: int) -> None:
    folder, run = tmp_path_factory.mktemp("round"), as_run(plain)
    write_run(folder / name, run.rankings, run.qids, run.docs)
    again = read_run(folder / name)
    check(again)
    assert plain_of(again) == in_label_order(plain)
    assert again.counts.keys() <= {"queries_with_fewer_rankings"}
    (folder / "blocks").mkdir()
    write_blocks(folder / "blocks" / name, run, size)
    assert (folder / "blocks" / name).read_bytes() == (folder / name).read_bytes()
    assert sorted(entry.name for entry in folder.iterdir()) == sorted(["blocks", name])


def test_text(tmp_path: Path) -> None:
    run = read_run({"q1": [["é", "b", "c"], ["b"]], "q,2": [["c"]]})
    write_run(tmp_path / "a", run.rankings, run.qids, run.docs, tag="mine")
    assert (tmp_path / "a").read_text() == (
        "q1 0 é 1 1.0 mine\nq1 0 b 2 0.5 mine\nq1 0 c 3 0.3333333333333333 mine\n"
        "q1 1 b 1 1.0 mine\nq,2 0 c 1 1.0 mine\n"
    )


def test_parquet(tmp_path: Path) -> None:
    run = read_run({"q1": [["é", "b"], ["b"]]})
    write_run(tmp_path / "run.parquet", run.rankings, run.qids, run.docs)
    table = pq.read_table(tmp_path / "run.parquet")
    assert table.to_pydict() == {
        "qid": ["q1"] * 3,
        "sample": [0, 0, 1],
        "rank": [1, 2, 1],
        "docno": ["é", "b", "b"],
        "score": [1.0, 0.5, 1.0],
    }
    assert [str(kind) for kind in table.schema.types] == ["string", "int32", "int32", "string", "double"]


@pytest.fixture
def big(monkeypatch: pytest.MonkeyPatch) -> Run:
    """Return a run of 60,000 lines, with pieces, chunks and row groups small enough to need many."""
    monkeypatch.setattr(writer, "_ITEMS_A_PIECE", 700)
    monkeypatch.setattr(parquet, "_ROWS", 5000)
    monkeypatch.setattr(compress, "CHUNK", 3000)
    rng = np.random.default_rng(3)
    return read_run({f"q{q}": [[f"doc{d}" for d in rng.permutation(100)] for _ in range(20)] for q in range(30)})


def test_bytes_do_not_depend_on_blocks(tmp_path: Path, big: Run) -> None:
    for name in FORMS:
        write_run(tmp_path / name, big.rankings, big.qids, big.docs)
        for size in (1, 7):
            write_blocks(tmp_path / f"blocks.{name}", big, size)
            assert (tmp_path / f"blocks.{name}").read_bytes() == (tmp_path / name).read_bytes()
        assert plain_of(read_run(tmp_path / name)) == plain_of(big)
    assert pq.ParquetFile(tmp_path / "run.parquet").num_row_groups == 12


def test_the_archive_is_one_plain_gzip_member(tmp_path: Path, big: Run) -> None:
    for name in ("run.trec.gz", "plain.trec"):
        write_run(tmp_path / name, big.rankings, big.qids, big.docs)
    packed, plain = (tmp_path / "run.trec.gz").read_bytes(), (tmp_path / "plain.trec").read_bytes()
    assert packed[:10] == b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"  # no file name, no time
    unpack = zlib.decompressobj(zlib.MAX_WBITS | 16)
    assert unpack.decompress(packed) == plain
    assert unpack.eof
    assert unpack.unused_data == b""
    assert gzip.decompress(packed) == plain
    assert subprocess.run(["gzip", "-tv", tmp_path / "run.trec.gz"], check=True, capture_output=True)


@settings(max_examples=30)
@given(st.lists(st.binary(max_size=40), max_size=10), st.integers(1, 30))
def test_gzip_of_any_pieces(tmp_path_factory: pytest.TempPathFactory, pieces: list[bytes], chunk: int) -> None:
    folder = tmp_path_factory.mktemp("gzip")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compress, "CHUNK", chunk)
        for name, parts in (("a.gz", pieces), ("b.gz", [b"".join(pieces)])):
            with compress.open_for_text(folder / name) as stream:
                for part in parts:
                    stream.write(part)
    assert (folder / "a.gz").read_bytes() == (folder / "b.gz").read_bytes()
    assert gzip.decompress((folder / "a.gz").read_bytes()) == b"".join(pieces)


def test_sizes_above_four_gigabytes_wrap() -> None:
    stream = io.BytesIO()
    with ThreadPoolExecutor(1) as pool:
        file = compress.GzipWriter(stream, pool, 1)
        file._size = 2**32
        file.write(b"abc")
        file.finish()
    assert stream.getvalue()[-4:] == b"\x03\x00\x00\x00"
    assert gzip.decompress(stream.getvalue()) == b"abc"


@pytest.mark.parametrize("wrong", ["a b", "a\tb", "a\nb", "a\u00a0b", "a\u2028", "\x1f", ""])
def test_white_space_does_not_go_into_text(tmp_path: Path, wrong: str) -> None:
    if wrong:
        run = read_run({"q": [["ok", wrong]], wrong: [["ok"]]})
        for name in ("a.trec", "a.trec.gz"):
            with pytest.raises(InputError, match="ids without white space in a text run") as caught:
                write_run(tmp_path / name, run.rankings, run.qids, run.docs)
            assert [p.found for p in caught.value.problems] == [f"query id {wrong!r}", f"document id {wrong!r}"]
            assert caught.value.problems[0].where == str(tmp_path / name)
        write_run(tmp_path / "a.parquet", run.rankings, run.qids, run.docs)
        assert plain_of(read_run(tmp_path / "a.parquet")) == plain_of(run)
    with pytest.raises(ConfigError, match="expected one word"):
        RunWriter(tmp_path / "b", tag=wrong)
    assert [entry.name for entry in tmp_path.iterdir()] == (["a.parquet"] if wrong else [])


def test_documents_that_are_not_ranked_may_have_any_name(tmp_path: Path) -> None:
    run = read_run({"q": [["a b", "ok"]]})
    rankings = Rankings.of_matrix(run.rankings.over, [np.array([[1]])])
    write_run(tmp_path / "a", rankings, run.qids, run.docs)
    assert plain_of(read_run(tmp_path / "a")) == {"q": {0: ["ok"]}}


def test_what_a_file_cannot_hold_is_counted(tmp_path: Path) -> None:
    run = read_run({"q": [["a"], []], "p": [[]]})
    for name in FORMS:
        with RunWriter(tmp_path / name) as file:
            file.write(run.rankings, run.qids, run.docs)
        assert file.counts == {"empty_rankings_not_written": 2}
        assert plain_of(read_run(tmp_path / name)) == {"q": {0: ["a"]}}


def test_weights_are_not_lost(tmp_path: Path) -> None:
    run = read_run({"q": [["a"], ["b"]]})
    rankings = run.rankings
    uneven = Rankings(
        rankings.over, rankings.query_ptr, rankings.item_ptr, rankings.item, np.array([0.3, 0.7]), rankings.label
    )
    with pytest.raises(ValueError, match="different weights"):
        write_run(tmp_path / "a", uneven, run.qids, run.docs)
    assert list(tmp_path.iterdir()) == []


def test_nothing_to_write(tmp_path: Path) -> None:
    for name in FORMS:
        with RunWriter(tmp_path / name):
            pass
        with pytest.raises(InputError, match=r"an empty file|no row"):
            read_run(tmp_path / name)
    assert gzip.decompress((tmp_path / "run.trec.gz").read_bytes()) == b""


def test_a_failed_job_leaves_no_file(tmp_path: Path) -> None:
    run = read_run({"q": [["a"]]})

    def fail(path: Path) -> None:
        with RunWriter(path) as file:
            file.write(run.rankings, run.qids, run.docs)
            raise RuntimeError("stop")

    for name in FORMS:
        with pytest.raises(RuntimeError, match="stop"):
            fail(tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_arrow_readers_see_plain_text(tmp_path: Path) -> None:
    run = read_run({"q": [["a"]]})
    write_run(tmp_path / "run.parquet", run.rankings, run.qids, run.docs)
    assert pq.read_schema(tmp_path / "run.parquet").field("docno").type == pa.string()
    assert pd.read_parquet(tmp_path / "run.parquet")["docno"].tolist() == ["a"]
