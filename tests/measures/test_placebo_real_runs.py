"""What Delta_G of TREC Fair Ranking 2020 says beyond shuffled labels: the figures on the real evaluation data."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import kendalltau

from rerankers._base.streams import query_streams
from rerankers.measures import parse
from rerankers.measures.anchors import anchors
from rerankers.measures.evaluation import Evaluation, Options
from rerankers.measures.evidence import Evidence, evidence
from rerankers.measures.inputs import group_alignment, qrels_table
from rerankers.policies import PlackettLuce, Policy
from rerankers.runs import read_run
from rerankers.tracks.memory import evaluate
from rerankers.values import Candidates, GroupAlignment, Ids, Judgments, Ragged, Rankings

pytestmark = pytest.mark.shared_data

SUBMITTED = ("UW_bm25", "UW_Kr_r60g20c20", "UW_Kr_r0g0c100")
LOSS, PLACEBO, EXCESS = (parse(f"group_EEL{part}") for part in ("", "_placebo", "_excess"))


class Real:
    """The evaluation queries of 2020, their judgments and levels, and ten policies over them."""

    def __init__(self, folder: Path) -> None:
        lines = (folder / "TREC-Fair-Ranking-eval-sample.json").read_text().splitlines()
        queries = [json.loads(line) for line in lines]
        graded = {str(q["qid"]): {doc["doc_id"]: doc["relevance"] for doc in q["documents"]} for q in queries}
        with (folder / "doc-annotations.csv").open(newline="") as stream:
            levels = {row["id"]: row["DocLevel"] or None for row in csv.DictReader(stream)}
        table = qrels_table(graded)
        self.qids, self.docs = list(graded), Ids.union(table.docno)
        self.judgments: Judgments = table.bind(Ids.of(self.qids), self.docs)[0]
        self.groups: GroupAlignment = group_alignment(levels, self.docs)[0]
        self.over = Candidates(self.judgments.query, self.judgments.indptr, self.judgments.doc)
        self.stream = query_streams(self.qids)
        around = anchors(self.over, self.judgments, self.stream)
        self.policies: dict[str, Policy | Rankings] = {
            name: self.submitted(folder / f"rerank_submissions/{name}.jsonl.gz") for name in SUBMITTED
        }
        logit = np.log(self.probability(folder / "nle_Evaluation_rel_scores_model_A.csv"))
        self.policies["static"] = PlackettLuce(self.over, logit * 1e6, self.stream)
        for sharpness in (4.0, 2.0, 1.0):
            self.policies[f"drawn {sharpness}"] = PlackettLuce(self.over, logit * sharpness, self.stream)
        self.policies |= {name: around[f"anchor:{name}"] for name in ("random", "worst_first", "ideal")}

    def submitted(self, path: Path) -> Rankings:
        run = read_run(path)
        over = run.rankings.over
        code = Ids.of(self.qids).codes(run.qids)[over.query]
        rows = Ragged(code, over.indptr, run.docs.recoder(self.docs)[over.doc])
        return replace(run.rankings, over=rows).take(np.argsort(code))

    def probability(self, path: Path) -> np.ndarray:
        with path.open(newline="") as stream:
            rows = {(row["qid"], row["doc_id"]): float(row["est_relevance"]) for row in csv.DictReader(stream)}
        names = self.docs.names.to_pylist()
        pairs = zip(self.over.row_index.tolist(), self.over.doc.tolist(), strict=True)
        return np.array([rows.get((self.qids[row], names[doc]), 1e-3) for row, doc in pairs])

    def evaluation(self, name: str, **options: int) -> Evaluation:
        return Evaluation(
            self.policies[name], self.judgments, {"level": self.groups}, Options(universe="judged", **options)
        )


@pytest.fixture(scope="module")
def real(shared: Path) -> Real:
    return Real(shared / "data/trec-fair-2020")


@pytest.fixture(scope="module")
def behind(real: Real) -> dict[str, Evidence]:
    evaluations = {name: real.evaluation(name, permutations=0) for name in real.policies}
    return evidence(evaluations, dict.fromkeys(evaluations, real.qids), [LOSS, EXCESS])


def mean(real: Real, name: str, measure: object) -> float:
    return float(np.mean(measure.per_unit(real.evaluation(name), real.qids).value))


def test_ten_policies_stand_in_the_order_of_their_placebos(real: Real, behind: dict[str, Evidence]) -> None:
    assert mean(real, "UW_bm25", LOSS) == pytest.approx(0.87506, abs=5e-6)
    assert mean(real, "UW_bm25", PLACEBO) == pytest.approx(0.850, abs=5e-4)
    loss, placebo = ([mean(real, name, one) for name in real.policies] for one in (LOSS, PLACEBO))
    assert len(loss) == 10
    assert kendalltau(loss, placebo).statistic == pytest.approx(1.0)
    assert np.corrcoef(loss, placebo)[0, 1] == pytest.approx(0.997, abs=1e-3)


def test_no_policy_is_far_from_its_placebo(behind: dict[str, Evidence]) -> None:
    z = {name: found.nulls["group_EEL_excess"].test()["z"] for name, found in behind.items()}
    assert all(abs(value) < 2.5 for value in z.values())
    assert all(abs(z[name]) < 1 for name in ("UW_bm25", "UW_Kr_r60g20c20", "UW_Kr_r0g0c100"))


def test_who_carries_the_loss_and_how_little_is_systematic(behind: dict[str, Evidence]) -> None:
    for name in behind.keys() - {"ideal"}:
        parts = behind[name].gaps["group_EEL"].summary(seed=0, resamples=50, level=0.95, method="bca")
        assert parts is not None
        assert 0.095 < parts.systematic_share < 0.286
        assert 0.475 < parts.groups["unknown"]["share"] < 0.561
        assert 0.08 < parts.groups["Developing"]["share"] < 0.145


@pytest.mark.parametrize("preset", ["trec2020_rerank_corrected", "trec2020_rerank_official"])
def test_the_presets_show_it(shared: Path, preset: str) -> None:
    folder = shared / "data/trec-fair-2020"
    table = evaluate(
        folder / "rerank_submissions/UW_bm25.jsonl.gz",
        folder / "TREC-Fair-Ranking-eval-sample.json",
        folder / "merged-annotations.json",
        preset,
    )
    rows = table.to_pylist()
    means = {
        key: np.mean([row["value"] for row in rows if row["measure"] == key])
        for key in ("group_EEL", "group_EEL_placebo", "group_EEL_excess")
    }
    assert means["group_EEL"] == pytest.approx(0.87506, abs=5e-6)
    assert means["group_EEL_placebo"] == pytest.approx(0.850, abs=5e-4)
    assert means["group_EEL_excess"] == pytest.approx(means["group_EEL"] - means["group_EEL_placebo"], abs=1e-12)
