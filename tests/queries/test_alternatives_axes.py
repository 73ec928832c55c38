"""Axes of one query, weights as browsing, methods as they are written."""

from __future__ import annotations

import numpy as np
import pytest

from rerankers._base.errors import ConfigError, InputError
from rerankers.exposure.browsing import DCG, Positions, TopKSet
from rerankers.queries.alternatives import Judge
from rerankers.queries.axis_scores import LOW_COVERAGE, Axis, described, joint_axis
from rerankers.queries.distributions import rank_weights
from rerankers.queries.looks import ListLook, browsing_of
from rerankers.queries.rerankings import AlternativeOptions, method_of
from rerankers.values import GroupAlignment

N_DOCS = 60


def axis(name="side", groups="ab", target=None, seed=0, known=1.0, **rest) -> Axis:
    draw = np.random.default_rng(seed)
    code = draw.choice(len(groups), N_DOCS, p=[0.75] + [0.25 / (len(groups) - 1)] * (len(groups) - 1))
    docs = np.flatnonzero(draw.random(N_DOCS) < known)
    alignment = GroupAlignment.of_entries(name, tuple(groups), docs, code[docs], np.ones(len(docs)), N_DOCS)
    return Axis(name, alignment, target or dict.fromkeys(groups, 1.0), **rest)


DOCS = np.random.default_rng(1).permutation(N_DOCS)[:30].astype(np.int32)
QUICK = AlternativeOptions(n=8, draws=60)


def test_joint_axis_is_the_product() -> None:
    sides = [axis(known=0.7, target={"a": 3, "b": 1}), axis("place", "abc", seed=6, known=0.8)]
    both = joint_axis(sides)
    assert both.groups == ("a & a", "a & b", "a & c", "b & a", "b & b", "b & c")
    assert both.shares == pytest.approx([0.25, 0.25, 0.25, 1 / 12, 1 / 12, 1 / 12])
    for doc in range(N_DOCS):
        one, two = (
            set(side.alignment.group[side.alignment.indptr[doc] : side.alignment.indptr[doc + 1]]) for side in sides
        )
        part = slice(both.alignment.indptr[doc], both.alignment.indptr[doc + 1])
        assert set(both.alignment.group[part]) == {3 * a + b for a in one for b in two}
        assert both.alignment.unknown[doc] == (0 if one and two else 1)
    assert described(both)["target"]["b & c"] == pytest.approx(1 / 12)


def test_coverage_below_the_least_is_not_defined() -> None:
    side = axis(known=0.4, least_coverage=0.99)
    found = Judge(DOCS, [side], QUICK.by_rank).score(ListLook(DOCS))
    assert found["objectives"]["side"] is None
    assert found["reasons"] == {"side": LOW_COVERAGE}
    assert found["single"] == {"side": None}
    assert axis(known=0.4, least_coverage=0.05).stand(DOCS, np.ones(30)).closeness is not None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("kl_tilt", ("kl_tilt", {})),
        (" kl_tilt( strength = 0.5 ) ", ("kl_tilt", {"strength": 0.5})),
        ("kl_greedy(fairness_weight=1, cutoff=None)", ("kl_greedy", {"fairness_weight": 1, "cutoff": None})),
    ],
)
def test_methods_as_they_are_written(text, expected) -> None:
    assert method_of(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "kl_tilt(0.5)",
        "kl_tilts",
        "kl_tilt(strength=open('x'))",
        "a.b()",
        "",
        "kl_tilt(**{})",
        "kl_tilt(power=1)",
        "kl_tilt(strength=2)",
        "f(x)(y)",
    ],
)
def test_methods_that_are_none(text) -> None:
    with pytest.raises(ConfigError, match=r"alternatives\.methods|method\.strength"):
        AlternativeOptions([text])


@pytest.mark.parametrize("options", [{"n": 0}, {"draws": 1}])
def test_bad_options(options) -> None:
    with pytest.raises(ConfigError, match="n >= 1 and draws >= 2"):
        AlternativeOptions(**options)


@pytest.mark.parametrize(
    ("target", "rest", "words"),
    [
        ({"z": 1.0}, {}, "the group 'z'"),
        ({"a": -1.0}, {}, "at least 0"),
        ({"a": 0.0}, {}, "one above 0"),
        (None, {"kind": "jsd"}, "which closeness jsd needs"),
        ({"unknown": 1.0}, {"unknown": "drop"}, "the group 'unknown'"),
    ],
)
def test_bad_axes(target, rest, words) -> None:
    with pytest.raises(InputError, match=words):
        Axis("side", axis().alignment, target, **rest)
    with pytest.raises(ConfigError, match="closeness"):
        Axis("side", axis().alignment, {"a": 1}, "jds")


@pytest.mark.parametrize("kind", ["jsd", "tv", "l2", "entropy"])
@pytest.mark.parametrize("unknown", ["drop", "spread", "count"])
@pytest.mark.parametrize("groups", ["a", "ab", "abcd"])
def test_many_lists_at_once_stand_where_each_stands(kind, unknown, groups) -> None:
    draw = np.random.default_rng(len(groups))
    code = draw.integers(0, len(groups), 40)
    alignment = GroupAlignment.of_entries("side", tuple(groups), np.arange(40), code, np.ones(40), N_DOCS)
    target = None if kind == "entropy" else dict(zip(groups, draw.random(len(groups)) + 0.1, strict=True))
    side = Axis("side", alignment, target, kind, unknown, 0.4)
    lists = [draw.permutation(N_DOCS)[: draw.integers(0, 9)] for _ in range(60)]
    lists += [np.arange(40, 45), np.empty(0, int), np.arange(39, 45)]
    weights = rank_weights("log2", 6)
    values = [side.stand(one[:6], weights[: len(one)]).closeness for one in lists]
    assert None in values
    assert side.stands(lists, weights) == pytest.approx([np.nan if v is None else v for v in values], nan_ok=True)
    assert side.stands([], weights).shape == (0,)


def test_joint_axis_needs_two() -> None:
    with pytest.raises(InputError, match="two or more"):
        joint_axis([axis()])
    only_unknown = axis("other", target={"unknown": 1.0}, unknown="count")
    with pytest.raises(InputError, match="known groups"):
        joint_axis([axis(), only_unknown])


@pytest.mark.parametrize(
    ("weights", "kind"), [(np.ones(4), TopKSet), (rank_weights("log2", 4), DCG), (rank_weights("rbp", 4), Positions)]
)
def test_weights_become_the_same_browsing(weights, kind) -> None:
    browsing = browsing_of(weights)
    assert isinstance(browsing, kind)
    bound = browsing.bind(None, np.array([0, 6]))
    assert bound.position == pytest.approx([*weights, 0, 0])
