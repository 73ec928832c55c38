"""Submissions: exact form, really different rankings, equal bytes for equal seeds, nothing invalid in place."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest
from submission_worlds import (
    DOCS,
    OVER,
    POLICIES,
    QIDS,
    QUERIES,
    SCORE,
    STREAM,
    lines_of,
    published,
    query_file,
    sequence_file,
)

from rerankers._base.errors import ConfigError, InputError
from rerankers._base.streams import query_streams
from rerankers.policies import Mixture, PlackettLuce
from rerankers.policies.mixture import static
from rerankers.policies.rows import take_rows
from rerankers.tracks.schedules import part_seed
from rerankers.tracks.sequences import generate_sequence
from rerankers.tracks.submit import submit
from rerankers.tracks.track import track_of
from rerankers.values import Ids, Ragged, Rankings


@pytest.mark.parametrize("kind", POLICIES)
def test_a_submission_is_the_policys_schedule(tmp_path: Path, kind: str) -> None:
    policy, sequence = POLICIES[kind], sequence_file(tmp_path)
    out = tmp_path / "out.jsonl"
    done = submit(
        track_of("2020-rerank"), policy, QIDS, DOCS, out, queries=query_file(tmp_path), sequence=sequence, seed=9
    )
    lines = lines_of(out)
    assert [line["q_num"] for line in lines] == list(sequence.q_num)
    assert [type(lines[0][key]) for key in ("q_num", "qid", "ranking")] == [str, int, list]
    for row, qid in enumerate(QIDS):
        mine = [line["ranking"] for line in lines if line["qid"] == int(qid)]
        assert mine == published(policy, row, 12, 9)
    assert (done.rankings, done.queries) == (36, 3)
    assert done.different == tuple(len({tuple(r) for r in published(policy, row, 12, 9)}) for row in range(3))


def test_bytes_of_the_exact_form(tmp_path: Path) -> None:
    sequence = sequence_file(tmp_path, "0.10,12\n")
    policy = static(OVER, stream=STREAM)
    out = tmp_path / "out.jsonl"
    submit(track_of("2019"), policy, QIDS, DOCS, out, queries=query_file(tmp_path), sequence=sequence)
    assert out.read_bytes() == '{"q_num": "0.10", "qid": 12, "ranking": ["b", "a", "é", "d"]}\n'.encode()


@pytest.mark.parametrize("name", ["out.jsonl", "out.jsonl.gz"])
def test_equal_seeds_give_equal_bytes(tmp_path: Path, name: str) -> None:
    queries, sequence, policy = query_file(tmp_path), sequence_file(tmp_path), POLICIES["plackett_luce"]
    made = []
    for run, seed in enumerate((3, 3, 4)):
        out = tmp_path / str(run) / name
        submit(track_of("2019"), policy, QIDS, DOCS, out, queries=queries, sequence=sequence, seed=seed)
        made.append(out.read_bytes())
    assert made[0] == made[1] != made[2]


def test_every_sequence_has_a_schedule_of_its_own(tmp_path: Path) -> None:
    sequence = generate_sequence({"12": 0.5, "7": 0.2, "30": 0.3}, 3, 40, seed=1)
    policy = POLICIES["plackett_luce"]
    out = tmp_path / "out.jsonl"
    submit(track_of("2019"), policy, QIDS, DOCS, out, queries=query_file(tmp_path), sequence=sequence, seed=5)
    lines = lines_of(out)
    assert [line["qid"] for line in lines] == [int(sequence.qids[query]) for query in sequence.query]
    for turn in range(3):
        for row, qid in enumerate(QIDS):
            mine = [x["ranking"] for x in lines if x["qid"] == int(qid) and x["q_num"].startswith(f"{turn}.")]
            assert mine == published(policy, row, len(mine), part_seed(5, turn))
    assert part_seed(5, 0) == 5


@pytest.mark.parametrize(
    ("track", "n", "depth"), [("2021-task2", 100, 50), ("2022-task2", 100, 20), ("2022-task1", 1, 500)]
)
def test_columns(tmp_path: Path, track: str, n: int, depth: int) -> None:
    docs = Ids.union([str(page) for page in range(100, 160)])
    over = Ragged(np.arange(2), [0, 60, 120], np.tile(np.arange(60), 2))
    policy = PlackettLuce(over, np.linspace(0, 3, 120), query_streams(["84", "9"]))
    out = tmp_path / "out.tsv.gz"
    done = submit(track_of(track), policy, ("84", "9"), docs, out, seed=2)
    rows = [line.split("\t") for line in gzip.decompress(out.read_bytes()).decode().splitlines()]
    if track_of(track).header:
        assert rows.pop(0) == list(track_of(track).columns)
    rankings = policy.schedule(n, 2, depth)
    expected = [
        [["84", "9"][row], str(number + 1), str(100 + item)] if n > 1 else [["84", "9"][row], str(100 + item)]
        for row in range(2)
        for number in range(n)
        for item in rankings.item[
            rankings.item_ptr[row * n + number] : rankings.item_ptr[row * n + number + 1]
        ].tolist()
    ]
    assert rows == expected
    assert any("fewer than 500 pages" in warning for warning in done.warnings) == (track == "2022-task1")


def test_retrieval_is_cut_at_its_depth(tmp_path: Path) -> None:
    docnos = [f"d{n:03d}" for n in range(130)]
    docs = Ids.union(docnos)
    policy = PlackettLuce(Ragged([0], [0, 130], np.arange(130)), np.zeros(130), query_streams(["12"]))
    queries = query_file(tmp_path, {"12": ["a"]})
    sequence = sequence_file(tmp_path, "".join(f"0.{n},12\n" for n in range(150)))
    out = tmp_path / "out.jsonl"
    done = submit(track_of("2020-retrieval"), policy, ("12",), docs, out, queries=queries, sequence=sequence)
    assert {len(line["ranking"]) for line in lines_of(out)} == {100}
    assert done.different == (150,)


def test_a_static_policy_is_warned_about(tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    policy = static(OVER, SCORE, STREAM)
    done = submit(
        track_of("2020-rerank"), policy, QIDS, DOCS, out, queries=query_file(tmp_path), sequence=sequence_file(tmp_path)
    )
    assert done.different == (1, 1, 1)
    assert any("a static run" in warning for warning in done.warnings)


def test_all_offenders_are_named_and_nothing_is_written(tmp_path: Path) -> None:
    sequence = sequence_file(tmp_path, "0.0,12\n1.0,7\n2.0,30\n3.0,99\n4.0,98\n")
    wanted = {**QUERIES, "12": ["a", "é", "zz", "y"], "99": ["a"], "98": ["b"]}
    out = tmp_path / "sub" / "out.jsonl"
    with pytest.raises(InputError) as caught:
        submit(
            track_of("2019"), POLICIES["mallows"], QIDS, DOCS, out,
            queries=query_file(tmp_path, wanted), sequence=sequence,
        )  # fmt: skip
    text = str(caught.value)
    assert "no rankings for 2 queries: '99', '98'" in text
    assert "query 12 with documents that are no candidates: 'b', 'd'" in text
    assert "query 12 without the candidates 'y', 'zz'" in text
    assert len(caught.value.problems) == 3
    assert not out.parent.exists()


def test_rankings_that_break_a_rule_are_not_written(tmp_path: Path) -> None:
    short = Mixture(Rankings.of_matrix(OVER, [np.array([[1, 0]])] * 3), STREAM)
    out = tmp_path / "out.jsonl"
    out.write_text("of before")
    with pytest.raises(InputError, match=r"out\.jsonl \(not written\):1: found a ranking without the candidates"):
        submit(track_of("2019"), short, QIDS, DOCS, out, queries=query_file(tmp_path), sequence=sequence_file(tmp_path))
    assert out.read_text() == "of before"
    assert [path.name for path in tmp_path.glob(".*")] == []


def test_ids_that_columns_cannot_hold(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"query 12 with documents 'b', 'a', 'é', 'd'"):
        submit(track_of("2022-task1"), POLICIES["mallows"], QIDS, DOCS, tmp_path / "o.tsv")


def test_words_that_do_not_go_together(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="queries and sequence"):
        submit(track_of("2019"), POLICIES["mallows"], QIDS, DOCS, tmp_path / "o.jsonl")
    with pytest.raises(ConfigError, match=r"\.zst"):
        submit(track_of("2022-task1"), POLICIES["mallows"], QIDS, DOCS, tmp_path / "o.tsv.zst")


@pytest.mark.parametrize("kind", POLICIES)
def test_rows_of_a_policy_draw_what_they_drew(kind: str) -> None:
    policy = POLICIES[kind]
    some = take_rows(policy, np.array([2, 0]))
    assert type(some) is type(policy)
    mine, whole = some.schedule(6, 3), policy.schedule(6, 3)
    for new, old in ((0, 2), (1, 0)):
        for n in range(6):
            a, b = int(mine.query_ptr[new]) + n, int(whole.query_ptr[old]) + n
            assert (
                mine.item[mine.item_ptr[a] : mine.item_ptr[a + 1]].tolist()
                == whole.item[whole.item_ptr[b] : whole.item_ptr[b + 1]].tolist()
            )


def test_what_fails_before_the_end_leaves_no_file(tmp_path: Path) -> None:
    def fails(_: object) -> None:
        raise InputError.one("qrels", "nothing", "something")

    out = tmp_path / "o" / "out.jsonl"
    with pytest.raises(InputError, match="qrels"):
        submit(
            track_of("2019"), POLICIES["mallows"], QIDS, DOCS, out,
            queries=query_file(tmp_path), sequence=sequence_file(tmp_path), before=fails,
        )  # fmt: skip
    assert list(out.parent.iterdir()) == []
