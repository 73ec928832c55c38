"""The whole analysis: values by hand, reasons, floors and ceilings, comparisons, wrong arguments."""

from __future__ import annotations

import json
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from rerankers._base.errors import ConfigError, InputError
from rerankers.measures.rank_overlap import rbo
from rerankers.queries import pool_overlap_bounds
from rerankers.queries.residual import rbp_residual
from rerankers.queries.sets import VariantSet
from rerankers.queries.variant_analysis import AnalysisOptions, Ranked, analyse
from rerankers.queries.variant_rows import REASONS
from rerankers.stats.bootstrap import mean_intervals
from rerankers.stats.permutation import holm, sign_flip_tests

FEW = AnalysisOptions(depths=(2, 3), resamples=100, permutations=99)


def ranked(*lists: list[int]) -> list[Ranked]:
    return [Ranked(np.array(docs, dtype=np.int64)) for docs in lists]


HUMAN = VariantSet("human", {"1": ("red fox", "Red  fox", "fox"), "2": ("sea", "the sea"), "3": ("moon", "a moon")})
ONE = VariantSet("one", {"1": ("fox", "blue fox"), "2": ("sea",), "4": ("sun",)}, {"repeated": 3})
TWO = VariantSet("two", {"1": ("red fox",), "2": ("lake", "sea")})
RANKED = {
    "human": {"1": ranked([1, 2, 3], [2, 1, 4], [9]), "2": ranked([5, 6], []), "3": ranked([1], [1])},
    "one": {"1": ranked([2, 7, 3], [8, 2]), "2": ranked([6, 5, 1])},
    "two": {"1": ranked([1, 3, 2]), "2": ranked([], [5])},
}
GRADES = {"1": {1: 1, 2: 2, 3: 0, 8: -1, 7: 1}, "2": {5: 0, 6: -100}}


@pytest.fixture(scope="module")
def found() -> dict[str, Any]:
    return analyse([HUMAN, ONE, TWO], "human", RANKED, GRADES, FEW)


def pick(found: dict[str, Any], measure: str, name: str, **wanted: Any) -> dict[str, Any]:
    wanted = {"role": "value", **wanted}
    rows = [
        row
        for row in found["measures"]
        if row["measure"] == measure and row["set"] == name and all(row[key] == value for key, value in wanted.items())
    ]
    assert len(rows) == 1
    return rows[0]


def values(row: dict[str, Any]) -> list[float | str]:
    return [one["reason"] if one["value"] is None else one["value"] for one in row["per_topic"].values()]


def test_it_is_json_and_the_same_again(found: dict[str, Any]) -> None:
    text = json.dumps(found, allow_nan=False, sort_keys=True)
    again = analyse([HUMAN, ONE, TWO], "human", RANKED, GRADES, FEW)
    assert json.dumps(again, allow_nan=False, sort_keys=True) == text
    assert found["topics"] == ["1", "2", "3", "4"]
    assert found["sets"]["human"] == {
        "topics": 3, "variants": 7, "distinct": 7, "distinct_per_topic": 7 / 3, "counts": {},
    }  # fmt: skip
    assert found["sets"]["one"]["counts"] == {"repeated": 3}
    assert found["options"]["rbo_p"] == 0.9
    assert found["skipped"] == {}


def test_texts(found: dict[str, Any]) -> None:
    row = pick(found, "string_jaccard", "one", stage="case+space")
    assert values(row) == [1 / 3, 1 / 2, "topic_not_in_set", "topic_not_in_set"]
    assert (row["mean"], row["topics"], row["undefined"]) == (pytest.approx(5 / 12), 2, 2)
    assert row["reasons"] == {"topic_not_in_set": 2}
    assert values(pick(found, "string_coverage_of_human", "one", stage="stop"))[:2] == [1 / 2, 1.0]
    assert values(pick(found, "string_coverage_of_generated", "two", stage="stop"))[:2] == [1.0, 1 / 2]
    between = pick(found, "string_jaccard", "two", stage="case+space", role="between")
    assert (between["against"], values(between)[:2]) == ("one", [0.0, 1 / 2])


