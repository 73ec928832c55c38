"""Methods with a ledger: one contract, options and their errors, accounting, and the real tracks."""

from __future__ import annotations

import csv
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from amortised_twins import Twin, block_of
from hypothesis import given, settings
from hypothesis import strategies as st

from rerankers._base.errors import ConfigError
from rerankers.exposure import DCG, GERR, RBP
from rerankers.exposure.closed_form.plackett_luce import plackett_luce_exposure
from rerankers.ledger import Impressions, Memory, SQLite, author_alignment, believed_browsing
from rerankers.methods import TIERS
from rerankers.methods.equity_of_attention import EquityOfAttention
from rerankers.methods.fair_co import FairCo
from rerankers.methods.horizon_planner import HorizonPlanner
from rerankers.methods.nle_controller import NleController
from rerankers.methods.online_frank_wolfe import OnlineFrankWolfe
from rerankers.values import Block, Ids, Relevance

KINDS: dict[str, Any] = {
    "fair_co": FairCo,
    "online_frank_wolfe": OnlineFrankWolfe,
    "equity_of_attention": EquityOfAttention,
    "nle_controller": NleController,
    "horizon_planner": HorizonPlanner,
}
CONF = Path(__file__).parents[2] / "conf"


@pytest.mark.parametrize("name", KINDS)
@settings(max_examples=20)
@given(
    lengths=st.lists(st.sampled_from([0, 1, 2, 5, 8]), max_size=4),
    seed=st.integers(0, 9),
    entities=st.sampled_from(["documents", "authors", "side"]),
    model=st.sampled_from([None, RBP(0.8), DCG(cutoff=3)]),
)
def test_contract(name: str, lengths: list[int], seed: int, entities: str, model: Any) -> None:
    method = KINDS[name](impressions=7, entities=entities)
    assert method.tier in TIERS
    block = block_of(tuple(lengths), seed, model, ties=True)
    policy = method.policy(block)
    rankings = policy.rankings
    assert rankings.counts.tolist() == [7] * len(lengths)
    for place, row in enumerate(rankings.row_of_ranking.tolist()):
        items = rankings.item[rankings.item_ptr[place] : rankings.item_ptr[place + 1]]
        assert sorted(items.tolist()) == list(range(lengths[row])), "exactly the candidates"
    np.testing.assert_array_equal(method.policy(block).rankings.item, rankings.item)
    for row in range(len(lengths)):  # no ranking depends on the block around its query
        alone = replace(block, candidates=block.candidates.rows(row, row + 1), stream=block.stream[row : row + 1])
        mine = method.policy(alone).rankings.item
        low, high = rankings.item_ptr[[7 * row, 7 * row + 7]]
        np.testing.assert_array_equal(mine, rankings.item[low:high])


@pytest.mark.parametrize("name", KINDS)
def test_a_sequence_that_repeats_each_query_gives_the_policy(name: str) -> None:
    block = block_of((5, 3), 1)
    method = KINDS[name](impressions=12)
    qids = ("qa", "qb")
    sequence = np.tile([0, 1], 12)
    impressions = Impressions.of(("0",), np.zeros(24, int), sequence, qids, Ids.of(qids), block.candidates)
    served, _ = method.serve(block, impressions)
    np.testing.assert_array_equal(served.rankings().item, method.policy(block).rankings.item)


def test_plans_are_cut_within_each_query() -> None:
    block = block_of((5, 3, 6, 4), 1)
    method = HorizonPlanner(impressions=7, replan=5)
    whole = method.policy(block).rankings
    for row in range(4):
        alone = replace(block, candidates=block.candidates.rows(row, row + 1), stream=block.stream[row : row + 1])
        low, high = whole.item_ptr[[7 * row, 7 * row + 7]]
        np.testing.assert_array_equal(method.policy(alone).rankings.item, whole.item[low:high])


