"""How far measures of gender presence agree with people about which of two rankings is fairer."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from rerankers._base.streams import generator
from rerankers.labels.agreement import krippendorff_alpha
from rerankers.measures.presence_single import fairness
from rerankers.stages.judged_rankings_answers import ANSWERS, Answers
from rerankers.stats.agreement import kendall_matrix
from rerankers.stats.permutation import holm

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.stages.judged_rankings_key import Pair

    Floats = NDArray[np.float64]

TIE = 1e-12
"""Up to this difference of its values a measure finds two rankings level."""
_SIGN = {"A": 1.0, "B": -1.0, "equal": 0.0}


def judged(
    pairs: Sequence[Pair],
    answers: Answers,
    measures: Sequence[str],
    *,
    seed: int = 0,
    level: float = 0.95,
    resamples: int = 2000,
) -> dict[str, Any]:
    """Return agreement of people among themselves and of measures with them.

    The verdict on a pair is the answer that most people gave; where two answers share the first place there is none. A
    measure agrees where it gives the ranking of the verdict the better value; a tie of the measure does not agree.

    Parameters
    ----------
    pairs
        of the key.
    answers
        of people.
    measures
        names; see `rerankers.measures.presence_single.fairness`.
    seed, level, resamples
        of the bootstrap over pairs for tau, and coverage of all intervals.

    Returns
    -------
    dict
        ``people``: ``judges``, ``counts``, ``verdicts`` (pairs by verdict; ``none``: answers without a majority;
        ``no_answer``), ``krippendorff_alpha``, ``pairwise`` (share of the pairs of answers to one question that are the
        same) and ``ceiling``: how often a person agrees with the verdict of all others, where that is A or B.
        ``measures``: a row each with ``pairs`` (verdict A or B, both rankings with a value), ``agree``, ``against``,
        ``ties``, ``agreement`` = agree / pairs with its exact interval (Clopper & Pearson 1934), ``no_value`` (pairs
        with a verdict, but a ranking without a value), ``equal_pairs`` and ``equal_ties`` (verdict equal, and of these
        the ties of the measure), ``tau_b`` (Kendall 1945) between the differences of its values and the margins of
        people (share of A minus share of B), over ``tau_pairs``, with a bootstrap interval.
        ``tests``: every two measures on pairs where both have a value: ``first_only`` and ``second_only`` agree, the
        exact ``p`` of the sign test and ``p_holm``. None is what cannot be computed.
    """
    verdicts = [_verdict(list(answers.given[pair.name].values())) for pair in pairs]
    difference = np.array([_differences(name, pairs) for name in measures]).reshape(len(measures), len(pairs))
    margin = np.array([_margin(list(answers.given[pair.name].values())) for pair in pairs])
    rows = [
        _row(name, values, verdicts, margin, generator(seed, "judged rankings", "bootstrap"), level, resamples)
        for name, values in zip(measures, difference, strict=True)
    ]
    return {
        "options": {"seed": seed, "confidence": level, "resamples": resamples},
        "people": _people(answers, verdicts),
        "measures": rows,
        "tests": _tests(measures, difference, verdicts),
    }


def _verdict(given: Sequence[str]) -> str:
    """Return the answer that most gave, ``none`` where two are first, ``no_answer`` without any."""
    ordered = Counter(given).most_common()
    if not ordered:
        return "no_answer"
    return "none" if len(ordered) > 1 and ordered[0][1] == ordered[1][1] else ordered[0][0]


def _margin(given: Sequence[str]) -> float:
    return float(np.mean([_SIGN[one] for one in given])) if given else np.nan


def _differences(name: str, pairs: Sequence[Pair]) -> list[float]:
    """Return the value of A minus that of B under a measure turned so that more is fairer; NaN without a value."""
    value, out = fairness(name), []
    for pair in pairs:
        a, b = value(pair.a), value(pair.b)
        apart = np.nan if a is None or b is None else a - b
        out.append(0.0 if abs(apart) <= TIE else apart)
    return out


def _row(
    name: str,
    values: Floats,
    verdicts: Sequence[str],
    margin: Floats,
    rng: np.random.Generator,
    level: float,
    resamples: int,
) -> dict[str, Any]:
    right, there = _right(values, verdicts), ~np.isnan(values)
    decided = np.array([one in ("A", "B") for one in verdicts], dtype=np.bool_)
    equal = np.array([one == "equal" for one in verdicts], dtype=np.bool_)
    number, agree = int(np.sum(decided & there)), int(np.sum(right == 1.0))
    tie = there & (values == 0.0)
    usable = there & ~np.isnan(margin)
    tau = _tau(values[usable], margin[usable])
    return {
        "measure": name,
        "pairs": number,
        "agree": agree,
        "against": int(np.sum(decided & there & ~tie)) - agree,
        "ties": int(np.sum(decided & tie)),
        "no_value": int(np.sum((decided | equal) & ~there)),
        "agreement": agree / number if number else None,
        "interval": _exact_interval(agree, number, level),
        "equal_pairs": int(np.sum(equal & there)),
        "equal_ties": int(np.sum(equal & tie)),
        "tau_b": tau,
        "tau_interval": None if tau is None else _tau_interval(values[usable], margin[usable], rng, level, resamples),
        "tau_pairs": int(usable.sum()),
    }


def _right(values: Floats, verdicts: Sequence[str]) -> Floats:
    """Return 1 where a measure agrees with the verdict, 0 where not, NaN where there is no verdict or no value."""
    sign = np.array([_SIGN[one] if one in ("A", "B") else np.nan for one in verdicts])
    known = ~np.isnan(sign) & ~np.isnan(values)
    return np.where(known, (np.sign(values) == sign).astype(np.float64), np.nan)


def _exact_interval(agree: int, number: int, level: float) -> list[float] | None:
    if not number:
        return None
    from scipy.stats import binomtest

    found = binomtest(agree, number).proportion_ci(level, method="exact")
    return [float(found.low), float(found.high)]


def _tau(values: Floats, margin: Floats) -> float | None:
    if len(values) < 2:
        return None
    found = float(kendall_matrix([values, margin])[0, 1])
    return None if np.isnan(found) else found


def _tau_interval(
    values: Floats, margin: Floats, rng: np.random.Generator, level: float, resamples: int
) -> list[float] | None:
    """Return the percentile interval over resampled pairs; resamples in which one side ties all are left out."""
    picks = rng.integers(len(values), size=(resamples, len(values)))
    drawn = [found for pick in picks if (found := _tau(values[pick], margin[pick])) is not None]
    if not drawn:
        return None
    low, high = np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2])
    return [float(low), float(high)]


def _people(answers: Answers, verdicts: Sequence[str]) -> dict[str, Any]:
    codes = np.array(
        [
            [ANSWERS.index(given[judge]) if judge in given else -1 for judge in answers.judges]
            for given in answers.given.values()
        ],
        dtype=np.int64,
    ).reshape(len(answers.given), len(answers.judges))
    same = pairs = hits = asked = 0
    for given in answers.given.values():
        said = list(given.values())
        two = list(itertools.combinations(said, 2))
        same, pairs = same + sum(first == second for first, second in two), pairs + len(two)
        for judge, answer in given.items():
            others = _verdict([one for name, one in given.items() if name != judge])
            if others in ("A", "B"):
                asked, hits = asked + 1, hits + (answer == others)
    alpha = krippendorff_alpha(codes)
    return {
        "judges": list(answers.judges),
        "counts": dict(answers.counts),
        "verdicts": {one: list(verdicts).count(one) for one in (*ANSWERS, "none", "no_answer")},
        "krippendorff_alpha": alpha.value,
        "pairwise": same / pairs if pairs else None,
        "ceiling": hits / asked if asked else None,
        "ceiling_answers": asked,
    }


def _tests(measures: Sequence[str], difference: Floats, verdicts: Sequence[str]) -> list[dict[str, Any]]:
    from scipy.stats import binomtest

    right = [_right(values, verdicts) for values in difference]
    out: list[dict[str, Any]] = []
    for first, second in itertools.combinations(range(len(measures)), 2):
        apart = right[first] - right[second]
        only, other = int(np.sum(apart == 1.0)), int(np.sum(apart == -1.0))
        p = float(binomtest(only, only + other).pvalue) if only + other else None
        out.append(
            {
                "first": measures[first],
                "second": measures[second],
                "pairs": int(np.sum(~np.isnan(apart))),
                "first_only": only,
                "second_only": other,
                "p": p,
            }
        )
    adjusted = holm([np.nan if one["p"] is None else one["p"] for one in out])
    for one, value in zip(out, adjusted.tolist(), strict=True):
        one["p_holm"] = None if np.isnan(value) else value
    return out
