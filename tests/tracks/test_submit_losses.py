"""What a submission and its policy lose, of documents and of groups."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from submission_worlds import (
    DOCS,
    OVER,
    POLICIES,
    QIDS,
    QUERIES,
    mixture,
    query_file,
    rows_of,
    sequence_file,
)

from rerankers._base.streams import query_streams
from rerankers.exposure.browsing import GERR
from rerankers.exposure.rankings import exposure_of
from rerankers.exposure.targets import equal_exposure
from rerankers.policies import GradeShuffle
from rerankers.tracks import trec2020
from rerankers.tracks.candidates import read_queries
from rerankers.tracks.losses import losses, read_judgments, read_loss_groups
from rerankers.tracks.preset import Inputs
from rerankers.tracks.sequences import read_sequence
from rerankers.tracks.submit import Submission, submit
from rerankers.tracks.track import track_of
from rerankers.values import Ids, Ragged

Array = NDArray[np.float64]


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
    judgments, _ = read_judgments(tmp_path / "qrels.txt", QIDS, DOCS, track)
    (found,) = losses(policy, done.schedules.parts, judgments, track, 4)
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
    both, _ = read_judgments(tmp_path / "queries.json", QIDS, DOCS, track)
    (again,) = losses(policy, done.schedules.parts, both, track, 4)
    assert again.schedules == 3


GROUPS = {"a": "north", "b": "south", "d": "north", "é": "south", "x": "south", "c": "north"}


def evaluated(preset: str, run: Path, qrels: Path, groups: Path) -> dict[str, float]:
    """Return the means of a preset's measures of a file."""
    inputs = Inputs(runs=(run,), qrels=qrels, groups=groups, sequence=None, targets=None)
    (table,) = (t for name, t in trec2020.preset(preset).evaluate(inputs).tables.items() if "anchor" not in name)
    rows = [(row["measure"], row["value"]) for row in table.to_pylist()]
    return {key: float(np.mean([value for name, value in rows if name == key])) for key, _ in rows}


@pytest.mark.parametrize("name", ["2020-rerank", "2020-retrieval"])
def test_losses_of_a_file_are_those_of_its_evaluation(tmp_path: Path, name: str) -> None:
    qrels, groups, out = tmp_path / "qrels.txt", tmp_path / "groups.csv", tmp_path / "out.jsonl"
    judged = [(qid, d) for qid, docnos in QUERIES.items() for d in docnos if (qid, d) != ("30", "f")]
    judged += [("12", "never ranked"), ("7", "nor this")] if name == "2020-retrieval" else []
    qrels.write_text("".join(f"{q} 0 {d.replace(' ', '_')} {int(d[0] in 'aen')}\n" for q, d in judged))
    groups.write_text("docno,group\nnever_ranked,south\n" + "".join(f"{d},{g}\n" for d, g in GROUPS.items()))
    policy, track = POLICIES["plackett_luce"], track_of(name)
    done = submit(
        track, policy, QIDS, DOCS, out, queries=query_file(tmp_path), sequence=sequence_file(tmp_path), seed=4
    )
    judgments, docs = read_judgments(qrels, QIDS, DOCS, track)
    alignment = read_loss_groups(groups, docs, judgments, None).alignment
    of_documents, of_groups = losses(policy, done.schedules.parts, judgments, track, 4, alignment)
    assert (of_documents.attribute, of_groups.attribute) == (None, "group")
    expected = evaluated(f"trec{name.replace('-', '_')}_corrected", out, qrels, groups)
    assert of_documents.file == pytest.approx(expected["EEL"], abs=1e-12)
    assert of_groups.file == pytest.approx(expected["group_EEL"], abs=1e-12)


def test_group_losses_are_those_of_plain_sums(tmp_path: Path) -> None:
    """The policy's own loss and that of independent draws, by all rankings of a mixture."""
    (tmp_path / "groups.csv").write_text("docno,group\n" + "".join(f"{d},{g}\n" for d, g in GROUPS.items()))
    queries, track, policy = query_file(tmp_path), track_of("2020-rerank"), mixture()
    sequence = sequence_file(tmp_path)
    done = submit(track, policy, QIDS, DOCS, tmp_path / "o.jsonl", queries=queries, sequence=sequence, seed=4)
    judgments, docs = read_judgments(tmp_path / "queries.json", QIDS, DOCS, track)
    alignment = read_loss_groups(tmp_path / "groups.csv", docs, judgments, None).alignment
    _, found = losses(policy, done.schedules.parts, judgments, track, 4, alignment)
    names = ["north", "south", ""]
    own, apart = [], []
    for row, docnos in enumerate(QUERIES.values()):
        grade = {d: float(d in "ae") for d in docnos}
        part = OVER.row(row)
        order = DOCS.take(OVER.doc[part])
        member = np.array([[GROUPS.get(d, "") == name for name in names] for d in order], dtype=float)
        one = Ragged([0], [0, len(order)], np.arange(len(order)))
        grades = np.array([grade[d] for d in order])
        target = equal_exposure(one.indptr, grades, GERR(0.5, 0.5).bind(grades, one.indptr)) @ member
        each = []
        for which in range(4):
            items = policy.rankings.item[
                policy.rankings.item_ptr[4 * row + which] : policy.rankings.item_ptr[4 * row + which + 1]
            ]
            exposure, seen = np.zeros(len(order)), 1.0
            for item in items.tolist():
                exposure[item] = seen
                seen *= 0.5 * (0.5 if grades[item] > 0 else 1.0)
            each.append(exposure @ member)
        mean = np.mean(each, axis=0)
        own.append(((mean - target) ** 2).sum())
        published_square = found_square(done, row, grades, member)
        apart.append(own[-1] + (published_square - (mean**2).sum()) / 12)
    assert found.policy == pytest.approx(np.mean(own), abs=1e-12)
    assert found.independent == pytest.approx(np.mean(apart), abs=1e-12)
    assert found.exact


def found_square(done: Submission, row: int, grades: Array, member: Array) -> float:
    """Return the mean squared norm of the groups' exposure in one published ranking."""
    squares = []
    for number in range(12):
        exposure, seen = np.zeros(len(grades)), 1.0
        for item in done.schedules.positions(row, 0, number).tolist():
            exposure[item] = seen
            seen *= 0.5 * (0.5 if grades[item] > 0 else 1.0)
        squares.append(float(((exposure @ member) ** 2).sum()))
    return float(np.mean(squares))


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
    judgments, docs = read_judgments(folder / "TREC-Fair-Ranking-eval-sample.json", tuple(names), docs, track)
    groups = read_loss_groups(folder / "merged-annotations.json", docs, judgments, None)
    assert groups.counts["pairs"] - groups.counts["pairs_with_group"] == 2757
    found, of_groups = losses(policy, done.schedules.parts, judgments, track, 1, groups.alignment)
    assert of_groups.attribute == "level"
    assert of_groups.policy < of_groups.file < of_groups.independent
    assert found.exact
    assert found.policy < found.file < found.independent
    assert found.independent == pytest.approx(0.512, abs=0.005)  # seeds of 150 uniform shuffles give .509 to .515
