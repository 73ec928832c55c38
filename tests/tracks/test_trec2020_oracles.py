"""The presets of 2020 against reference values of the official code, and against the published submissions."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rerankers._base.errors import InputError
from rerankers.tracks.preset import Inputs, Outcome, preset
from rerankers.tracks.scoring2020 import Scene
from rerankers.tracks.trec2020 import CORRECTED
from rerankers.values import Judgments

pytestmark = pytest.mark.shared_data

TERMS = {"disparity": "EED", "relevance": "EER", "difference": "EEL"}
COMMITS = {"tools_ba07124": "fair-trec-tools@ba07124", "expeval_69ab070": "expeval@69ab070"}
CORRECTED_DIFFERS = {
    "duplicate_docs_in_ranking",  # an error
    "duplicate_rank",  # an error
    "query_missing_individual",  # an error
    "negative_relevance",  # another target
    "mixed_comma_fails",  # accepted
}


def load(shared: Path, name: str) -> Any:
    return json.loads((shared / "oracles/trec" / name).read_text(encoding="utf-8"))


def number(value: Any) -> float:
    return float(value)


def write(case: dict[str, Any], folder: Path) -> Inputs:
    qrels, run = folder / "qrels.txt", folder / "system.run"
    qrels.write_text("".join("\t".join(map(str, row)) + "\n" for row in case["qrels"]))
    run.write_text("".join(" ".join(map(str, row)) + "\n" for row in case["run"]))
    return Inputs((run,), qrels)


def options(params: dict[str, Any]) -> dict[str, Any]:
    names = {"p": "patience", "u": "satisfaction", "umType": "browsing", "binarize": "binarize"}
    return {names[key]: value for key, value in params.items() if key in names}


def judged(case: dict[str, Any], folder: Path, form: str, **more: Any) -> Outcome:
    task = "rerank" if case["params"]["complete"] else "retrieval"
    return preset(f"trec2020_{task}_{form}", **options(case["params"]), **more).evaluate(write(case, folder))


def values(outcome: Outcome, system: str = "system") -> dict[tuple[str, str], float]:
    rows = outcome.tables[system].to_pylist()
    return {(row["unit"], row["measure"]): row["value"] for row in rows}


def cases(shared: Path) -> Iterator[dict[str, Any]]:
    yield from load(shared, "eel_2020_cases.json")["cases"]


def same(found: float, expected: float) -> bool:
    if not math.isfinite(expected):
        return found == expected
    return math.isclose(found, expected, rel_tol=1e-12, abs_tol=1e-14)


def test_official_raw_values_means_and_printed_lines(shared: Path, tmp_path: Path) -> None:
    compared = 0
    for case in cases(shared):
        grouped = case["params"].get("group", False)
        for expected in case["expected"].values():
            if "exception" in expected:
                with pytest.raises(InputError):
                    judged(case, tmp_path, "official")
                continue
            found = values(judged(case, tmp_path, "official"))
            key = {theirs: f"group_{ours}" if grouped else ours for theirs, ours in TERMS.items()}
            for qid, per_query in expected["per_query"].items():
                for theirs in TERMS:
                    assert same(found[qid, key[theirs]], number(per_query[theirs]["raw"])), (case["name"], theirs)
                    compared += 1
                root = found[qid, f"{key['difference']}_l2"]
                if "difference_sqrt" in per_query:
                    assert same(root, number(per_query["difference_sqrt"]))
            lines = [line.split("\t") for line in expected["cli_unnormalized"]["stdout"] if line.count("\t") == 2]
            assert [f"{found[qid, key[word]]:f}" for word, qid, _ in lines] == [text for _, _, text in lines]
            for word, mean in expected["mean_over_queries_unnormalized"].items():
                own = [value for (_, measure), value in found.items() if measure == key[word]]
                assert same(float(np.mean(own)), number(mean)), case["name"]
    assert compared > 100


@pytest.mark.parametrize("form", COMMITS)
def test_official_normalised_values(shared: Path, tmp_path: Path, form: str) -> None:
    compared = 0
    for case in cases(shared):
        expected = case["expected"][COMMITS[form]]
        if "exception" in expected:
            continue
        grouped = case["params"].get("group", False)
        found = values(judged(case, tmp_path, "official", normalise=form))
        for qid, per_query in expected["per_query"].items():
            for theirs, ours in TERMS.items():
                value = found[qid, f"group_{ours}" if grouped else ours]
                assert same(value, number(per_query[theirs]["normalized"])), (case["name"], theirs)
                compared += 1
    assert compared > 50


def test_corrected_raw_values(shared: Path, tmp_path: Path) -> None:
    """Where no rule differs; without groups the corrected form leaves out what unjudged documents get."""
    compared = 0
    for case in cases(shared):
        if case["name"] in CORRECTED_DIFFERS:
            continue
        grouped = case["params"].get("group", False)
        for restored in ("judged", "ranked"):
            if restored == "judged" and not grouped and not case["params"]["complete"]:
                continue
            found = values(judged(case, tmp_path, "corrected", universe=restored))
            (expected, *_) = case["expected"].values()
            for qid, per_query in expected["per_query"].items():
                for theirs, ours in TERMS.items():
                    raw = number(per_query[theirs]["raw"])
                    value = found[qid, f"group_{ours}" if grouped else ours]
                    assert same(value, 0.0 if math.isinf(raw) else raw), (case["name"], theirs)
                    compared += 1
    assert compared > 50


def test_targets(shared: Path) -> None:
    for case in load(shared, "target_bruteforce_2020.json")["cases"]:
        grades = np.array(list(case["qrels"].values()), dtype=np.int16)
        rows = np.array([0, len(grades)])
        judgments = Judgments(np.zeros(1, np.int32), rows, np.arange(len(grades)), {"grade": grades})
        given = {"patience": case["p"], "satisfaction": case["u"], "browsing": case["umType"]}
        for negative, key in (("own_level", "official"), ("level", "brute_force"), ("as_zero", "brute_force")):
            if negative == "as_zero" and grades.min() < 0:
                continue
            rules = replace(CORRECTED, negative_grade=negative, **given).rules
            target = Scene(judgments, np.arange(len(grades)), None, rules).target
            np.testing.assert_allclose(target, list(case[key].values()), rtol=1e-12, atol=1e-15)


RUNS = ("UW_bm25", "UW_Kr_r60g20c20", "UW_Kr_r0g0c100")
PUBLISHED = dict(zip(RUNS, (0.875, 0.895, 0.948), strict=True))


@pytest.fixture(scope="module")
def submissions(shared: Path) -> dict[str, Outcome]:
    folder = shared / "data/trec-fair-2020"
    inputs = Inputs(
        tuple(folder / f"rerank_submissions/{name}.jsonl.gz" for name in RUNS),
        folder / "TREC-Fair-Ranking-eval-sample.json",
        folder / "merged-annotations.json",
    )
    return {form: preset(f"trec2020_{form}").evaluate(inputs) for form in ("official", "corrected")}


@pytest.mark.parametrize("form", ["official", "corrected"])
@pytest.mark.parametrize("name", RUNS)
def test_published_submissions(shared: Path, submissions: dict[str, Outcome], name: str, form: str) -> None:
    expected = load(shared, "eel_2020_real_runs.json")["runs"][name]
    found = values(submissions[form], name)
    terms = {**TERMS, "target_sq": "EET"}
    for qid, per_query in expected["mixed_group"]["per_query"].items():
        for theirs, ours in terms.items():
            assert found[qid, f"group_{ours}"] == pytest.approx(per_query[theirs], rel=1e-9, abs=1e-12)
        for theirs, ours in TERMS.items():
            single = expected["individual_per_query"][qid][theirs]
            assert found[qid, ours] == pytest.approx(single, rel=1e-9, abs=1e-12)
    for theirs, ours in terms.items():
        for prefix, part in (("group_", "mixed_group"), ("", "individual")):
            own = np.mean([value for (_, key), value in found.items() if key == prefix + ours])
            assert own == pytest.approx(expected[part]["mean"][theirs], rel=1e-9)
    mean = np.mean([value for (_, key), value in found.items() if key == "group_EEL"])
    assert round(float(mean), 3) == PUBLISHED[name]


def test_other_policies_for_mixed_documents(shared: Path) -> None:
    folder = shared / "data/trec-fair-2020"
    inputs = Inputs(
        (folder / "rerank_submissions/UW_bm25.jsonl.gz",),
        folder / "TREC-Fair-Ranking-eval-sample.json",
        folder / "doc-annotations.csv",
    )
    reference = load(shared, "eel_2020_real_runs.json")["runs"]["UW_bm25"]
    for policy, part in (("full", "basic"), ("drop", "nomixed"), ("own_group", "mixed_group")):
        outcome = preset("trec2020_official", mixed_policy=policy).evaluate(inputs)
        means: dict[str, float] = {}
        for row in outcome.tables["UW_bm25"].to_pylist():
            means[row["measure"]] = means.get(row["measure"], 0.0) + row["value"] / 200
        for theirs, ours in TERMS.items():
            assert means[f"group_{ours}"] == pytest.approx(reference[part]["mean"][theirs], rel=1e-9)


def test_individual_normalised_means(shared: Path) -> None:
    folder = shared / "data/trec-fair-2020"
    inputs = Inputs((folder / "rerank_submissions/UW_bm25.jsonl.gz",), folder / "TREC-Fair-Ranking-eval-sample.json")
    for form, means in {
        "tools_ba07124": (0.909614, 0.322556, 1.026784),
        "expeval_69ab070": (0.909614, 0.312856, 0.943477),
    }.items():
        found = values(preset("trec2020_official", normalise=form).evaluate(inputs), "UW_bm25")
        for key, mean in zip(("EEL", "EER", "EED"), means, strict=True):
            own = np.mean([value for (_, measure), value in found.items() if measure == key])
            assert own == pytest.approx(mean, abs=1e-6)


def test_anchors_of_the_track(submissions: dict[str, Outcome]) -> None:
    """Shuffles and the ideal policy in closed form, against means of 150 draws a query (seeds within ±.005)."""
    for outcome in submissions.values():
        random, ideal = values(outcome, "anchor:random"), values(outcome, "anchor:ideal")
        means = {key: np.mean([v for (_, k), v in random.items() if k == key]) for key in ("group_EEL", "EEL")}
        assert means["group_EEL"] == pytest.approx(0.4123, abs=0.005)
        assert means["EEL"] == pytest.approx(0.512, abs=0.008)
        assert max(v for (_, key), v in ideal.items() if key in ("EEL", "group_EEL")) < 1e-20


def test_static_order_of_relevance_estimates(shared: Path, tmp_path: Path) -> None:
    """Reference point: one ranking a query by estimated relevance, ties and gaps in the order of the query file."""
    folder = shared / "data/trec-fair-2020"
    estimate: dict[tuple[str, str], float] = {}
    for line in (folder / "nle_Evaluation_rel_scores_model_A.csv").read_text().splitlines()[1:]:
        qid, docno, value = line.split(",")
        estimate[qid, docno] = float(value)
    run = tmp_path / "static.jsonl"
    with run.open("w") as stream:
        for line in (folder / "TREC-Fair-Ranking-eval-sample.json").read_text().splitlines():
            query = json.loads(line)
            docs = [entry["doc_id"] for entry in query["documents"]]
            ranking = sorted(docs, key=lambda d: -estimate.get((str(query["qid"]), d), 0.0))
            stream.write(json.dumps({"qid": query["qid"], "ranking": ranking}) + "\n")
    inputs = Inputs((run,), folder / "TREC-Fair-Ranking-eval-sample.json", folder / "doc-annotations.csv")
    found = values(preset("trec2020_corrected").evaluate(inputs), "static")
    expected = load(shared, "reference_points_2020.json")["results"]["static_META"]
    for theirs, ours in TERMS.items():
        mean = np.mean([value for (_, key), value in found.items() if key == f"group_{ours}"])
        assert mean == pytest.approx(expected[theirs], rel=1e-9)


def test_reach_of_the_annotations(submissions: dict[str, Outcome]) -> None:
    counts = submissions["official"].counts["groups"]
    assert counts["documents_with_group"] == 2008
    assert (counts["pairs"], counts["pairs_with_group"]) == (4814, 4814 - 2757)
    assert submissions["corrected"].differences == ()
    assert len(submissions["official"].differences) == 7