def test_ties_are_seeded_and_fair() -> None:
    block = replace(block_of((4,), 0), estimates=Relevance(np.full(4, 0.5), "probability", "none"))
    first = []
    for seed in range(300):
        items = NleController(impressions=1).policy(replace(block, seed=seed)).rankings.item
        first.append(int(items[0]))
    assert np.all(np.abs(np.bincount(first, minlength=4) / 300 - 0.25) < 0.09)


@pytest.mark.parametrize("accounting", ["realised", "expected"])
def test_accounting_of_drawn_rankings(accounting: str) -> None:
    block = block_of((5,), 2, GERR(0.8))
    method = OnlineFrankWolfe(temperature=0.2, accounting=accounting, impressions=30)
    qids = ("q0",)
    once = Impressions.of(("0",), np.zeros(30, int), np.zeros(30, int), qids, Ids.of(qids), block.candidates)
    served, ledger = method.serve(block, once, None, Ids.of(["a", "b", "c", "d", "e"]))
    twin = Twin(block, 0, method)
    browsing = believed_browsing(GERR(0.8), block.relevance.value, block.candidates.indptr)
    for number in range(30):
        key = 0.5 * twin.belief - 0.5 * np.array([2 * twin.net(d) for d in range(5)]) / max(twin.times, 1)
        seen = plackett_luce_exposure(block.candidates.indptr, key / 0.2, browsing).tolist()
        if accounting == "realised":
            seen = twin.exposure(served.item[5 * number : 5 * number + 5].tolist())
        twin.book(seen)
    np.testing.assert_allclose(ledger.served / 2.0**40, [twin.served[d] for d in range(5)], atol=1e-9)
    np.testing.assert_array_equal(served.item, method.policy(block).rankings.item)
    assert len({tuple(served.item[5 * i : 5 * i + 5].tolist()) for i in range(30)}) > 5, "rankings are drawn"


@pytest.mark.parametrize("name", KINDS)
def test_config_files_hold_the_defaults(name: str) -> None:
    written = yaml.safe_load((CONF / "method" / f"{name}.yaml").read_text())
    kind = KINDS[name]
    assert written.pop("_target_") == f"rerankers.methods.{name}.{kind.__name__}"
    assert written == {one.name: one.default for one in fields(kind)}


@pytest.mark.parametrize("kind", [Memory, SQLite])
def test_ledger_config_files(kind: Any) -> None:
    written = yaml.safe_load((CONF / "ledger" / f"{kind.__name__.lower()}.yaml").read_text())
    assert written.pop("_target_") == f"rerankers.ledger.{kind.__name__}"
    assert written == {one.name: one.default for one in fields(kind)}


def test_tiers() -> None:
    tiers = [FairCo(entities=one).tier for one in ("documents", "authors", "economy")]
    assert tiers == ["blind", "metadata", "given_groups"]


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        (FairCo, {"impressions": 0}),
        (FairCo, {"strength": -1.0}),
        (FairCo, {"least": 0.0}),
        (FairCo, {"temperature": float("nan")}),
        (FairCo, {"accounting": "both"}),
        (FairCo, {"decay": 0.0}),
        (FairCo, {"scope": "session"}),
        (FairCo, {"unit": "percent"}),
        (OnlineFrankWolfe, {"fairness": 1.5}),
        (NleController, {"theta": -0.1}),
        (NleController, {"satisfaction": 2.0}),
        (EquityOfAttention, {"quality": 1.01}),
        (EquityOfAttention, {"k": 0}),
        (HorizonPlanner, {"fairness": 0.0}),
        (HorizonPlanner, {"decay": 0.9}),
        (HorizonPlanner, {"replan": 0}),
    ],
    ids=str,
)
def test_options_out_of_range(kind: Any, options: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match=f"method.*{next(iter(options))}"):
        kind(**options)


