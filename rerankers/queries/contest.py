"""Generators of candidates compared: which one finds the better queries, over topics and at equal numbers.

How often a candidate of one dominates a candidate of the other, as published, counts one weak query many times and
grows with the number of candidates: a set of six may win 9 to 8 against a set of fifteen that is better in every
normalised measure. So the raw count stands beside set coverage, the shares of the joint front and hypervolumes.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence, Sized
from dataclasses import asdict
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from rerankers._base.errors import InputError
from rerankers.queries.contest_pairs import TESTED, ContestOptions, Pair, interval
from rerankers.queries.contest_shares import OF_SETS, equal_choices, shares
from rerankers.queries.pareto import point_array
from rerankers.stats import Interval, exact_mean, mean_intervals
from rerankers.stats.permutation import sign_flip_tests

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]
    Sets = Mapping[str, Floats]


def contest(topics: Mapping[str, Mapping[str, ArrayLike]], options: ContestOptions | None = None) -> dict[str, Any]:
    """Compare generators by the candidates that they found.

    Parameters
    ----------
    topics
        topic id -> generator -> points (m, d), objectives that are all to be high, one row a distinct candidate. A
        generator without candidates on a topic may be left out or have no rows.
    options
        None: `ContestOptions()`.

    Returns
    -------
    dict
        JSON-ready. ``options``; ``topics``: how many; ``generators``: name -> ``candidates``, ``topics_without``;
        ``pairs``: for each two generators in alphabetical order ``a``, ``b``, ``topics`` (where both have
        candidates), ``topics_left_out``, ``topics_enumerated``, and ``equal`` (at equal numbers) and ``all`` (all
        candidates of both): measure -> ``a``, ``b`` (mean over topics with ``low`` and ``high``), ``difference``
        (a - b, likewise), ``spread_a``, ``spread_b`` (standard deviation over the choices, mean over topics), ``p``
        and ``p_holm`` (`TESTED` at equal numbers only, else None); ``raw_count``: the sums over topics under
        ``paper``, and ``contradicted_by``, the tested measures whose mean says the opposite; ``joint``: all
        generators on one front, over the topics where all have candidates. For ``coverage``, ``pair_rate`` and
        ``raw_count``, ``a`` is that of a over b.

    Raises
    ------
    InputError
        for points that are no matrix of finite numbers or have different numbers of objectives, and without a topic.
    """
    chosen = options or ContestOptions()
    sets = _checked(topics)
    names = sorted({name for one in sets.values() for name in one})
    pairs = list(combinations(names, 2))
    found = [Pair(a, b, sets, chosen) for a, b in pairs]
    columns = [column for pair in found for column in pair.columns()]
    intervals = iter(_intervals(columns, chosen))
    tested = [pair.differences(measure) for pair in found for measure in TESTED]
    flips = _flips(tested, chosen)
    return {
        "options": asdict(chosen),
        "topics": len(sets),
        "generators": {name: _presence(name, sets) for name in names},
        "pairs": [pair.told(intervals, flips[len(TESTED) * place :]) for place, pair in enumerate(found)],
        "joint": _joint(names, sets, chosen),
    }


def _joint(names: Sequence[str], topics: Mapping[str, Sets], options: ContestOptions) -> dict[str, Any]:
    """Return every generator's part of the front of all of them."""
    shared = {topic: sets for topic, sets in topics.items() if len(sets) == len(names)}
    columns = np.full((len(OF_SETS) * len(names), len(topics)), np.nan)
    enumerated = 0
    for place, (topic, sets) in enumerate(topics.items()):
        if topic not in shared or not names:
            continue
        ordered = [sets[name] for name in names]
        choices, complete = equal_choices(
            [len(points) for points in ordered],
            options.seed,
            (topic, *names),
            options.enumerate_up_to,
            options.draws,
        )
        enumerated += complete
        found = shares(ordered, choices).of_sets
        columns[:, place] = [exact_mean(value) for measure in OF_SETS for value in found[measure].T]
    intervals = iter(_intervals(list(columns), options))
    measures = {measure: {name: interval(next(intervals)) for name in names} for measure in OF_SETS}
    return {
        "topics": len(shared),
        "topics_left_out": len(topics) - len(shared),
        "topics_enumerated": enumerated,
        "generators": {name: {measure: measures[measure][name] for measure in OF_SETS} for name in names},
    }


def _checked(topics: Mapping[str, Mapping[str, ArrayLike]]) -> dict[str, dict[str, Floats]]:
    """Return topics in the order of their ids, without generators that have no candidates there."""
    if not topics:
        raise InputError.one("topics", "none", "at least one topic with candidates")
    widths: set[int] = set()
    out: dict[str, dict[str, Floats]] = {}
    for topic in sorted(topics):
        out[topic] = {}
        for name, given in topics[topic].items():
            if isinstance(given, Sized) and not len(given):
                continue
            points = point_array(f"topic {topic}, {name}", given)
            if not np.all(np.isfinite(points)):
                raise InputError.one(f"topic {topic}, {name}", "a number that is not finite", "finite numbers")
            widths.add(points.shape[1])
            out[topic][name] = points
    if len(widths) > 1:
        raise InputError.one("topics", f"points of {sorted(widths)} objectives", "the same objectives everywhere")
    return out


def _presence(name: str, topics: Mapping[str, Sets]) -> dict[str, int]:
    sizes = [len(sets[name]) for sets in topics.values() if name in sets]
    return {"candidates": sum(sizes), "topics_without": len(topics) - len(sizes)}


def _intervals(columns: Sequence[Floats], options: ContestOptions) -> list[Interval]:
    if not columns:
        return []
    return mean_intervals(
        np.stack(columns, axis=1),
        seed=options.seed,
        resamples=options.resamples,
        level=options.level,
        method=options.interval,
    )


def _flips(columns: Sequence[Floats], options: ContestOptions) -> list[tuple[float | None, float | None]]:
    if not columns:
        return []
    found = sign_flip_tests(np.stack(columns, axis=1), permutations=options.permutations, seed=options.seed)
    return [(_number(p), _number(adjusted)) for p, adjusted in zip(found.p, found.holm, strict=True)]


def _number(value: float) -> float | None:
    return None if math.isnan(value) else float(value)
