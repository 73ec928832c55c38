"""Measures of the user's own: values, reasons, faults, names, groups, processes, and what is told of them."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import pytest

from rerankers._base.errors import ConfigError
from rerankers.exposure import RBP
from rerankers.measures import Measure, SeenExposure, SeenRanking, evaluate, parse, parse_many
from rerankers.measures.definition import Definition
from rerankers.measures.direction import better, direction
from rerankers.measures.own import own_definitions, told
from rerankers.measures.own_names import KNOWN, RowError, know
from rerankers.measures.plan import plan, with_placebos
from rerankers.measures.scores import Scores
from rerankers.report import keys
from rerankers.testing import check_measure

RUN = {"q1": [["a", "b", "c"], ["b", "a", "c"]], "q2": [["b"]], "q3": [["a", "b"]], "q4": [["c", "a"]]}
QRELS = {"q1": {"a": 2, "c": 1, "e": 1}, "q2": {"b": 0}, "q3": {"a": 1}}
GROUPS = {"a": "x", "b": "y", "c": "y"}


@dataclass(frozen=True)
class Coverage:
    """Share of relevant documents that are looked at often enough."""

    least: float = 0.2
    better: ClassVar[str] = "higher"

    def of_exposure(self, seen: SeenExposure) -> float | None:
        relevant = seen.grade > 0
        return float(np.mean(seen.exposure[relevant] >= self.least)) if relevant.any() else None


@dataclass(frozen=True)
class FirstGrade:
    """Grade of the first document."""

    name: ClassVar[str] = "first"
    needs_judgments: ClassVar[bool] = False

    def of_ranking(self, seen: SeenRanking) -> float:
        assert len(seen.pool_grade) >= len(seen.grade)
        return float(seen.grade[0])


@dataclass(frozen=True)
class Gap:
    """Exposure of x less that of y."""

    about_groups: ClassVar[bool] = True
    better: ClassVar[str] = "lower"

    def of_exposure(self, seen: SeenExposure) -> float:
        x, y = (seen.exposure @ seen.membership[:, seen.groups.index(name)] for name in ("x", "y"))
        return float(x - y)


@dataclass(frozen=True)
class ShareOfX:
    about_groups: ClassVar[bool] = True

    def of_ranking(self, seen: SeenRanking) -> float:
        assert seen.pool_membership.shape == (len(seen.pool_grade), len(seen.groups))
        return float(seen.membership[:, 0].mean())


@dataclass(frozen=True)
class Odd:
    what: str = "nan"

    def of_exposure(self, seen: SeenExposure) -> Any:
        if self.what == "raises":
            raise KeyError("word")
        if self.what == "writes":
            seen.exposure[0] = 1.0
        values: dict[str, Any] = {
            "nan": np.nan, "inf": np.inf, "array": np.zeros(2), "list": [1.0], "text": "because", "dict": {},
            "none": None, "reason": "no_relevant_document", "numpy": np.float32(0.5), "whole": 1,
        }  # fmt: skip
        return values[self.what]


class Counting(Definition):
    """A whole definition."""

    name = "counting"
    description = "number of documents that count"
    cutoff = "none"

    @classmethod
    def per_unit(cls, measure: Measure, evaluation: Any) -> Scores:
        return Scores.of(evaluation.over.lengths.astype(float))


@pytest.fixture(autouse=True)
def _forget() -> Iterator[None]:
    yield
    know({})


def values(*measures: Any, groups: Any = None, **options: Any) -> dict[tuple[str, str], Any]:
    table = evaluate(RUN, QRELS, groups, measures=list(measures), **options)
    return {(row["unit"], row["measure"]): row["reason"] or row["value"] for row in table.to_pylist()}


def test_of_exposure_by_hand() -> None:
    found = values(Coverage(0.6), browsing=RBP(0.5))  # q1: a .75, c .25, e 0
    assert found["q1", "Coverage"] == pytest.approx(1 / 3)
    assert found["q2", "Coverage"] == "undefined_for_query"
    assert found["q3", "Coverage"] == 1.0
    assert found["q4", "Coverage"] == "query_not_judged"


def test_of_rankings_is_the_mean_over_them() -> None:
    found = values(FirstGrade())
    assert [found[query, "first"] for query in RUN] == [1.0, 0.0, 1.0, 0.0]


def test_of_groups_with_placebo_and_excess() -> None:
    asked = with_placebos(parse_many([Gap()]))
    assert [str(one) for one in asked] == ["Gap", "Gap_placebo", "Gap_excess"]
    found = values(*asked, groups=GROUPS, browsing=RBP(0.5))
    assert found["q1", "Gap"] == pytest.approx(0.75 - 0.75 - 0.25)
    assert found["q1", "Gap_placebo"] == pytest.approx(found["q1", "Gap"] - found["q1", "Gap_excess"])
    assert found["q3", "Gap"] == pytest.approx(0.5)
    # two documents, one of either group: the mean over both orders of labels is 0
    assert abs(found["q3", "Gap_placebo"]) < 0.15
    assert values(Gap())["q1", "Gap"] == "no_groups"
    assert [str(one) for one in with_placebos(parse_many([ShareOfX()]))] == ["ShareOfX"], (
        "of single rankings: only by name"
    )
    assert values(ShareOfX(), groups=GROUPS)["q1", "ShareOfX"] == pytest.approx(1 / 3)
    excess = values(replace(parse_many([ShareOfX()])[0], part="excess"), groups=GROUPS)
    assert isinstance(excess["q1", "ShareOfX_excess"], float)


def test_several_attributes_give_a_key_each() -> None:
    planned = plan(parse_many([Gap(), Coverage()]), ["one", "two"])
    assert list(planned) == ["Gap(group='one')", "Gap(group='two')", "Coverage"]
    assert all(measure.own is not None for measure in planned.values())


def test_cutoffs_and_browsing_are_said_behind_the_name() -> None:
    know(own_definitions({"coverage": Coverage(0.3)}))
    found = values("coverage@1", "coverage(browsing='rbp',patience=0.9)", browsing=RBP(0.5))
    assert found["q1", "coverage@1"] == pytest.approx(1 / 3)
    assert found["q1", "coverage(p=0.9,umodel='rbp')"] == pytest.approx(2 / 3)
    assert str(parse("coverage(patience=0.9,browsing='rbp')@3")) == "coverage(p=0.9,umodel='rbp')@3"
    with pytest.raises(ConfigError, match="Did you mean 'coverage'"):
        parse("coverge")
    with pytest.raises(ConfigError, match="parameter of coverage"):
        parse("coverage(least=0.3)")


@pytest.mark.parametrize(
    ("what", "said"),
    [
        ("nan", "found nan; expected a finite number, or None"),
        ("inf", "found inf"),
        ("array", r"found an array of shape \(2,\); expected one number"),
        ("list", r"found an array of shape \(1,\)"),
        ("text", "found 'because'; expected a number, None, or one of query_not_judged"),
        ("dict", "found a dict"),
        ("raises", r"KeyError: 'word' \(test_own_measures.py, line \d+, in of_exposure\)"),
        ("writes", "read-only"),
    ],
)
def test_what_goes_wrong_is_told_with_the_query(what: str, said: str) -> None:
    with pytest.raises(ConfigError, match=f"measure Odd: query 'q1': .*{said}"):
        values(Odd(what))
    with pytest.raises(AssertionError, match=said):
        check_measure(Odd(what))


@pytest.mark.parametrize(
    ("what", "value"),
    [("none", "undefined_for_query"), ("reason", "no_relevant_document"), ("numpy", 0.5), ("whole", 1.0)],
)
def test_what_may_be_returned(what: str, value: Any) -> None:
    assert values(Odd(what))["q1", "Odd"] == value


@pytest.mark.parametrize(
    "name", ["EEL", "eel", "map", "MRR", "P_5", "ndcg_cut_10", "score", "unfairness", "group", "recip_rank", "p5"]
)
def test_names_of_the_table_are_refused(name: str) -> None:
    with pytest.raises(ConfigError, match="there is a measure of this name"):
        own_definitions({name: Coverage()})


@pytest.mark.parametrize("name", ["1a", "a b", "é", "a-b", "", "x@10", "group_x", "x_placebo", "x_excess_p"])
def test_names_that_would_be_read_otherwise_are_refused(name: str) -> None:
    with pytest.raises(ConfigError, match=r"measures\.own"):
        own_definitions({name: Coverage()})


def test_what_is_no_measure() -> None:
    class Neither:
        pass

    class Both(Coverage, FirstGrade):
        pass

    @dataclass(frozen=True)
    class Better:
        better: ClassVar[str] = "up"

        def of_exposure(self, seen: SeenExposure) -> float:
            return 0.0

    @dataclass
    class Changing:
        values: list[float]

        def of_exposure(self, seen: SeenExposure) -> float:
            return 0.0

    for measure, said in (
        (Neither(), "with neither"),
        (Both(), "of_exposure and of_ranking"),
        (Better(), "expected one of"),
        (Changing([1.0]), "cannot be sent to other processes"),
        (Coverage, r"expected an object of it: Coverage\(\)"),
        (3, "expected one function"),
    ):
        with pytest.raises(ConfigError, match=said):
            own_definitions({"mine": measure})
    with pytest.raises(ConfigError, match="found two called Coverage"):
        parse_many([Coverage(0.1), Coverage(0.2)])
    assert len(parse_many([Coverage(0.1), Coverage(0.1)])) == 1


def test_a_measure_travels_with_its_definition() -> None:
    know(own_definitions({"coverage": Coverage(0.3)}))
    sent = pickle.dumps(parse("coverage@5"))
    know({})
    found = pickle.loads(sent)
    assert found.own.measure == Coverage(0.3)
    assert str(replace(found, cutoff=None)) == "coverage"
    fault = pickle.loads(pickle.dumps(RowError("coverage", 1, "why")))
    assert str(fault.at(["a", "b"])) == "measure coverage: query 'b': why"
    with pytest.raises(ConfigError, match="expected one of EEL"):
        parse("coverage")


def test_a_later_job_does_not_see_the_measures_of_an_earlier_one() -> None:
    know(own_definitions({"coverage": Coverage(0.3)}))
    before = parse("coverage")
    know(own_definitions({"other": Coverage(0.9)}))
    assert list(KNOWN) == ["other"]
    assert before.own.measure == Coverage(0.3)


def test_which_way_is_better_and_in_which_words() -> None:
    definitions = own_definitions({"coverage": Coverage(0.3), "gap": Gap(), "share_of_x": ShareOfX()})
    know(definitions)
    assert [better(parse(name)) for name in ("coverage@3", "gap", "gap_excess", "share_of_x")] == [
        "higher", "lower", "lower", "",
    ]  # fmt: skip
    assert direction(parse("coverage")) == 1.0
    said = told(definitions)
    assert said["coverage"]["made"] == "Coverage(least=0.3)"
    assert said["share_of_x"]["description"] == "ShareOfX, a measure of your own"
    know({})
    keys.learn(said)  # another process, which has read results
    key = keys.parse("coverage@10")
    assert (key.better, key.words) == (
        "higher", "Share of relevant documents that are looked at often enough.",
    )  # fmt: skip
    assert keys.parse("gap(group='x')_excess").better == "lower"


def test_a_whole_definition_does_as_well() -> None:
    know(own_definitions({"counting": Counting()}))
    assert values("counting")["q1", "counting"] == 4.0
    with pytest.raises(ConfigError, match=r"expected measures\.own\.counting"):
        own_definitions({"other": Counting()})


def test_nothing_ranked_has_no_value() -> None:
    run = {**RUN, "q3": [[]]}
    table = evaluate(run, QRELS, measures=[FirstGrade(), Coverage()])
    found = {(row["unit"], row["measure"]): row["reason"] or row["value"] for row in table.to_pylist()}
    assert found["q3", "first"] == "no_ranked_document"
    assert found["q3", "Coverage"] == 0.0, "the judged document is never looked at"


@pytest.mark.parametrize("measure", [Coverage(), FirstGrade(), Gap(), ShareOfX(), Odd("whole")], ids=str)
def test_contract(measure: Any) -> None:
    know({})
    check_measure(measure, labels=("x", "y"))


@dataclass(frozen=True)
class Remembers:
    """Gives another number every time."""

    def of_exposure(self, seen: SeenExposure) -> float:
        CALLS.append(1)
        return float(len(CALLS))


@dataclass(frozen=True)
class Splits:
    """Looks at the order of the documents, which means nothing."""

    def of_exposure(self, seen: SeenExposure) -> float:
        return float(seen.exposure[0])


CALLS: list[int] = []


def test_measures_that_break_the_contract() -> None:
    with pytest.raises(AssertionError, match="other values"):
        check_measure(Remembers())
    with pytest.raises(AssertionError, match="the names of documents change its values"):
        check_measure(Splits())
