"""The published rerank submissions of TREC Fair Ranking 2020, end to end through `evaluate`."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rerankers._base.streams import query_streams
from rerankers.measures import evaluate, parse
from rerankers.measures.anchors import anchors
from rerankers.measures.evaluation import Evaluation
from rerankers.measures.inputs import group_alignment, qrels_table
from rerankers.policies import Policy
from rerankers.values import Candidates, Ids, Rankings

pytestmark = pytest.mark.shared_data

RUNS = ("UW_bm25", "UW_Kr_r60g20c20", "UW_Kr_r0g0c100")
TERMS = {"difference": "EEL", "disparity": "EED", "relevance": "EER", "target_sq": "EET"}


@pytest.fixture(scope="module")
def qrels(shared: Path) -> dict[str, dict[str, int]]:
    lines = (shared / "data/trec-fair-2020/TREC-Fair-Ranking-eval-sample.json").read_text().splitlines()
    queries = [json.loads(line) for line in lines]
    return {str(q["qid"]): {doc["doc_id"]: doc["relevance"] for doc in q["documents"]} for q in queries}


@pytest.fixture(scope="module")
def levels(shared: Path) -> dict[str, str | None]:
    """A document of authors of both levels is in a group of its own; without a level it is in the unknown group."""
    with (shared / "data/trec-fair-2020/doc-annotations.csv").open(newline="") as stream:
        return {row["id"]: row["DocLevel"] or None for row in csv.DictReader(stream)}


@pytest.fixture(scope="module")
def reference(shared: Path) -> Any:
    return json.loads((shared / "oracles/trec/eel_2020_real_runs.json").read_text())


@pytest.mark.parametrize("name", RUNS)
def test_published_submissions(
    shared: Path, qrels: dict[str, dict[str, int]], levels: dict[str, str | None], reference: Any, name: str
) -> None:
    path = shared / f"data/trec-fair-2020/rerank_submissions/{name}.jsonl.gz"
    keys = [*TERMS.values(), *(f"group_{key}" for key in TERMS.values())]
    table = evaluate(path, qrels, levels, universe="judged", measures=keys)
    assert set(table["system"].to_pylist()) == {name}
    assert table["reason"].null_count == len(table) == 200 * len(keys)
    found: dict[str, dict[str, float]] = {key: {} for key in keys}
    for unit, key, value in zip(*(table[c].to_pylist() for c in ("unit", "measure", "value")), strict=True):
        found[key][unit] = value
    expected = reference["runs"][name]
    for theirs, ours in TERMS.items():
        group = expected["mixed_group"]
        assert np.mean(list(found[f"group_{ours}"].values())) == pytest.approx(group["mean"][theirs], abs=1e-9)
        for qid, values in group["per_query"].items():
            assert found[f"group_{ours}"][qid] == pytest.approx(values[theirs], abs=1e-9)
        if theirs in expected["individual"]["mean"]:
            mean = expected["individual"]["mean"][theirs]
            assert np.mean(list(found[ours].values())) == pytest.approx(mean, abs=1e-9)
        for qid, values in expected["individual_per_query"].items():
            if theirs in values:
                assert found[ours][qid] == pytest.approx(values[theirs], abs=1e-9)
    assert round(float(np.mean(list(found["group_EEL"].values()))), 3) == expected["published_delta_g"]


def test_the_anchors_of_the_evaluation_set(qrels: dict[str, dict[str, int]], levels: dict[str, str | None]) -> None:
    """Exact: relevant documents last has loss .702 at utility .001; 150 draws of the ideal policy have .0015."""
    table = qrels_table(qrels)
    docs, queries = Ids.union(table.docno), Ids.of(list(qrels))
    judgments, _ = table.bind(queries, docs)
    candidates = Candidates(judgments.query, judgments.indptr, judgments.doc)
    groups = {"level": group_alignment(levels, docs)[0]}
    policies = anchors(candidates, judgments, query_streams(list(qrels)))

    def means(source: Policy | Rankings) -> tuple[float, float]:
        evaluation = Evaluation(source, judgments, groups)
        loss, utility = (parse(key).per_unit(evaluation).value.mean() for key in ("group_EEL", "utility"))
        return float(loss), float(utility)

    assert means(policies["anchor:worst_first"]) == pytest.approx((0.702, 0.001), abs=5e-4)
    assert means(policies["anchor:ideal"])[0] == pytest.approx(0, abs=1e-20)
    assert means(policies["anchor:ideal"].sample(150, 0))[0] == pytest.approx(0.0015, abs=3e-4)
    assert means(policies["anchor:random"].sample(150, 0))[0] == pytest.approx(0.415, abs=0.015)
