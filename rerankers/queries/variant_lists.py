"""Rows of how alike the rankings of variants are, and how good: rank-biased overlap and precision with residual."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from rerankers.queries.consistency_of_variants import Consistency, consistency_across, consistency_within
from rerankers.queries.residual import Residual, expected_best, mean_residual, residuals
from rerankers.queries.variant_options import AnalysisOptions
from rerankers.queries.variant_rows import BETWEEN, CEILING, EQUAL, ORACLE, VALUE, Key, Row, row_of

if TYPE_CHECKING:
    from rerankers.queries.ranked import Ranked

Rankings = Mapping[str, Sequence["Ranked"]]


def overlap_rows(
    rankings: Mapping[str, Rankings], human: str, topics: Sequence[str], options: AnalysisOptions
) -> Iterator[Row]:
    """Yield ``rbo_within`` for every set and ``rbo_across`` for every two; within the human set it is the ceiling."""
    how = {"p": options.rbo_p, "depth": options.rbo_depth, "ties": options.rbo_ties}
    for name, found in rankings.items():
        within = [consistency_within(found[topic], **how) if topic in found else None for topic in topics]  # type: ignore[arg-type]
        yield _consistency(Key("rbo_within"), name, None, within)
        if name == human:
            yield _consistency(Key("rbo_across", CEILING, None, None, "different human variants"), name, human, within)
    others = [name for name in rankings if name != human]
    for one, two in [*((human, name) for name in others), *combinations(others, 2)]:
        across = [
            consistency_across(rankings[one][topic], rankings[two][topic], **how)  # type: ignore[arg-type]
            if topic in rankings[one] and topic in rankings[two]
            else None
            for topic in topics
        ]
        yield _consistency(Key("rbo_across", VALUE if one == human else BETWEEN), two, one, across)


def _consistency(key: Key, name: str, against: str | None, found: Sequence[Consistency | None]) -> Row:
    values = [
        "not_retrieved" if one is None else "fewer_than_two_rankings" if one.value is None else one.value
        for one in found
    ]
    numbers = {
        part: np.array([np.nan if one is None else getattr(one, part) for one in found], dtype=np.float64)
        for part in ("pairs", "empty")
    }
    return row_of(key, name, against, values, parts=numbers)


def precision_rows(
    rankings: Mapping[str, Rankings],
    judgments: Mapping[str, Mapping[int, float]],
    topics: Sequence[str],
    options: AnalysisOptions,
) -> Iterator[Row]:
    """Yield rank-biased precision: the mean over variants, the best variant, and the best of equally many.

    ``rbp`` is the mean over the variants of a topic, with ``unjudged``, ``tail`` and ``condensed`` as parts;
    ``rbp_best`` the best one, picked with the judgments in hand; ``rbp_best_of_m`` what is expected of the best of m
    at random, m the smallest number of variants that any of the sets has for the topic. Bounds are the values if
    nothing, and if all, of what is unjudged or unseen were relevant.
    """
    most = _largest(judgments, options)
    equal = {topic: min((len(found.get(topic, ())) for found in rankings.values()), default=0) for topic in topics}
    for name, found in rankings.items():
        each = [_each(found, judgments, topic, options, most) for topic in topics]
        means = [one if isinstance(one, str) else mean_residual(one) for one in each]
        yield _precision(Key("rbp"), name, means)
        best: list[tuple[float, float] | str] = [
            one if isinstance(one, str) else (max(r.lower for r in one), max(r.upper for r in one)) for one in each
        ]
        yield _best(Key("rbp_best", ORACLE, None, None, "best variant by the judgments"), name, best)
        some: list[tuple[float, float] | str] = []
        for topic, one in zip(topics, each, strict=True):
            if isinstance(one, str) or not equal[topic]:
                some.append(one if isinstance(one, str) else "too_few_variants")
            else:
                ends = ([r.lower for r in one], [r.upper for r in one])
                some.append((expected_best(ends[0], equal[topic]), expected_best(ends[1], equal[topic])))
        sizes = np.array([equal[topic] for topic in topics], dtype=np.float64)
        detail = "best of equally many variants by the judgments"
        yield _best(Key("rbp_best_of_m", EQUAL, None, None, detail), name, some, sizes)


def _largest(judgments: Mapping[str, Mapping[int, float]], options: AnalysisOptions) -> float:
    """Return the largest grade of the scale."""
    if options.max_grade is not None:
        return float(options.max_grade)
    return max((float(grade) for grades in judgments.values() for grade in grades.values() if grade > 0), default=1.0)


def _each(
    found: Rankings,
    judgments: Mapping[str, Mapping[int, float]],
    topic: str,
    options: AnalysisOptions,
    most: float,
) -> list[Residual] | str:
    if topic not in found or not found[topic]:
        return "not_retrieved"
    if not judgments.get(topic):
        return "query_not_judged"
    return residuals(found[topic], judgments[topic], options.rbp_p, options.gain, most)


def _precision(key: Key, name: str, found: Sequence[Residual | str]) -> Row:
    def numbers(part: str) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
        return np.array([np.nan if isinstance(one, str) else getattr(one, part) for one in found])

    values = [one if isinstance(one, str) else one.lower for one in found]
    parts = {part: numbers(part) for part in ("unjudged", "tail", "condensed")}
    return row_of(key, name, None, values, low=numbers("lower"), high=numbers("upper"), parts=parts)


def _best(
    key: Key,
    name: str,
    found: Sequence[tuple[float, float] | str],
    sizes: np.ndarray[tuple[int], np.dtype[np.float64]] | None = None,
) -> Row:
    ends = np.array([(np.nan, np.nan) if isinstance(one, str) else one for one in found], dtype=np.float64)
    values = [one if isinstance(one, str) else one[0] for one in found]
    parts = {} if sizes is None else {"variants": sizes}
    return row_of(key, name, None, values, low=ends.reshape(-1, 2)[:, 0], high=ends.reshape(-1, 2)[:, 1], parts=parts)
