"""Answers about fairness that do not fit together are refused, with what would be possible."""

from __future__ import annotations

from typing import Any

import pytest

from rerankers._base.errors import ConfigError
from rerankers._conf import conf_folder
from rerankers.stages.choice_answers import MAIN_ATTRIBUTE, OWN_GROUPS, WITH_TRAINING, Answers


def answers(**more: Any) -> Answers:
    return Answers(**({"definition": "merit"} | more))


@pytest.mark.parametrize(
    ("wrong", "possible"),
    [
        ({"definition": "parity", "unit": "documents"}, "method=uniform"),
        ({"definition": "proportional", "unit": "documents"}, "unit=groups"),
        ({"definition": "worst_off", "unit": "groups"}, "unit=documents"),
        ({"definition": "parity", "labels": "none"}, "labels=predicted groups=FILE"),
        ({"unit": "groups", "labels": "none"}, "unit=documents"),
        ({"labels": "none", "groups": "some.csv"}, "given or predicted"),
        ({"labels": "predicted"}, "groups=FILE"),
        ({"labels": "given", "collection": "letor"}, "groups=FILE"),
        ({"labels": "given", "groups": "nowhere.csv"}, "which is no file"),
        ({"judgments": "train", "collection": "ir_datasets"}, "jsonl"),
        ({"definition": "parity", "utility_floor": 0.9}, "judgments=train"),
        ({"definition": "worst_off", "utility_floor": 0.9}, "utility_floor=null"),
        ({"definition": "worst_off", "sequence": True}, "sequence=false"),
        ({"unit": "groups", "collection": "jsonl", "sequence": True}, "attribute"),
        ({"definition": "proportional", "proportional_to": "population"}, "shares={A:0.6,B:0.4}"),
        ({"definition": "proportional", "shares": {"A": 1.0}}, "population"),
        ({"proportional_to": "first_stage"}, "definition=proportional"),
        ({"utility_floor": 0.0}, "above 0"),
        ({"utility_floor": 1.5}, "up to 1"),
        ({"utility_floor": True}, "above 0"),
        ({"sequence": "maybe"}, "true or false"),
        ({"definition": "merrit"}, "merit"),
        ({"name": "../fair"}, "letters"),
    ],
)
def test_what_does_not_fit_together_says_what_would(wrong: dict[str, Any], possible: str) -> None:
    with pytest.raises(ConfigError) as caught:
        answers(**wrong).completed()
    assert possible in str(caught.value)
    assert "found" in str(caught.value)


def test_defaults_follow_from_the_definition() -> None:
    merit = answers().completed()
    assert (merit.unit, merit.labels, merit.retriever, merit.attribute) == ("documents", "none", "bm25", None)
    parity = answers(definition="parity").completed()
    assert (parity.unit, parity.labels, parity.attribute) == ("groups", "given", "economy")
    assert answers(definition="parity", collection="trec_fair_2020").completed().retriever == "candidates"


def test_what_is_known_of_collections_is_so() -> None:
    """Their configs have a split for training, and attributes that are named."""
    for path in (conf_folder() / "collection").glob("*.yaml"):
        node = path.read_text()
        assert ("| eval" in node or "eval | " in node) == (path.stem in WITH_TRAINING), path
    assert set(MAIN_ATTRIBUTE) <= set(OWN_GROUPS)
