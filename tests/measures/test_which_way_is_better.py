"""Which way a measure is better: the orders of systems, fits and reports follow it."""

import pytest

from rerankers.measures.axioms import check_axioms
from rerankers.measures.direction import better, direction
from rerankers.measures.names import TABLE, parse
from rerankers.report.keys import parse as parse_key
from rerankers.stages.fit_spec import FitSearch


def test_more_attention_weighted_rank_fairness_is_better() -> None:
    assert direction(parse("AWRF")) == 1.0
    assert parse_key("AWRF").better == "higher"
    assert all(axiom.verdict != "violated" for axiom in check_axioms(["AWRF"]))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("NDKL@5", "lower"),
        ("rND", "lower"),
        ("PAIR(pairs='inter')", "lower"),
        ("JME_IG", "lower"),
        ("JME_IG(part='relevance')", ""),
        ("DP", "higher"),
        ("DP(combine='difference')", "lower"),
        ("never_seen(n=2)@3", "lower"),
        ("exposure_variance", ""),
        ("group_share(cell='A')@3", ""),
        ("NDKL_excess", "lower"),
    ],
)
def test_measures_of_the_table_say_which_way_is_better(text: str, expected: str) -> None:
    assert better(parse(text)) == expected
    assert parse_key(text).better == expected


def test_losses_of_groups_can_choose_options() -> None:
    for name in ("NDKL@5", "rND", "share_loss", "never_seen@10", "AWRF"):
        assert FitSearch(measure=name).measure == name


def test_every_measure_has_a_direction() -> None:
    for name in TABLE:
        cutoff = "@3" if name in ("P", "R", "Judged") or "share" in name or "bounds" in name or "seen" in name else ""
        text = f"{name}{'' if name == 'share_loss' else cutoff}"
        assert better(parse(text)) in ("higher", "lower", "")
