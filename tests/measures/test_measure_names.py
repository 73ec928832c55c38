"""Measures as text: what is accepted, what it means, and that it prints back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rerankers._base.errors import ConfigError
from rerankers.measures import Measure, parse, parse_many
from rerankers.measures.names import ALIASES, TABLE, definition

SAME = {
    "EEL": Measure("EEL"),
    "EE-L": Measure("EEL"),
    " ee-d ": Measure("EED"),
    "EED(umodel='rbp',p=0.5)@20": Measure("EED", (("umodel", "rbp"), ("p", 0.5)), 20),
    'EED( p = .5 , umodel = "rbp" ) @ 20': Measure("EED", (("umodel", "rbp"), ("p", 0.5)), 20),
    "EED(umodel=rbp,patience=5e-1)@20": Measure("EED", (("umodel", "rbp"), ("p", 0.5)), 20),
    "EEL(group='economy')@100": Measure("EEL", (("group", "economy"),), 100),
    "EEL(group=economic level)": Measure("EEL", (("group", "economic level"),)),
    "EEL(attribute='a')": Measure("EEL", (("group", "a"),)),
    "EEL()": Measure("EEL"),
    "nDCG@10": Measure("nDCG", cutoff=10),
    "ndcg@10": Measure("nDCG", cutoff=10),
    "ndcg_cut_10": Measure("nDCG", cutoff=10),
    "ndcg_cut.10": Measure("nDCG", cutoff=10),
    "ndcg": Measure("nDCG"),
    "map": Measure("AP"),
    "MAP": Measure("AP"),
    "map_cut_100": Measure("AP", cutoff=100),
    "recip_rank": Measure("RR"),
    "MRR@10": Measure("RR", cutoff=10),
    "P@5": Measure("P", cutoff=5),
    "P_5": Measure("P", cutoff=5),
    "P.5": Measure("P", cutoff=5),
    "P(rel=1)@5": Measure("P", cutoff=5),
    "P(rel=2)@5": Measure("P", (("rel", 2),), 5),
    "recall_1000": Measure("R", cutoff=1000),
    "R@100": Measure("R", cutoff=100),
    "RR": Measure("RR"),
    "Judged@10": Measure("Judged", cutoff=10),
    "utility(u=1)": Measure("utility", (("u", 1.0),)),
    "group_EEL@20": Measure("group_EEL", cutoff=20),
}


@pytest.mark.parametrize(("text", "measure"), SAME.items())
def test_reads(text: str, measure: Measure) -> None:
    assert parse(text) == measure
    assert hash(parse(text)) == hash(measure)
    assert parse(str(measure)) == measure


def test_prints_the_canonical_form() -> None:
    assert str(parse("EE-D(umodel=rbp,p=.5)@20")) == "EED(p=0.5,umodel='rbp')@20"
    assert str(parse("ndcg_cut_10")) == "nDCG@10"
    assert str(parse("EEL(group=economy)")) == "EEL(group='economy')"
    assert str(parse("P(rel=1)@5")) == "P@5"


@given(st.text(), st.floats(0, 1), st.integers(1, 10**6))
def test_every_value_prints_back(group: str, patience: float, cutoff: int) -> None:
    measure = Measure("EEL", (("group", group), ("p", patience)), cutoff)
    assert parse(str(measure)) == measure


@given(st.text(alphabet="EDLP@(),='\"\\ 0.a-_", max_size=25))
def test_any_text_is_a_measure_or_a_config_error(text: str) -> None:
    try:
        measure = parse(text)
    except ConfigError:
        return
    assert parse(str(measure)) == measure


WRONG = {
    "": "expected a name",
    "nDGC@10": "Did you mean 'nDCG'",
    "EEL(": "expected a parameter name",
    "EEL(grop='a')": "Did you mean 'group'",
    "EEL(group)": "expected '='",
    "EEL(group='a": "closing '",
    "EEL(group='a'": "expected ','",
    "EEL(p=0.5 u=0.5)": "expected ','",
    "EEL@": "whole number after @",
    "EEL@ten": "whole number after @",
    "EEL@0": "at least 1",
    "EEL@10x": "expected the end",
    "EEL(p=2)": "from 0 to 1",
    "EEL(p=nan)": "from 0 to 1",
    "EEL(p=much)": "expected a number",
    "EEL(p=.5,patience=.5)": "more than once",
    "EEL(umodel='rpb')": "Did you mean 'rbp'",
    "P": "found no cutoff",
    "P(rel=0)@5": "whole number from 1",
    "P(rel=1.5)@5": "whole number from 1",
    "Judged(rel=2)@5": "takes none",
    "__import__('os')": "expected a name",
}


@pytest.mark.parametrize(("text", "message"), WRONG.items())
def test_refuses(text: str, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse(text)
    assert message in str(caught.value)


def test_lists() -> None:
    expected = (Measure("EEL"), Measure("P", (("rel", 2),), 5), Measure("EEL", (("group", "a, b"), ("p", 0.5))))
    assert parse_many("EEL, P(rel=2)@5 EEL(group='a, b', p=.5),EEL") == expected
    assert parse_many(["EEL", expected[1], "EEL(group='a, b',p=.5)"]) == expected
    assert parse_many(Measure("EEL")) == expected[:1]
    assert parse_many("") == ()


@pytest.mark.parametrize("name", TABLE)
def test_every_line_of_the_table_leads_to_its_class(name: str) -> None:
    kind = definition(name)
    assert kind.name == name
    assert kind.description
    words = [word for parameter in kind.parameters for word in (parameter.name, *parameter.aliases)]
    assert len(set(words)) == len(words)
    assert all(parameter.description for parameter in kind.parameters)


def test_names_are_distinct_whatever_their_case() -> None:
    words = [word.lower() for word in (*TABLE, *ALIASES)]
    assert len(set(words)) == len(words)
