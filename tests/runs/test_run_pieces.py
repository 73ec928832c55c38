"""A run in pieces holds what the whole run holds, and says of a broken one what the whole says."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rerankers._base.byte_blocks import read_blocks
from rerankers._base.errors import InputError, MissingError
from rerankers.runs import read_run, write_run
from rerankers.runs.pieces import QueriesApartError, run_pieces
from rerankers.runs.run import Run


def long_form(runs: list[Run]) -> list[tuple[str, int, list[str]]]:
    out = []
    for run in runs:
        rankings = run.rankings
        for ranking, row in enumerate(rankings.row_of_ranking.tolist()):
            part = slice(rankings.item_ptr[ranking], rankings.item_ptr[ranking + 1])
            docs = run.docs.take(rankings.over.doc[rankings.flat[part]])
            out.append((run.qids[row], int(rankings.label[ranking]), docs))
    return out


def write_lines(path: Path, lengths: list[int], seed: int, samples: int = 1) -> None:
    rng = np.random.default_rng(seed)
    lines = []
    for query, length in enumerate(lengths):
        for sample in range(samples):
            for rank, doc in enumerate(rng.permutation(30)[:length], 1):
                lines.append(f"q{query} {sample} d{doc} {rank} {1 / rank} me\n")
    path.write_text("".join(lines))


@given(st.lists(st.integers(1, 9), min_size=1, max_size=12), st.integers(1, 20), st.integers(1, 3))
def test_pieces_hold_the_whole(tmp_path_factory: pytest.TempPathFactory, lengths: list[int], rows: int, n: int) -> None:
    path = tmp_path_factory.mktemp("run") / "my.run"
    write_lines(path, lengths, 3, n)
    whole = read_run(path)
    pieces = list(run_pieces(path, rows))
    assert long_form(pieces) == long_form([whole])
    assert {piece.name for piece in pieces} == {whole.name}
    packed = path.with_name("run.parquet")
    write_run(packed, whole.rankings, whole.qids, whole.docs)
    assert long_form(list(run_pieces(packed, rows))) == long_form([whole])


def test_small_files_are_one_piece(tmp_path: Path) -> None:
    path = tmp_path / "my.run"
    write_lines(path, [3, 4], 1)
    (piece,) = run_pieces(path)
    whole = read_run(path)
    assert piece.counts == whole.counts
    assert piece.rankings.over.columns["score"].tolist() == whole.rankings.over.columns["score"].tolist()


def test_pieces_end_with_a_query(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rerankers.runs.trec.read_blocks", partial(read_blocks, size=40))
    path = tmp_path / "my.run"
    write_lines(path, [3, 1, 4, 2, 5], 1)
    found = [piece.qids for piece in run_pieces(path, 4)]
    assert len(found) > 1
    assert sum(found, ()) == tuple(f"q{number}" for number in range(5))


@pytest.mark.parametrize("rows", [2, 1000])
@pytest.mark.parametrize(
    "wrong", ["q1 0 d1 x 1 me\n", "q1 0 d1 3\n", "q1 0 d9 1 nan me\n", "q9 0 d1 5 1 me\nq9 0 d1 6 1 me\n"]
)
def test_problems_are_those_of_the_whole(tmp_path: Path, rows: int, wrong: str) -> None:
    path = tmp_path / "my.run"
    write_lines(path, [3, 4, 2], 1)
    path.write_text(path.read_text() + wrong + "q7 0 d1 y 2 me\n")
    with pytest.raises(InputError) as caught:
        list(run_pieces(path, rows))
    with pytest.raises(InputError) as expected:
        read_run(path)
    assert str(expected.value).split("\n")[0] in str(caught.value)


def test_rows_of_parquet_pieces_keep_their_numbers(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    names = [f"q{row // 3}" for row in range(9)]
    docs = ["a", "b", "c", "a", "b", "c", "a", "b", "b"]
    pq.write_table(
        pa.table({"qid": names, "docno": docs, "rank": [1, 2, 3] * 3}), tmp_path / "run.parquet", row_group_size=2
    )
    with pytest.raises(InputError, match="'b' again in query 'q2'") as caught:
        list(run_pieces(tmp_path / "run.parquet", 3))
    assert caught.value.problems[0].line == 9


@pytest.mark.parametrize("packed", [False, True])
def test_queries_apart_are_told(tmp_path: Path, packed: bool) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    names, ranks = ["a", "a", "b", "b", "a", "b"], [1, 3, 1, 2, 2, 3]
    if packed:
        path = tmp_path / "run.parquet"
        pq.write_table(pa.table({"qid": names, "docno": list("uvwxyz"), "rank": ranks}), path)
    else:
        path = tmp_path / "my.run"
        path.write_text("".join(f"{q} 0 {d} {r} {9 - r} me\n" for q, d, r in zip(names, "uvwxyz", ranks, strict=True)))
    with pytest.raises(QueriesApartError):
        list(run_pieces(path, 2))
    assert long_form(list(run_pieces(path, 100))) == [("a", 0, ["u", "y", "v"]), ("b", 0, ["w", "x", "z"])]


def test_no_file_and_no_line(tmp_path: Path) -> None:
    with pytest.raises(MissingError):
        list(run_pieces(tmp_path / "none.run"))
    (tmp_path / "empty.run").write_text("\n")
    with pytest.raises(InputError):
        list(run_pieces(tmp_path / "empty.run"))
