"""Query sequences: text, never numbers; drawn by frequency."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rerankers._base.errors import InputError, MissingError
from rerankers.tracks.sequences import generate_sequence, read_sequence, write_sequence


def written(folder: Path, text: str) -> Path:
    path = folder / "sequence.csv"
    path.write_text(text, encoding="utf-8")
    return path


def test_ids_are_text(tmp_path: Path) -> None:
    found = read_sequence(written(tmp_path, "0.1,5\r\n0.10,7\r\n 0.100 , 5 \n\n1.1,5"))
    assert found.q_num == ("0.1", "0.10", "0.100", "1.1")
    assert found.qids == ("5", "7")
    assert found.query.tolist() == [0, 1, 0, 0]
    assert found.names == ("0", "1")
    assert found.sequence.tolist() == [0, 0, 0, 1]
    assert found.counts.tolist() == [3, 1]
    assert found.place["0.10"] == 1


def test_a_single_sequence_needs_no_dot(tmp_path: Path) -> None:
    found = read_sequence(written(tmp_path, "0,5\n1,7\n"))
    assert found.q_num == ("0", "1")
    assert found.names == ("0",)


def test_every_problem_at_once(tmp_path: Path) -> None:
    path = written(tmp_path, "0.0,5\nq_num,qid\n0.0,5\n0.1;5\n0.2,5.0\n0.3,\n1e-1,5\n٠.٣,5\n")
    with pytest.raises(InputError) as caught:
        read_sequence(path)
    assert [problem.line for problem in caught.value.problems] == [2, 3, 4, 5, 6, 7, 8]
    assert "'0.0' again, first on line 1" in str(caught.value)
    with pytest.raises(InputError, match="no entry"):
        read_sequence(written(tmp_path, "\n"))
    with pytest.raises(MissingError):
        read_sequence(tmp_path / "none.csv")


def test_compressed(tmp_path: Path) -> None:
    path = tmp_path / "s.csv.gz"
    path.write_bytes(gzip.compress(b"3.149,12\n"))
    assert read_sequence(path).q_num == ("3.149",)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 400), st.integers(1, 9)), min_size=1))
def test_property_written_and_read_again(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[int, int, int]]
) -> None:
    folder = tmp_path_factory.mktemp("s")
    lines = list({f"{s}.{n}": f"{s}.{n},{q}" for s, n, q in rows}.values())
    path = written(folder, "".join(f"{line}\n" for line in lines))
    again = folder / "again.csv"
    write_sequence(again, read_sequence(path))
    assert again.read_text() == path.read_text()


def test_drawn_in_proportion_to_frequency() -> None:
    frequency = {"8": 2e-5, "3": 1e-5, "5": 0.0, "1": 5e-5}
    found = generate_sequence(frequency, 2, 40_000, seed=3)
    assert len(found) == 80_000
    assert found.q_num[0] == "0.0"
    assert found.q_num[-1] == "1.39999"
    assert set(found.qids) == {"8", "3", "1"}
    for sequence in (0, 1):
        query = found.query[found.sequence == sequence]
        share = dict(zip(found.qids, (np.bincount(query, minlength=3) / 40_000).tolist(), strict=True))
        # Four standard errors of a share near one half are 0.01.
        assert share == pytest.approx({"8": 0.25, "3": 0.125, "1": 0.625}, abs=0.01)
    assert not np.array_equal(found.query[:40_000], found.query[40_000:])


def test_draws_depend_on_the_seed_alone() -> None:
    frequency = {"8": 2.0, "3": 1.0}
    short, long = generate_sequence(frequency, 1, 50, seed=3), generate_sequence(frequency, 2, 90, seed=3)
    assert [short.qids[q] for q in short.query] == [long.qids[q] for q in long.query[:50]]
    other = generate_sequence(frequency, 1, 50, seed=4)
    assert [short.qids[q] for q in short.query] != [other.qids[q] for q in other.query]


@pytest.mark.parametrize(
    ("frequency", "message"),
    [({"1": -1.0}, "1: -1"), ({"1": float("nan")}, "1: nan"), ({"1": 0.0}, "zeros"), ({}, "zeros")],
)
def test_frequencies_that_are_none(frequency: dict[str, float], message: str) -> None:
    with pytest.raises(InputError, match=message):
        generate_sequence(frequency, 1, 5, seed=0)
    with pytest.raises(InputError, match="1 or more"):
        generate_sequence({"1": 1.0}, 0, 5, seed=0)


@pytest.mark.shared_data
@pytest.mark.parametrize(
    ("file", "entries", "sequences", "queries"),
    [
        ("trec-fair-2019/fair-TREC-evaluation-sequences.csv", 125_000, 5, 635),
        ("trec-fair-2020/TREC-Fair-Ranking-eval-seq.csv", 30_000, 200, 200),
    ],
)
def test_the_tracks_own_files(shared: Path, file: str, entries: int, sequences: int, queries: int) -> None:
    found = read_sequence(shared / "data" / file)
    assert (len(found), len(found.names), len(found.qids)) == (entries, sequences, queries)
    assert len(found.place) == entries