def test_floors_and_ceiling_of_texts(found: dict[str, Any]) -> None:
    other = pick(found, "string_jaccard", "one", stage="bag", role="floor", detail="variants of another topic")
    assert all(one in (0.0, "topic_not_in_set") for one in values(other))
    random = pick(
        found, "string_coverage_of_human", "two", stage="bag", role="floor", detail="random terms of the topic"
    )
    assert values(random)[0] == 1 / 2  # both words, the only choice of two: one of the two human bags
    ceiling = pick(found, "string_jaccard_of_expectations", "human", stage="case+space", role="ceiling")
    assert ceiling["mean"] is None
    assert set(ceiling["reasons"]) == {"variants_are_distinct", "topic_not_in_set"}
    repeated = VariantSet("human", {"1": ("sea", "sea", "lake", "sea"), "2": ("moon",)})
    told = analyse([repeated, TWO], "human", options=FEW)
    ceiling = pick(told, "string_coverage_of_human", "human", stage="case+space", role="ceiling")
    halves = [({"sea"}, {"sea", "lake"})] * 3 + [({"sea", "lake"}, {"sea"})] * 3
    both, size = (sum(len(a & b) for a, b in halves), sum(len(a) for a, _ in halves))
    assert values(ceiling) == [pytest.approx(both / size), "too_few_variants"]
    assert ceiling["per_topic"]["1"]["parts"] == {"variants": 2.0}


def test_pools_are_those_of_the_function(found: dict[str, Any]) -> None:
    for name, depth, topic in (("one", 2, "1"), ("one", 3, "2"), ("two", 3, "1"), ("two", 2, "2")):
        pools = [{doc for one in RANKED[side][topic] for doc in one.docs[:depth].tolist()} for side in ("human", name)]
        good = [doc for doc, grade in GRADES[topic].items() if grade > 0]
        expected = pool_overlap_bounds(*pools, GRADES[topic], good)
        for measure in ("jaccard_all", "cov_h_by_g_all", "jaccard_rel", "cov_g_by_h_rel", "unjudged_share_g"):
            row = pick(found, f"pool_{measure}", name, depth=depth)
            assert row["per_topic"][topic]["value"] == expected[measure]
            if measure.endswith("rel") and expected[measure] is not None:
                assert row["per_topic"][topic]["bounds"] == expected[f"{measure}_bounds"]
                assert row["per_topic"][topic]["parts"] == {"plug_in": expected[f"{measure}_plug_in"]}
        needed = pick(found, "pool_judgments_needed", name, depth=depth)["per_topic"][topic]
        assert needed["value"] == expected["judgments_needed"] == sum(needed["parts"].values())


def test_pools_without_a_value_say_why(found: dict[str, Any]) -> None:
    row = pick(found, "pool_jaccard_rel", "one", depth=2)
    assert values(row)[1:] == ["no_relevant_document", "not_retrieved", "not_retrieved"]
    assert row["bounds"][0] <= row["mean"] <= row["bounds"][1]
    no_judgment = analyse([HUMAN, ONE], "human", {k: RANKED[k] for k in ("human", "one")}, {"1": GRADES["1"]}, FEW)
    assert values(pick(no_judgment, "pool_jaccard_rel", "one", depth=2))[1] == "query_not_judged"
    assert all(reason in REASONS for row in found["measures"] for reason in row["reasons"])


