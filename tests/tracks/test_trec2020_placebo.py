"""Placebo and excess under the presets of 2020, against all permutations of the labels of judged documents."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import numpy as np
import pytest

from rerankers.tracks.memory import evaluate
from rerankers.tracks.official2020 import UserModel, group_bounds

QRELS = {"1": {"a": 1, "b": 0, "c": 0, "d": 1, "e": 0}, "2": {"b": 1, "f": 0}, "3": {"g": 1}}
RUN = {"1": [["b", "a", "x", "c"], ["c", "d", "a"]], "2": [["f", "b"]], "3": [["g"]]}
GROUPS = {"a": "A", "b": "A", "c": "B", "d": "B", "f": ["A", "B"], "g": {"A": 0.3, "B": 0.4}}
COLUMNS = ("A", "B", "unknown")


def exposure(rankings: list[list[str]], grades: dict[str, int], docs: list[str]) -> np.ndarray:
    found = dict.fromkeys(docs, 0.0)
    for ranking in rankings:
        seen = 1.0
        for docno in ranking:
            if docno in found:
                found[docno] += seen / len(rankings)
            seen *= 0.25 if grades.get(docno, 0) > 0 else 0.5
    return np.array(list(found.values()))


def row_of(docno: str) -> list[float]:
    given = GROUPS.get(docno, "unknown")
    if isinstance(given, dict):
        return [given.get(name, 0.0) for name in COLUMNS]
    return [float(name in ([given] if isinstance(given, str) else given)) for name in COLUMNS]


def due(docs: list[str], grades: dict[str, int]) -> np.ndarray:
    orders = [
        list(order)
        for order in itertools.permutations(docs)
        if all(grades[one] >= grades[other] for one, other in itertools.pairwise(order))
    ]
    return exposure(orders, grades, docs)


def every(qid: str, loss: Callable[[np.ndarray, np.ndarray], float], answered: bool = True) -> list[float]:
    """The loss under all permutations of the labels of a query, the real ones first."""
    docs = sorted(QRELS[qid])
    e = exposure(RUN[qid], QRELS[qid], docs) if answered else np.zeros(len(docs))
    t = due(docs, QRELS[qid])
    labels = np.array([row_of(docno) for docno in docs])
    return [
        loss(e @ labels[list(order)], t @ labels[list(order)]) for order in itertools.permutations(range(len(docs)))
    ]


def found(run: dict[str, list[list[str]]], preset: str, **options: object) -> dict[str, dict[str, float | None]]:
    table = evaluate(run, QRELS, GROUPS, preset, **options)
    out: dict[str, dict[str, float | None]] = {}
    for row in table.to_pylist():
        out.setdefault(row["unit"], {})[row["measure"]] = row["value"]
    return out


def squared(e: np.ndarray, t: np.ndarray) -> float:
    return float(np.sum((e - t) ** 2))


def js(e: np.ndarray, t: np.ndarray) -> float:
    p, q = e / e.sum(), t / t.sum()
    middle = (p + q) / 2
    return 0.5 * sum(x * math.log(x / m) for one in (p, q) for x, m in zip(one, middle, strict=True) if x > 0)


@pytest.mark.parametrize("preset", ["trec2020_rerank_corrected", "trec2020_rerank_official"])
def test_a_squared_loss_has_its_placebo_in_closed_form(preset: str) -> None:
    values = found(RUN, preset)
    for qid in QRELS:
        losses = every(qid, squared)
        assert values[qid]["group_EEL"] == pytest.approx(losses[0], abs=1e-12)
        assert values[qid]["group_EEL_placebo"] == pytest.approx(np.mean(losses), abs=1e-12)
        assert values[qid]["group_EEL_excess"] == pytest.approx(losses[0] - np.mean(losses), abs=1e-12)
    keys = list(values["1"])
    assert keys[keys.index("group_EEL") + 1 :][:2] == ["group_EEL_placebo", "group_EEL_excess"]


@pytest.mark.parametrize("form", ["l2", "js"])
def test_other_losses_have_it_from_drawn_labels(form: str) -> None:
    values = found(RUN, "trec2020_rerank_corrected", loss=form)
    loss = js if form == "js" else lambda e, t: math.sqrt(squared(e, t))
    for qid in QRELS:
        losses = every(qid, loss)
        assert values[qid]["group_EEL"] == pytest.approx(losses[0], abs=1e-12)
        error = 4.5 * np.std(losses) / math.sqrt(200)
        assert values[qid]["group_EEL_placebo"] == pytest.approx(np.mean(losses), abs=error + 1e-12)


def test_a_loss_divided_by_bounds_has_bounds_of_the_shuffled_labels() -> None:
    groups = {"a": "A", "b": "A", "c": "B", "d": "B"}
    table = evaluate(RUN, QRELS, groups, "trec2020_rerank_official", normalise="expeval_69ab070")
    values = {(row["unit"], row["measure"]): row["value"] for row in table.to_pylist()}
    docs = sorted(QRELS["1"])
    e, t = exposure(RUN["1"], QRELS["1"], docs), due(docs, QRELS["1"])
    labels = np.array([[float(groups.get(docno, "unknown") == name) for name in COLUMNS] for docno in docs])
    losses = []
    for order in itertools.permutations(range(5)):
        mine, theirs = e @ labels[list(order)], t @ labels[list(order)]
        bounds = group_bounds(theirs, 2, UserModel(0.5, 0.5, False))["EEL"]
        losses.append((squared(mine, theirs) - bounds[0]) / (bounds[1] - bounds[0]))
    assert values["1", "group_EEL"] == pytest.approx(losses[0], abs=1e-9)
    error = 4.5 * np.std(losses) / math.sqrt(200)
    assert values["1", "group_EEL_placebo"] == pytest.approx(np.mean(losses), abs=error)


def test_a_value_set_by_the_official_rule_has_no_excess() -> None:
    values = found({"1": RUN["1"]}, "trec2020_rerank_official")
    for key in ("group_EEL", "group_EEL_placebo", "group_EEL_excess"):
        assert values["2"][key] == 0.0
    zero = found({"1": RUN["1"]}, "trec2020_rerank_corrected", missing_query="zero_exposure")
    losses = every("2", squared, answered=False)
    assert zero["2"]["group_EEL_placebo"] == pytest.approx(np.mean(losses), abs=1e-12)


def test_a_loss_without_value_has_no_placebo() -> None:
    values = found({**RUN, "2": [["x"]]}, "trec2020_rerank_corrected", loss="js")
    assert values["2"]["group_EEL"] is None
    assert values["2"]["group_EEL_placebo"] is None
    assert values["1"]["group_EEL_excess"] is not None