def test_what_is_refused() -> None:
    block = block_of((3,), 0)
    with pytest.raises(ConfigError, match="expected query, unless a sequence"):
        FairCo(scope="sequence").policy(block)
    with pytest.raises(ConfigError, match="expected one of documents, authors, side"):
        FairCo(entities="venue").policy(block)
    with pytest.raises(ConfigError, match="expected null with browsing rbp"):
        NleController(satisfaction=0.7).policy(replace(block, browsing=RBP(0.5)))


@pytest.mark.shared_data
@pytest.mark.parametrize(
    ("model", "satisfaction", "expected"), [("A", 0.5, 0.41820), ("B", 0.7, 0.44609)], ids=["META", "TEXT"]
)
def test_reference_points_of_2020(shared: Path, model: str, satisfaction: float, expected: float) -> None:
    """The mean group difference of the controllers (authors as entities), by exact exposure of 150 rankings a query."""
    from rerankers.collections import Trec2020
    from rerankers.collections.annotation_groups import AnnotationGroups
    from rerankers.exposure.targets import equal_exposure

    folder = shared / "data" / "trec-fair-2020"
    collection = Trec2020(str(folder)).load()
    over, topics = collection.candidates, collection.topics
    lines = (folder / f"nle_Evaluation_rel_scores_model_{model}.csv").read_text().splitlines()
    rows = csv.DictReader(lines)
    known = {(row["qid"], row["doc_id"]): float(row["est_relevance"]) for row in rows}
    qids = topics.ids.take(over.query[over.row_index])
    belief = np.array([known.get(pair, 0.0) for pair in zip(qids, collection.docs.take(over.doc), strict=True)])
    groups = {"authors": author_alignment(collection.authors, len(collection.docs))}
    block = Block(over, topics.stream, groups, estimates=Relevance(belief, "probability", "model"))
    policy = NleController(entities="authors", satisfaction=satisfaction).policy(block)
    judged = dict(zip(pairs(collection.judgments), collection.judgments.grade.tolist(), strict=True))
    grade = np.array([judged.get(pair, 0) for pair in pairs(over)])
    browsing = GERR().bind(grade, over.indptr)
    level = AnnotationGroups(str(folder / "merged-annotations.json")).align(collection).alignments["level"]
    off = policy.exposure(browsing).value - equal_exposure(over.indptr, grade, browsing)
    difference = np.mean(np.sum(level.totals(over.row_index, over.doc, off, len(over)) ** 2, axis=1))
    assert difference == pytest.approx(expected, abs=0.005)


def pairs(rows: Any) -> list[tuple[int, int]]:
    """Return (query, document) of every pair."""
    return list(zip(rows.query[rows.row_index].tolist(), rows.doc.tolist(), strict=True))


@pytest.mark.shared_data
def test_all_impressions_of_2019_in_one_pass(shared: Path, tmp_path: Path) -> None:
    from rerankers.collections import Trec2019
    from rerankers.tracks.sequences import read_sequence

    folder = shared / "data" / "trec-fair-2019"
    collection = Trec2019(str(folder)).load()
    sequence = read_sequence(folder / "fair-TREC-evaluation-sequences.csv")
    over, topics = collection.candidates, collection.topics
    belief = Relevance(np.random.default_rng(0).beta(1, 2, over.nnz), "probability", "drawn")
    block = Block(over, topics.stream, estimates=belief)
    asked = Impressions.of(sequence.names, sequence.sequence, sequence.query, sequence.qids, topics.ids, over)
    method = FairCo(scope="sequence")
    served, ledger = method.serve(block, asked, SQLite(str(tmp_path / "2019.sqlite")), collection.docs)
    assert ledger.impressions.tolist() == [25_000] * 5
    assert ledger.positions == {str(number): 25_000 for number in range(5)}
    again, same = method.serve(block, asked, Memory(977), collection.docs)
    assert same.digest == ledger.digest
    np.testing.assert_array_equal(served.item, again.item)
