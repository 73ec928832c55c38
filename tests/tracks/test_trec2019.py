"""The presets of 2019: reference values of the official code, an own twin of the formulas, and what is refused."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rerankers._base.errors import InputError
from rerankers.tracks.preset import Inputs, Outcome, preset

OFFICIAL_BUT = {"exposure_weight": "attention_times_satisfaction", "label_multiplicity": "per_author"}


def write(folder: Path, case: dict[str, Any]) -> Inputs:
    folder.mkdir(parents=True, exist_ok=True)
    run, qrels = folder / "mine.jsonl", folder / "sample.json"
    groups, sequence = folder / "labels.csv", folder / "sequence.csv"
    run.write_text("".join(json.dumps(line) + "\n" for line in case["run"]))
    qrels.write_text("".join(json.dumps(line) + "\n" for line in case["groundtruth"]))
    groups.write_text("".join(line + "\n" for line in case["annotations"]))
    sequence.write_text("".join(line + "\n" for line in case["sequence"]))
    return Inputs((run,), qrels, groups, sequence)


def values(outcome: Outcome, system: str = "mine") -> dict[tuple[str, str], float]:
    return {(row["unit"], row["measure"]): row["value"] for row in outcome.tables[system].to_pylist()}


@pytest.mark.shared_data
def test_reference_cases(shared: Path, tmp_path: Path) -> None:
    cases = json.loads((shared / "oracles/trec/eval_2019_cases.json").read_text())["cases"]
    compared = 0
    for case in cases:
        inputs = write(tmp_path / case["name"], case)
        expected = case["expected"]["sequences"]
        if any("EXC" in str(value) for one in expected.values() for value in one.values()):
            with pytest.raises(InputError, match=r"document 'z' in entry '0.0', query '1'"):
                preset("trec2019_official").evaluate(inputs)
            continue
        outcome = preset("trec2019_official").evaluate(inputs)
        assert outcome.unit == "sequence"
        found = values(outcome)
        for name, one in expected.items():
            assert found[name, "utility"] == pytest.approx(one["utility"], rel=1e-12)
            assert found[name, "unfairness"] == pytest.approx(one["unfairness_l2"], rel=1e-12, abs=1e-15)
            compared += 1
        assert len(found) == 2 * len(expected)
    assert compared >= 8


def read_sample(path: Path) -> dict[str, dict[str, int]]:
    queries = [json.loads(line) for line in path.read_text().splitlines()]
    return {str(q["qid"]): {d["doc_id"]: d["relevance"] for d in q["documents"]} for q in queries}


Order = Callable[[int, list[str], dict[str, int]], list[str]]
ORDERS: dict[str, Order] = {
    "file_order": lambda _, docs, __: docs,
    "reverse_file_order": lambda _, docs, __: docs[::-1],
    "oracle_relevant_first": lambda _, docs, grades: sorted(docs, key=lambda d: -grades[d]),
    "alternate_by_q_num_parity": lambda n, docs, _: docs[:: -1 if n % 2 else 1],
}


@pytest.fixture(scope="module")
def real_runs(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Inputs:
    data = shared / "data/trec-fair-2019"
    sample = read_sample(data / "TREC-Competition-eval-sample-with-rel.json")
    lists = {qid: list(grades) for qid, grades in sample.items()}
    folder = tmp_path_factory.mktemp("runs")
    entries = [line.split(",") for line in (data / "fair-TREC-evaluation-sequences.csv").read_text().splitlines()]
    made: dict[tuple[str, str, int], str] = {}
    for name, order in ORDERS.items():
        with (folder / f"{name}.jsonl").open("w") as stream:
            for q_num, qid in entries:
                parity = int(q_num.partition(".")[2]) % 2
                key = (name, qid, parity)
                if key not in made:
                    made[key] = json.dumps(order(parity, lists[qid], sample[qid]))
                stream.write(f'{{"q_num": "{q_num}", "qid": {qid}, "ranking": {made[key]}}}\n')
    return Inputs(
        tuple(folder / f"{name}.jsonl" for name in ORDERS),
        data / "TREC-Competition-eval-sample-with-rel.json",
        data / "article-level.csv",
        data / "fair-TREC-evaluation-sequences.csv",
    )


@pytest.mark.slow
@pytest.mark.shared_data
@pytest.mark.parametrize(
    ("file", "part", "which"), [("article-level.csv", "level", (0, 3)), ("article-h_index_4.csv", "h_index_4", (2,))]
)
def test_full_evaluation_data(shared: Path, real_runs: Inputs, file: str, part: str, which: tuple[int, ...]) -> None:
    expected = json.loads((shared / "oracles/trec/eval_2019_real_data.json").read_text())["expected"][part]
    systems = tuple(real_runs.runs[place] for place in which)
    inputs = Inputs(systems, real_runs.qrels, shared / "data/trec-fair-2019" / file, real_runs.sequence)
    outcome = preset("trec2019_official").evaluate(inputs)
    for path in systems:
        found = values(outcome, path.stem)
        for sequence, one in expected[path.stem].items():
            assert found[sequence, "utility"] == pytest.approx(one["utility"], rel=1e-9)
            assert found[sequence, "unfairness"] == pytest.approx(one["unfairness_l2"], rel=1e-9)
    assert outcome.counts["sequence"] == {"entries": 125_000, "sequences": 5, "queries": 635}
    if part == "level":
        corrected = preset("trec2019_official", unannotated_continuation="update").evaluate(
            Inputs(systems[:1], inputs.qrels, inputs.groups, inputs.sequence)
        )
        assert values(corrected, "file_order")["0", "unfairness"] == pytest.approx(0.0180229, abs=5e-8)


def case_of(rng: np.random.Generator) -> dict[str, Any]:
    """A small random world: two sequences, repeated labels, documents without any, empty labels."""
    docs = [f"d{n}" for n in range(8)]
    lists = {qid: list(rng.permutation(docs)[: rng.integers(2, 6)]) for qid in (1, 2, 3)}
    grades = {qid: {d: int(rng.integers(0, 2)) for d in own} for qid, own in lists.items()}
    for own in grades.values():
        own[next(iter(own))] = 1
    labels = {d: [str(rng.choice(["A", "B", "", "C"])) for _ in range(rng.integers(1, 4))] for d in docs[:6]}
    labels[lists[1][0]] = ["A", "B", "B"]
    sequence = [f"{s}.{k},{rng.integers(1, 4)}" for s in (0, 1) for k in range(12)] + ["0.99,1", "1.99,1"]
    run = [
        {
            "q_num": line.partition(",")[0],
            "qid": int(line.partition(",")[2]),
            "ranking": list(rng.permutation(lists[int(line.partition(",")[2])])),
        }
        for line in sequence
    ]
    truth = [
        {"qid": qid, "query": "x", "documents": [{"doc_id": d, "relevance": r} for d, r in own.items()]}
        for qid, own in grades.items()
    ]
    annotations = [",".join([d, *own]) for d, own in labels.items()]
    return {"sequence": sequence, "groundtruth": truth, "annotations": annotations, "run": run}


def twin(case: dict[str, Any], official: bool) -> dict[str, tuple[float, float]]:
    """The formulas once more, one document after the other."""
    grades = {str(q["qid"]): {d["doc_id"]: d["relevance"] for d in q["documents"]} for q in case["groundtruth"]}
    labels = {line.split(",")[0]: line.split(",")[1:] for line in case["annotations"]}
    rankings = {line["q_num"]: line["ranking"] for line in case["run"]}
    gained: dict[str, list[float]] = {}
    exposed: dict[str, dict[str, float]] = {}
    relevant: dict[str, dict[str, float]] = {}
    for line in case["sequence"]:
        q_num, qid = line.split(",")
        name = q_num.split(".")[0]
        utility, going, going_groups = 0.0, 1.0, 1.0
        for rank, doc in enumerate(rankings[q_num]):
            f = 0.7 * grades[qid][doc]
            utility += 0.5**rank * going * f
            own = labels.get(doc, [])
            counted = own if official else set(own) - {""}
            for label in counted:
                seen = 0.5**rank * going_groups * (f if official else 1.0)
                group = exposed.setdefault(name, {})
                group[label] = group.get(label, 0.0) + seen
                group = relevant.setdefault(name, {})
                group[label] = group.get(label, 0.0) + f
            going *= 1 - f
            going_groups *= 1 - f if own or not official else 1.0
        gained.setdefault(name, []).append(utility)
    out = {}
    for name, utilities in gained.items():
        e, r = exposed[name], relevant[name]
        keys = sorted(set(e) | set(r))
        shares = [e.get(k, 0) / sum(e.values()) - r.get(k, 0) / sum(r.values()) for k in keys]
        out[name] = (sum(utilities) / len(utilities), math.sqrt(sum(x * x for x in shares)))
    return out


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("form", ["official", "corrected"])
def test_twin(tmp_path: Path, seed: int, form: str) -> None:
    case = case_of(np.random.default_rng(seed))
    found = values(preset(f"trec2019_{form}").evaluate(write(tmp_path, case)))
    for name, (utility, unfairness) in twin(case, form == "official").items():
        assert found[name, "utility"] == pytest.approx(utility, rel=1e-12)
        assert found[name, "unfairness"] == pytest.approx(unfairness, rel=1e-10, abs=1e-14)


def test_anchors_are_means_over_shuffles(tmp_path: Path) -> None:
    """Expected totals in closed form against many rankings drawn."""
    case = case_of(np.random.default_rng(3))
    rng = np.random.default_rng(0)
    times = 4000
    many = {**case, "sequence": [], "run": []}
    for copy in range(times):
        for line in case["run"]:
            q_num = f"{line['q_num'].split('.')[0]}.{copy}{line['q_num'].split('.')[1]:>03}"
            many["sequence"].append(f"{q_num},{line['qid']}")
            many["run"].append({"q_num": q_num, "qid": line["qid"], "ranking": list(rng.permutation(line["ranking"]))})
        if copy > 150:
            break
    for form in ("official", "corrected"):
        anchors = preset(f"trec2019_{form}").evaluate(write(tmp_path / "few", case))
        drawn = values(preset(f"trec2019_{form}").evaluate(write(tmp_path / "many", many)))
        random = values(anchors, "anchor:random")
        for key, value in drawn.items():
            assert random[key] == pytest.approx(value, abs=0.02)
        best, worst = values(anchors, "anchor:ideal"), values(anchors, "anchor:worst_first")
        for name in ("0", "1"):
            assert best[name, "utility"] >= random[name, "utility"] >= worst[name, "utility"]


def small() -> dict[str, Any]:
    return {
        "sequence": ["0.1,1", "0.10,1"],
        "groundtruth": [
            {"qid": 1, "documents": [{"doc_id": "a", "relevance": 1}, {"doc_id": "b", "relevance": 0}]},
        ],
        "annotations": ["a,X", "b,Y,"],
        "run": [
            {"q_num": "0.1", "qid": 1, "ranking": ["a", "b"]},
            {"q_num": "0.10", "qid": 1, "ranking": ["b", "a"]},
        ],
    }


def test_entries_are_text(tmp_path: Path) -> None:
    found = values(preset("trec2019_corrected").evaluate(write(tmp_path, small())))
    assert found["0", "utility"] == pytest.approx((0.7 + 0.5 * 0.7) / 2)


def test_problems_are_all_named(tmp_path: Path) -> None:
    case = small()
    case["run"] = [
        {"q_num": "0.1", "qid": 2, "ranking": ["a", "zz", "a"]},
        {"q_num": "0.11", "qid": 1, "ranking": ["a"]},
    ]
    with pytest.raises(InputError) as caught:
        preset("trec2019_corrected").evaluate(write(tmp_path, case))
    text = str(caught.value)
    assert "no ranking of entry '0.10'" in text
    assert "a ranking of '0.11'" in text
    assert "query '2' in entry '0.1'" in text
    case["run"] = [{"q_num": "0.1", "qid": 1, "ranking": ["a", "zz", "a"]}, small()["run"][1]]
    with pytest.raises(InputError) as caught:
        preset("trec2019_corrected").evaluate(write(tmp_path, case))
    text = str(caught.value)
    assert "document 'zz' in entry '0.1'" in text
    assert "document 'a' in entry '0.1'" in text
    case["run"] = [{"q_num": "0.1", "qid": 9, "ranking": ["a", "b", "a"]}, small()["run"][1]]
    outcome = preset("trec2019_official").evaluate(write(tmp_path, case))
    assert outcome.counts["run mine"]["documents_again_in_a_ranking"] == 1


def test_undefined_unfairness(tmp_path: Path) -> None:
    case = small()
    case["annotations"] = ["b,Y"]  # b is not relevant
    with pytest.raises(InputError, match="no relevant document with a label in sequence '0'"):
        preset("trec2019_official").evaluate(write(tmp_path, case))
    rows = preset("trec2019_corrected").evaluate(write(tmp_path, case)).tables["mine"].to_pylist()
    assert [(row["measure"], row["reason"]) for row in rows] == [
        ("utility", None),
        ("unfairness", "no_relevant_document"),
    ]
    inputs = write(tmp_path, case)
    rows = preset("trec2019_corrected").evaluate(Inputs(inputs.runs, inputs.qrels, None, inputs.sequence))
    assert rows.tables["mine"]["reason"].to_pylist() == [None, "no_groups"]


def test_group_tables_and_options(tmp_path: Path) -> None:
    case = small()
    ragged = values(preset("trec2019_corrected").evaluate(write(tmp_path, case)))
    case["annotations"] = ["docno,group", "a,X", "b,Y"]
    assert values(preset("trec2019_corrected").evaluate(write(tmp_path, case))) == ragged
    outcome = preset("trec2019_official", **OFFICIAL_BUT).evaluate(write(tmp_path, small()))
    assert outcome.options["empty_label"] == "count"
    assert any("empty label" in text for text in outcome.warnings)
    assert len(outcome.differences) == 7


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"groundtruth": [{"qid": 1, "documents": [{"doc_id": "a", "relevance": None}]}]}, "relevance is null"),
        ({"groundtruth": [{"qid": 2, "documents": [{"doc_id": "a", "relevance": 1}]}]}, "no candidate of query '1'"),
        ({"groundtruth": [{"qid": 1, "documents": [{"doc_id": "a", "relevance": 2}]}]}, "expected 0 or 1"),
        ({"annotations": ["a,X", "a,Y"]}, "document 'a' again, as in line 1"),
        ({"sequence": ["0.1,1", "0.1,1"]}, "'0.1' again"),
        ({"run": [{"qid": 1, "ranking": ["a", "b"]}]}, "no ranking of entry '0.1'"),
    ],
)
def test_damaged_files(tmp_path: Path, change: dict[str, Any], text: str) -> None:
    with pytest.raises(InputError, match=text):
        preset("trec2019_corrected").evaluate(write(tmp_path, {**small(), **change}))
