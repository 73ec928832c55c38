"""Submissions: exact form, really different rankings, equal bytes for equal seeds, nothing invalid in place."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rerankers._base.errors import ConfigError, InputError
from rerankers._base.streams import query_streams
from rerankers.exposure.browsing import GERR
from rerankers.exposure.rankings import exposure_of
from rerankers.exposure.targets import equal_exposure
from rerankers.policies import GradeShuffle, Mixture, PlackettLuce, Policy
from rerankers.policies.mallows import Mallows
from rerankers.policies.mixture import static
from rerankers.policies.transpositions import Transpositions
from rerankers.tracks.candidates import QueryFile, read_queries
from rerankers.tracks.losses import losses, read_judgments
from rerankers.tracks.policy_rows import take_rows
from rerankers.tracks.schedules import part_seed
from rerankers.tracks.sequences import Sequence, generate_sequence, read_sequence
from rerankers.tracks.submit import submit
from rerankers.tracks.track import track_of
from rerankers.values import Ids, Ragged, Rankings

QUERIES = {"12": ["b", "a", "é", "d"], "7": ["a", "x"], "30": ["d", "c", "b", "a", "e", "f"]}
DOCS = Ids.union([docno for docnos in QUERIES.values() for docno in docnos])


def rows_of(queries: dict[str, list[str]], docs: Ids) -> Ragged:
    indptr = np.concatenate([[0], np.cumsum([len(docnos) for docnos in queries.values()])])
    code = docs.codes([docno for docnos in queries.values() for docno in docnos])
    return Ragged(np.arange(len(queries)), indptr, code)


OVER = rows_of(QUERIES, DOCS)
STREAM = query_streams(QUERIES)
QIDS = tuple(QUERIES)
SCORE = np.random.default_rng(5).normal(size=OVER.nnz)


def mixture() -> Mixture:
    orders = [np.argsort(np.random.default_rng(row).random((4, size)), axis=1) for row, size in enumerate(OVER.lengths)]
    return Mixture(Rankings.of_matrix(OVER, orders), STREAM)


POLICIES: dict[str, Policy] = {
    "plackett_luce": PlackettLuce(OVER, SCORE, STREAM),
    "grade_shuffle": GradeShuffle(OVER, np.round(SCORE), STREAM),
    "mallows": Mallows.by_score(OVER, SCORE, 0.3, STREAM),
    "transpositions": Transpositions.of_exposure(OVER, np.repeat(1 / OVER.lengths, OVER.lengths), [1.0], STREAM),
    "mixture": mixture(),
}


def query_file(folder: Path, queries: dict[str, list[str]] = QUERIES) -> QueryFile:
    path = folder / "queries.json"
    with path.open("w", encoding="utf-8") as stream:
        for qid, docnos in queries.items():
            documents = [{"doc_id": docno, "relevance": int(docno in "ae")} for docno in docnos]
            line = {"qid": int(qid), "query": "x", "frequency": 1.0, "documents": documents}
            stream.write(json.dumps(line) + "\n")
    return read_queries(path)


def sequence_file(folder: Path, text: str = "") -> Sequence:
    path = folder / "sequence.csv"
    entries = [f"{s}.{n},{qid}\n" for s, qid in enumerate(QUERIES) for n in range(12)]
    path.write_text(text or "".join(entries))
    return read_sequence(path)


def lines_of(path: Path) -> list[dict[str, Any]]:
    data = path.read_bytes()
    text = gzip.decompress(data) if path.suffix == ".gz" else data
    return [json.loads(line) for line in text.decode("utf-8").splitlines()]


def published(policy: Policy, row: int, n: int, seed: int, depth: int | None = None) -> list[list[str]]:
    """Return what the policy's schedule says for a row, by names."""
    rankings = policy.schedule(n, seed, depth)
    names = DOCS.take(policy.over.doc[policy.over.row(row)])
    out = []
    for which in range(int(rankings.query_ptr[row]), int(rankings.query_ptr[row + 1])):
        items = rankings.item[rankings.item_ptr[which] : rankings.item_ptr[which + 1]]
        out.append([names[item] for item in items.tolist()])
    return out


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


def test_losses_are_those_of_plain_sums(tmp_path: Path) -> None:
    query_file(tmp_path)
    (tmp_path / "qrels.txt").write_text(
        "".join(f"{qid} 0 {d} {int(d in 'ae')}\n" for qid, docnos in QUERIES.items() for d in docnos if qid != "7")
    )
    policy = POLICIES["plackett_luce"]
    out = tmp_path / "out.jsonl"
    track = track_of("2020-rerank")
    done = submit(
        track, policy, QIDS, DOCS, out, queries=query_file(tmp_path), sequence=sequence_file(tmp_path), seed=4
    )
    judgments = read_judgments(tmp_path / "qrels.txt", QIDS, DOCS)
    found = losses(policy, done.schedules.parts, judgments, track, 4)
    assert found is not None
    grade = np.array([float(name in "ae") for name in DOCS.take(OVER.doc)])
    browsing = GERR(0.5, 0.5).bind(grade, OVER.indptr)
    target = equal_exposure(OVER.indptr, grade, browsing)
    rankings = policy.schedule(12, 4)
    exposure = policy.exposure(browsing)
    of_file = exposure_of(rankings, browsing)
    assert exposure is not None
    assert of_file.square is not None
    file, own, apart = [], [], []
    for row in (0, 2):
        part = OVER.row(row)
        file.append(((of_file.value[part] - target[part]) ** 2).sum())
        own.append(((exposure.value[part] - target[part]) ** 2).sum())
        apart.append(own[-1] + (of_file.square[row] - (exposure.value[part] ** 2).sum()) / 12)
    assert found.file == pytest.approx(np.mean(file), abs=1e-12)
    assert found.policy == pytest.approx(np.mean(own), abs=1e-12)
    assert found.independent == pytest.approx(np.mean(apart), abs=1e-12)
    assert (found.exact, found.schedules) == (True, 2)
    both = read_judgments(tmp_path / "queries.json", QIDS, DOCS)
    again = losses(policy, done.schedules.parts, both, track, 4)
    assert again is not None
    assert again.schedules == 3


@pytest.mark.shared_data
def test_a_policy_of_the_2020_data_comes_back_valid(shared: Path, tmp_path: Path) -> None:
    folder = shared / "data" / "trec-fair-2020"
    queries = read_queries(folder / "TREC-Fair-Ranking-eval-sample.json")
    sequence = read_sequence(folder / "TREC-Fair-Ranking-eval-seq.csv")
    names = {qid: sorted(query.documents) for qid, query in queries.queries.items()}
    docs = Ids.union([docno for docnos in names.values() for docno in docnos])
    over = rows_of(names, docs)
    policy = GradeShuffle(over, np.zeros(over.nnz), query_streams(names))
    out = tmp_path / "out.jsonl.gz"
    track = track_of("2020-rerank")
    done = submit(track, policy, tuple(names), docs, out, queries=queries, sequence=sequence, seed=1)
    assert (done.rankings, min(done.different)) == (30_000, 150)
    assert done.warnings == ()
    judgments = read_judgments(folder / "TREC-Fair-Ranking-eval-sample.json", tuple(names), docs)
    found = losses(policy, done.schedules.parts, judgments, track, 1)
    assert found is not None
    assert found.exact
    assert found.policy < found.file < found.independent
    assert found.independent == pytest.approx(0.512, abs=0.005)  # seeds of 150 uniform shuffles give .509 to .515