def test_pools_at_equal_numbers(found: dict[str, Any]) -> None:
    row = pick(found, "pool_jaccard_of_expectations_all", "one", depth=2, role="equal_number")
    human, other = ([set(one.docs[:2].tolist()) for one in RANKED[name]["1"]] for name in ("human", "one"))
    both = np.mean([len(a & b) for a in human for b in other])
    union = np.mean([len(a | b) for a in human for b in other])
    assert values(row)[0] == pytest.approx(both / union)
    assert row["per_topic"]["1"]["parts"] == {"variants": 1.0}
    smaller = pick(found, "pool_jaccard_of_expectations_all", "one", depth=2, role="smaller_number")
    assert smaller["per_topic"]["1"]["parts"] == {"variants": 2.0}
    pairs = [one | two for one, two in combinations(human, 2)]
    both = np.mean([len(one & (other[0] | other[1])) for one in pairs])
    union = np.mean([len(one | other[0] | other[1]) for one in pairs])
    assert values(smaller)[0] == pytest.approx(both / union)
    sizes = pick(found, "pool_expected_size_all", "human", depth=2, role="equal_number")
    assert values(sizes) == [pytest.approx(5 / 3), 1.0, "too_few_variants", "not_retrieved"]
    new = pick(found, "pool_new_relevant", "one", depth=2)
    assert (new["per_topic"]["1"]["value"], new["per_topic"]["1"]["bounds"]) == (1.0, [1.0, 1.0])
    ceiling = pick(found, "pool_coverage_of_human_all", "human", depth=2, role="ceiling")
    assert values(ceiling)[0] == pytest.approx(
        np.mean([len(a & b) for a, b in combinations(human, 2)]) / np.mean([len(a) for a in human])
    )
    curve = next(one for one in found["growth"] if (one["set"], one["depth"], one["documents"]) == ("human", 2, "all"))
    # topics 1 and 2 are in all sets, with 3 and 2 human variants: pools {1, 2}, {2, 1}, {9} and {5, 6}, {}
    assert curve["topics"] == 2
    assert curve["expected"] == pytest.approx([(5 / 3 + 1) / 2, (8 / 3 + 2) / 2, (3 + 2) / 2])


def test_rankings(found: dict[str, Any]) -> None:
    within = pick(found, "rbo_within", "human")
    assert (within["p"], pick(found, "rbp", "one")["p"]) == (0.9, 0.8)
    assert pick(found, "pool_jaccard_all", "one", depth=2)["p"] is None
    lists = [one.docs for one in RANKED["human"]["1"]]
    assert values(within)[0] == pytest.approx(np.mean([rbo(a, b, 0.9) for a, b in combinations(lists, 2)]))
    assert values(within)[1:] == ["fewer_than_two_rankings", pytest.approx(1.0), "not_retrieved"]
    assert within["per_topic"]["2"]["parts"] == {"pairs": 0.0, "empty": 1.0}
    assert values(pick(found, "rbo_across", "human", role="ceiling")) == values(within)
    across = pick(found, "rbo_across", "one")
    pairs = [rbo(a, b.docs, 0.9) for a in lists for b in RANKED["one"]["1"]]
    assert values(across)[0] == pytest.approx(np.mean(pairs))


def test_precision(found: dict[str, Any]) -> None:
    row = pick(found, "rbp", "one")
    parts = [rbp_residual(gains, 0.8) for gains in ([1, 1, 0], [0, 1])]
    first = row["per_topic"]["1"]
    assert first["value"] == pytest.approx(np.mean([one.lower for one in parts]))
    assert first["bounds"] == pytest.approx([first["value"], np.mean([one.upper for one in parts])])
    assert first["parts"]["tail"] == pytest.approx(np.mean([0.8**3, 0.8**2]))
    best = pick(found, "rbp_best", "one", role="oracle_pick")
    assert best["per_topic"]["1"]["value"] == max(one.lower for one in parts)
    equal = pick(found, "rbp_best_of_m", "one", role="equal_number")
    assert equal["per_topic"]["1"]["value"] == pytest.approx(first["value"])  # one variant each: set two has one
    assert values(row)[2:] == ["not_retrieved", "not_retrieved"]


def test_intervals_are_those_of_one_set_of_resamples() -> None:
    texts = {f"{at:02d}": (f"w{at % 3}", f"v{at}") for at in range(20)}
    other = {f"{at:02d}": (f"w{at % 5}", f"v{at if at % 2 else 99}") for at in range(20)}
    options = AnalysisOptions(stages=("punct",), resamples=200, interval="bca", seed=5, permutations=99)
    sets = [VariantSet("human", texts), VariantSet("a", other), VariantSet("b", texts)]
    found = analyse(sets, "human", options=options)
    row = pick(found, "string_jaccard", "a", stage="punct")
    column = np.array(values(row), dtype=float)
    (interval,) = mean_intervals(column[:, None], seed=5, resamples=200)
    assert (row["mean"], row["low"], row["high"]) == (interval.mean, interval.low, interval.high)
    lines = [line for line in found["comparisons"] if line["measure"] == "string_jaccard"]
    assert [(line["set"], line["minus"]) for line in lines] == [("b", "a")]
    assert lines[0]["difference"] == pytest.approx(1 - column.mean())
    assert lines[0]["p"] == sign_flip_tests(1 - column, permutations=99, seed=5).p[0]
    adjusted = holm([line["p"] for line in found["comparisons"]])
    assert [line["p_holm"] for line in found["comparisons"]] == adjusted.tolist()


