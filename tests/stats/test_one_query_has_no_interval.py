"""Fronts and curves of a single query: numbers without intervals, as all means of one query are."""

import numpy as np

from rerankers.stages.compare_optimum import FrontPoint, Optimum
from rerankers.stages.compare_text import front_sentences
from rerankers.stats.front_gaps import front_gaps
from rerankers.stats.trade_off import Curve, matched_losses

HOW = {"seed": 0, "resamples": 20, "level": 0.95}


def curve(queries: int) -> Curve:
    """Return a family of three policies with the same numbers for every query."""
    utility, loss = np.array([[0.2], [0.5], [0.8]]), np.array([[0.1], [0.3], [0.9]])
    return Curve(np.repeat(utility, queries, axis=1), np.repeat(loss, queries, axis=1))


def test_a_loss_at_matched_utility_of_one_query_has_no_interval():
    (one,) = matched_losses({"front": curve(1)}, np.array([0.5]), (0.9,), **HOW)
    assert (one.low, one.high, one.difference_low, one.difference_high) == (None, None, None, None)
    assert one.loss is not None
    assert one.reached == 1.0
    (two,) = matched_losses({"front": curve(2)}, np.full(2, 0.5), (0.9,), **HOW)
    assert two.low == two.high == two.loss == one.loss


def test_a_distance_from_the_front_of_one_query_has_no_interval():
    rows = front_gaps({"run": curve(1)}, {"front": curve(1)}, np.array([0.8]), (0.9,), **HOW)
    assert rows
    assert all(row.low is None and row.high is None for row in rows)


def test_the_sentence_on_a_front_of_one_query_has_no_brackets():
    (point,) = matched_losses({"front": curve(1)}, np.array([0.5]), (0.9,), **HOW)
    (line,) = front_sentences(Optimum([FrontPoint("front", "EEL", point)]))
    assert line == "EEL at 90% of the static utility (0.4500): front 0.2667"
