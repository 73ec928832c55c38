"""Arguments of `rerank_one` as users have them: arrays of labels, and what is no label."""

import numpy as np
import pytest

from rerankers._base.errors import ConfigError, InputError
from rerankers.methods import rerank_one

SCORES = [3.0, 2.0, 1.0, 0.0]


@pytest.mark.parametrize("groups", [np.array(list("ABAB")), np.array([0, 1, 0, 1]), ["A", "B", "A", "B"]])
def test_groups_may_be_an_array(groups: object) -> None:
    policy = rerank_one("kl_tilt", SCORES, groups)  # type: ignore[arg-type]
    expected = rerank_one("kl_tilt", SCORES, ["A", "B", "A", "B"])
    np.testing.assert_array_equal(policy.sample(5, seed=1).item, expected.sample(5, seed=1).item)


def test_objects_in_an_array_may_be_none() -> None:
    policy = rerank_one("kl_tilt", SCORES, np.array(["A", None, "B", "B"], dtype=object))
    expected = rerank_one("kl_tilt", SCORES, ["A", None, "B", "B"])
    np.testing.assert_array_equal(policy.sample(5, seed=1).item, expected.sample(5, seed=1).item)


@pytest.mark.parametrize(
    ("groups", "found"),
    [
        (["A", ["A", "B"], "B", "B"], r"groups\[1\]: found \['A', 'B'\]"),
        (["A", float("nan"), "B", "B"], r"groups\[1\]: found NaN"),
        (5, "groups: found 5"),
        (["A"], "groups: found 1 labels"),
    ],
)
def test_what_is_no_label_is_refused(groups: object, found: str) -> None:
    with pytest.raises(InputError, match=found):
        rerank_one("kl_tilt", SCORES, groups)  # type: ignore[arg-type]


def test_scores_of_text_are_refused() -> None:
    with pytest.raises(InputError, match="scores: found"):
        rerank_one("kl_tilt", ["a", "b"], ["A", "B"])


def test_a_group_of_none_says_that_there_is_none() -> None:
    with pytest.raises(ConfigError, match="nothing to choose from"):
        rerank_one("fa_star_ir", SCORES, [None] * 4, protected="A", p=0.5)


def test_the_option_that_is_wrong_is_named() -> None:
    with pytest.raises(ConfigError, match=r"method\.attribute: found 'nope'"):
        rerank_one("round_robin", SCORES, list("ABAB"), attribute="nope")


def test_options_whose_names_are_taken_can_be_given() -> None:
    groups = list("ABAB")
    raw = rerank_one("kl_greedy", SCORES, groups, method_options={"scores": "raw"}, fairness_weight=0.1)
    assert raw.sample(1, seed=0).item.tolist() == [0, 1, 2, 3]
    merit = rerank_one("fair_co", SCORES, method_options={"target": "equal"})
    assert sorted(merit.sample(1, seed=0).item.tolist()) == [0, 1, 2, 3]
    with pytest.raises(ConfigError, match=r"method_options=\{'target': 'merit'\}"):
        rerank_one("fair_co", SCORES, target="merit")
