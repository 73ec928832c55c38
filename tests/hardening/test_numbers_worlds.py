"""Every measure on queries where nothing is ordinary: a finite number, or none with a reason, and no warning."""

from __future__ import annotations

import warnings
from itertools import product

import numpy as np
import pytest

from rerankers.exposure import DCG, ERR, GERR, RBP, Positions, TopKSet
from rerankers.measures import evaluate
from rerankers.measures.name_table import TABLE

TWICE = {"q": [["a", "b", "c"], ["b", "a", "c"]]}
WORLDS = {
    "nothing relevant": (TWICE, {"q": {"a": 0, "b": 0, "c": 0}}),
    "everything relevant": (TWICE, {"q": {"a": 1, "b": 1, "c": 1}}),
    "one document": ({"q": [["a"]]}, {"q": {"a": 1}}),
    "grades of all sizes": (TWICE, {"q": {"a": 32767, "b": 0, "c": 3, "e": 2}}),
    "a query with one judged 0": ({**TWICE, "r": [["a"]]}, {"q": {"a": 1, "b": 0, "e": 2}, "r": {"a": 0}}),
}
GROUPS = {
    "none": None,
    "one group": dict.fromkeys("abcde", "x"),
    "a document in no group": {"a": "x", "b": "y", "c": "x", "d": None, "e": "y"},
    "nobody in a group": dict.fromkeys("abcde"),
    "weights that hardly count": {
        "a": {"x": 0.5, "y": 0.5},
        "b": {"x": 1e-310},
        "c": {"y": 1.0},
        "e": {"x": 5e-324, "y": 1e-300},
    },
}
MODELS = [
    RBP(1e-310),
    RBP(1 - 2.0**-53),
    RBP(0.0),
    GERR(),
    DCG(),
    Positions((1e149, 1e10)),
    Positions((1e-310, 5e-324)),
    TopKSet(10**9),
    ERR(),
]
PAIRS = list(product(WORLDS, GROUPS))
OF_A_CELL = {"share": "(cell=x)@2", "group_share": "(cell=x)@2"}
CUT = {"P", "R", "group_out_of_bounds", "never_seen", "never_seen_count", "out_of_bounds"}


@pytest.mark.parametrize(("world", "groups"), PAIRS, ids=str)
def test_every_measure_has_a_number_or_a_reason(world: str, groups: str) -> None:
    run, qrels = WORLDS[world]
    labels = GROUPS[groups]
    named = labels is not None and any(labels.values())
    names = [
        name + OF_A_CELL.get(name, "@2" if name in CUT else "") for name in TABLE if named or name not in OF_A_CELL
    ]
    number = PAIRS.index((world, groups))
    for model in (MODELS[number % len(MODELS)], MODELS[(number + 4) % len(MODELS)]):
        with warnings.catch_warnings(), np.errstate(over="raise", invalid="raise", divide="raise"):
            warnings.simplefilter("error")
            rows = evaluate(run, qrels, labels, browsing=model, measures=names).to_pylist()
        assert len({row["measure"] for row in rows}) >= (40 if named else 20)
        for row in rows:
            assert (row["value"] is None) == (row["reason"] is not None), row
            assert row["value"] is None or np.isfinite(row["value"]), row
