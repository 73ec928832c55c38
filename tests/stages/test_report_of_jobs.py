"""What stages hand to the report: group sizes, the trace of a sequence, optima, effort of fronts, the story."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from rerankers._base.errors import ConfigError
from rerankers._base.streams import query_streams
from rerankers.exposure import DCG, GERR, RBP
from rerankers.ledger import Impressions, Served
from rerankers.measures.evaluation import Evaluation, Options
from rerankers.measures.table import SCHEMA
from rerankers.stages.front_effort import FULL, MOST_SECONDS, QUICK, check_fronts, seconds_of
from rerankers.stages.fronts import Scene, fronts_asked
from rerankers.stages.pool import Pool
from rerankers.stages.report_fronts import front_lines, optima
from rerankers.stages.report_groups import coverage
from rerankers.stages.report_sequence import trace_of
from rerankers.stages.report_shares import DOCUMENTS, RELEVANT, TARGET, share_curves, shares_of
from rerankers.stages.report_story import browsing_words
from rerankers.values import Block, Candidates, GroupAlignment, Ids, Judgments, Topics

QIDS = ["q0", "q1", "q2"]


def world() -> tuple[Candidates, Judgments, GroupAlignment, Topics]:
    """Return three queries of four documents each; the last query has no judgment, the last document no group."""
    rows, indptr, doc = np.arange(3), np.array([0, 4, 8, 12]), np.tile(np.arange(4, dtype=np.int32), 3)
    candidates = Candidates(rows, indptr, doc, {"score": np.tile([4.0, 3.0, 2.0, 1.0], 3)})
    judgments = Judgments(rows[:2], indptr[:3], doc[:8], {"grade": np.array([1, 0, 1, 0, 0, 2, 0, 1], np.int16)})
    entries = (np.array([0, 1, 1, 2]), np.array([0, 0, 1, 1], np.int32), np.ones(4))
    groups = GroupAlignment.of_entries("size", ("small", "large"), *entries, 4).resolve("drop")
    return candidates, judgments, groups, Topics.of(QIDS, ["a b", "", "c"])


def scene(model: object = None, queries: int = 2) -> Scene:
    """Return the judged queries; more than two of them are the same two again under other codes."""
    candidates, judgments, groups, _ = world()
    rows, indptr = np.arange(queries), np.arange(queries + 1) * 4
    doc, grade = np.tile(candidates.doc[:4], queries), np.tile(judgments.grade, queries // 2)
    units = [f"q{row}" for row in range(queries)]
    block = Block(Candidates(rows, indptr, doc), query_streams(units), browsing=model or GERR())
    own = Judgments(rows, indptr, doc, {"grade": grade})
    return Scene(block, units, own, {"size": groups}, Options(browsing=model or GERR(), max_grade=2))


def test_group_sizes_and_coverage() -> None:
    candidates, judgments, groups, _ = world()
    (table,) = coverage({"size": groups}, candidates, judgments)
    assert table.title == "size"
    assert [list(row) for row in table.rows] == [
        ["small", "2", "6", "50.0 %", "4", "2", "50.0 %"],
        ["large", "2", "6", "50.0 %", "4", "2", "50.0 %"],
        ["no group", "1", "3", "25.0 %", "2", "1", "25.0 %"],
        ["all", "4", "12", "100.0 %", "8", "4", "100.0 %"],
    ]
    assert "counts once in each" in table.note
    assert coverage({}, candidates, judgments) == []


def test_the_trace_ends_at_the_measures_of_what_was_served() -> None:
    candidates, judgments, groups, topics = world()
    docs = Ids.of([f"d{number}" for number in range(4)], "document")
    asked = np.array([1, 0, 2, 0, 1, 0])
    impressions = Impressions.of(["s"], np.zeros(6, np.int32), asked, QIDS, topics.ids, candidates)
    draw = np.random.default_rng(1)
    item = np.concatenate([draw.permutation(4) for _ in range(6)]).astype(np.int32)
    served = Served(candidates, impressions, np.arange(7, dtype=np.int64) * 4, item, {})
    options = Options(browsing=GERR(), max_grade=2)
    trace = trace_of(served, Pool(docs, topics, candidates, judgments, {"size": groups}), options)
    assert trace is not None
    assert trace.impression == [1, 2, 4, 5, 6]
    assert trace.left_out == 1
    own = Evaluation(served.rankings(), judgments, {"size": groups}, options)
    rest = own.exposure(GERR()) - own.target(GERR())
    judged = own.query_judged
    assert trace.loss["documents, by query"][-1] == pytest.approx(own.per_row(rest * rest)[judged].mean())
    by_group = own.by_group("size", rest)[judged]
    assert trace.loss["size, by query"][-1] == pytest.approx(np.square(by_group).sum(axis=1).mean())
    times = np.array([3, 2])[:, None]
    given = (times * own.by_group("size", own.exposure(GERR()))[judged]).sum(axis=0)
    due = (times * own.by_group("size", own.target(GERR()))[judged]).sum(axis=0)
    assert [trace.given["size"][name][-1] for name in ("small", "large")] == pytest.approx(given)
    assert [trace.due["size"][name][-1] for name in ("small", "large")] == pytest.approx(due)
    together = trace.loss["size, all queries together"][-1]
    assert together == pytest.approx(np.square((given - due) / 5).sum())


def test_a_sequence_without_judged_queries_has_no_trace() -> None:
    candidates, judgments, groups, topics = world()
    docs = Ids.of([f"d{number}" for number in range(4)], "document")
    impressions = Impressions.of(["s"], np.zeros(1, np.int32), np.array([2]), QIDS, topics.ids, candidates)
    served = Served(candidates, impressions, np.array([0, 4]), np.arange(4, dtype=np.int32), {})
    pool = Pool(docs, topics, candidates, judgments, {"size": groups})
    assert trace_of(served, pool, Options(browsing=RBP())) is None


def test_optima_bound_what_a_method_has() -> None:
    given = scene()
    fronts, _ = fronts_asked(given, None, True)
    lines = front_lines(fronts)
    assert [(line.name, line.groups) for line in lines] == [("oracle front", False), ("oracle front", True)]
    for line in lines:
        assert line.utility == sorted(line.utility)
        assert line.loss[0] <= line.loss[-1] + 1e-6
    values = {"utility": (0.2, 0.3), "EEL": (0.4, 0.6), "group_EEL": (0.4, 0.5)}
    rows = [
        ("m", 0, unit, key, value, None)
        for key, pair in values.items()
        for unit, value in zip(QIDS[:2], pair, strict=True)
    ]
    table = pa.Table.from_pylist([dict(zip(SCHEMA.names, row, strict=True)) for row in rows], schema=SCHEMA)
    found = optima(fronts, table, "m", seed=0, resamples=50, level=0.9)
    assert [one.at for one in found] == ["the utility of m", "the utility of m"]
    for one, loss in zip(found, (0.5, 0.45), strict=True):
        assert one.utility == pytest.approx(0.25)
        assert one.loss is not None
        assert one.loss < loss
        assert one.interval is not None
        assert one.interval[0] <= one.loss <= one.interval[1]
    high = table.set_column(4, SCHEMA.field("value"), pa.array([9.0] * len(table)))
    assert {one.loss for one in optima(fronts, high, "m", seed=0, resamples=50, level=0.9)} == {None}


def test_automatic_fronts_are_near_and_bounded() -> None:
    given = scene()
    quick, words = fronts_asked(given, None, "auto")
    close, none = fronts_asked(given, None, True)
    assert none == ""
    assert "5 weights" in words
    for near, far in zip(front_lines(close), front_lines(quick), strict=True):
        assert len(far.utility) == len(QUICK.weights) < len(FULL.weights) == len(near.utility)
        assert min(far.loss) == pytest.approx(min(near.loss), abs=5e-3)
        assert max(far.utility) == pytest.approx(max(near.utility), abs=5e-3)
    assert fronts_asked(given, None, False) == ({}, "Not computed: measures.fronts=false.")


def test_automatic_fronts_of_much_work_are_left_out() -> None:
    seconds = seconds_of(scene(queries=4000), truth=False)
    assert seconds is not None
    assert seconds > MOST_SECONDS
    found, words = fronts_asked(scene(queries=4000), None, "auto")
    assert found == {}
    assert "measures.fronts=true asks for them" in words
    few = seconds_of(scene(), truth=False)
    assert few is not None
    assert few < 1.0
    alike = seconds_of(scene(DCG()), truth=False)
    assert alike is not None
    assert alike > few, "taking a policy apart into rankings costs more where all documents are browsed alike"


@pytest.mark.parametrize("wanted", ["yes", "AUTO", 1, None])
def test_other_wishes_are_refused(wanted: object) -> None:
    with pytest.raises(ConfigError, match=r"measures\.fronts.*auto, true or false"):
        check_fronts(wanted)


def test_shares_of_the_ideal_are_what_is_due() -> None:
    candidates, judgments, groups, _ = world()
    options = Options(browsing=RBP(0.5))
    from rerankers.measures.anchors import anchors

    around = anchors(candidates, judgments, query_streams(QIDS), "union")
    found = share_curves(
        shares_of({name: Evaluation(one, judgments, {"size": groups}, options) for name, one in around.items()})
    )
    gini = {kind: {curve.system: curve.gini for curve in curves} for kind, curves in found.items()}
    assert gini[DOCUMENTS]["anchor:random"] == pytest.approx(0.0, abs=1e-9)
    assert gini[DOCUMENTS]["anchor:ideal"] == pytest.approx(gini[DOCUMENTS][TARGET], abs=1e-9)
    assert gini[RELEVANT]["anchor:ideal"] == pytest.approx(0.0, abs=1e-9)
    assert gini[RELEVANT]["anchor:worst_first"] > 0.0
    assert {curve.queries for curve in found[DOCUMENTS]} == {2}


def test_what_is_assumed_of_users() -> None:
    assert "with probability 0.8" in browsing_words(RBP(0.8))
    assert "nobody looks beyond rank 5" in browsing_words(DCG(5))
    assert "as None says" in browsing_words(None)


def test_an_evaluation_has_the_oracle_front_alone(tmp_path: Path) -> None:
    from rerankers.cli import main

    lines = ["q0 Q0 d2 1 3 x", "q0 Q0 d1 2 2 x", "q0 Q0 d0 3 1 x", "q1 Q0 d1 1 2 x", "q1 Q0 d3 2 1 x"]
    (tmp_path / "run.trec").write_text("\n".join(lines) + "\n")
    (tmp_path / "qrels.txt").write_text("q0 0 d0 1\nq0 0 d2 0\nq1 0 d1 1\nq1 0 d3 2\n")
    words = [f"run={tmp_path / 'run.trec'}", f"qrels={tmp_path / 'qrels.txt'}", "measures.resamples=20"]
    assert main(["evaluate", *words, f"output={tmp_path / 'out'}"]) == 0
    fronts = pq.read_table(tmp_path / "out" / "fronts.parquet")
    assert set(fronts["front"].to_pylist()) == {"oracle front, documents"}
    assert set(fronts["unit"].to_pylist()) == {"q0", "q1"}
    page = (tmp_path / "out" / "report.html").read_text()
    assert "oracle front at the utility of run" in page
    assert "nothing was ranked again" in page
    runs = json.loads((tmp_path / "out" / "measures.json").read_text())["runs"]
    assert not [name for name in runs if "front" in name], "fronts are no systems"
    assert main(["evaluate", *words, "measures.fronts=false", f"output={tmp_path / 'none'}"]) == 0
    assert not (tmp_path / "none" / "fronts.parquet").exists()
    assert "measures.fronts=false" in (tmp_path / "none" / "report.html").read_text()