def test_spread_over_completions() -> None:
    options = AnalysisOptions(stages=("punct",), resamples=50, permutations=9, completions={"one": "gpt", "two": "gpt"})
    found = analyse([HUMAN, ONE, TWO], "human", options=options)
    line = next(one for one in found["spread"] if one["measure"] == "string_jaccard")
    means = [pick(found, "string_jaccard", name, stage="punct")["mean"] for name in ("one", "two")]
    assert (line["setting"], line["sets"], line["means"]) == ("gpt", ["one", "two"], means)
    assert line["sd"] == pytest.approx(np.std(means, ddof=1))
    assert (line["least"], line["most"]) == (min(means), max(means))
    single = AnalysisOptions(stages=("punct",), resamples=50, permutations=9, completions={"one": "gpt"})
    assert analyse([HUMAN, ONE], "human", options=single)["spread"][0]["sd"] is None


def test_texts_alone_and_sets_without_rankings() -> None:
    found = analyse([HUMAN, ONE], "human", options=FEW)
    assert {row["measure"].split("_")[0] for row in found["measures"]} == {"string"}
    assert set(found["skipped"]) == {"relevance", "pools and rankings of human", "pools and rankings of one"}
    some = analyse([HUMAN, ONE, TWO], "human", {k: RANKED[k] for k in ("human", "two")}, None, FEW)
    assert {row["set"] for row in some["measures"] if row["measure"] == "pool_jaccard_all"} == {"two"}
    assert not any("rel" in row["measure"] or "rbp" in row["measure"] for row in some["measures"])
    human_missing = analyse([HUMAN, ONE], "human", {"one": RANKED["one"]}, GRADES, FEW)
    assert {row["measure"] for row in human_missing["measures"] if row["measure"].startswith("rbp")} == {
        "rbp", "rbp_best", "rbp_best_of_m",
    }  # fmt: skip


def test_one_topic_only() -> None:
    found = analyse([VariantSet("human", {"1": ("a1",)}), VariantSet("g", {"1": ("a1",)})], "human", options=FEW)
    row = pick(found, "string_jaccard", "g", stage="punct")
    assert (row["mean"], row["low"], row["interval_reason"]) == (1.0, None, "fewer_than_two_values")
    floor = pick(found, "string_jaccard", "g", stage="punct", role="floor", detail="variants of another topic")
    assert floor["reasons"] == {"fewer_than_two_topics": 1}


def test_what_is_wrong_is_said() -> None:
    with pytest.raises(
        ConfigError, match=r"reference: found 'humans'; expected one of human, one. Did you mean 'human'"
    ):
        analyse([HUMAN, ONE], "humans")
    with pytest.raises(InputError, match="sets: found only the reference"):
        analyse([HUMAN], "human")
    with pytest.raises(InputError, match="sets: found the names"):
        analyse([HUMAN, HUMAN], "human")
    strange = VariantSet("uqv", {"UQV100.001": ("a",)})
    with pytest.raises(InputError, match=r"uqv: found no topic of the set 'human' .such as 'UQV100.001' against '1'"):
        analyse([HUMAN, strange], "human")
    with pytest.raises(InputError, match=r"ranked\['one'\]\['1'\]: found 1 rankings; expected one for each of the 2"):
        analyse([HUMAN, ONE], "human", {"one": {"1": ranked([1])}})
    with pytest.raises(InputError, match=r"ranked: found rankings of \['three'\]"):
        analyse([HUMAN, ONE], "human", {"three": {}})
    with pytest.raises(InputError, match=r"completions: found the sets \['three'\]"):
        analyse([HUMAN, ONE], "human", options=AnalysisOptions(completions={"three": "x"}))
    with pytest.raises(InputError, match=r"judgments\['1'\]: found a grade that is not finite"):
        analyse([HUMAN, ONE], "human", {}, {"1": {1: float("nan")}})
