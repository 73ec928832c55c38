"""What schedules gain: squared errors of the mean exposure of n published rankings, against independent draws.

Not a matter of time: a schedule of 50 that errs like 200 draws spares publishing 150. Scrambled Sobol' points through
the same race are shown beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from _settings import Settings
from _timing import Gain

from rerankers._base.streams import query_streams
from rerankers.exposure import DCG, GERR, RBP, Browsing
from rerankers.exposure.rankings import exposure_of
from rerankers.policies import GradeShuffle, PlackettLuce, Policy
from rerankers.values import Ragged, Rankings

N, RANKINGS, REPEATS = 100, (10, 50, 100), 200
MODELS = {"GERR": GERR(), "RBP(.5)": RBP(0.5), "RBP(.9)": RBP(0.9), "DCG": DCG()}

Publish = Callable[[int, int], Rankings]  # number of rankings, seed -> rankings


def results(settings: Settings) -> Iterator[Gain]:
    """Compare the ways to choose rankings under every browsing model."""
    rng = settings.generator("schedules")
    over = Ragged(np.zeros(1, np.int32), np.array([0, N]), np.arange(N, dtype=np.int32))
    stream, grade = query_streams(["q"]), rng.choice(np.array([0, 1, 2]), N, p=(0.7, 0.2, 0.1))
    logit = rng.normal(size=N)
    race = PlackettLuce(over, logit, stream)
    ways: dict[str, tuple[Policy, Publish]] = {
        "Plackett-Luce, schedule": (race, race.schedule),
        "Plackett-Luce, scrambled Sobol' points": (race, lambda n, seed: sobol(over, logit, n, seed)),
        "shuffle within grades, schedule": (shuffle := GradeShuffle(over, grade, stream), shuffle.schedule),
    }
    for name, (policy, publish) in ways.items():
        for model_name, model in MODELS.items():
            browsing = model.bind(grade, over.indptr)
            yield Gain(
                f"{name}, n={N}, {model_name}",
                RANKINGS,
                tuple(error(policy, policy.sample, browsing, count) for count in RANKINGS),
                tuple(error(policy, publish, browsing, count) for count in RANKINGS),
            )


def error(policy: Policy, publish: Publish, browsing: Browsing, count: int) -> float:
    """Return the mean over seeds of the squared distance between published and exact exposure."""
    exact = policy.exposure(browsing)
    assert exact is not None
    distance = [
        np.square(exposure_of(publish(count, seed), browsing).value - exact.value).sum() for seed in range(REPEATS)
    ]
    return float(np.mean(distance))


def sobol(over: Ragged, logit: np.ndarray, count: int, seed: int) -> Rankings:
    """Race with exponential clocks whose noise is the first points of a scrambled Sobol' sequence (Owen 1995)."""
    from scipy.stats import qmc

    bits = max(1, (count - 1).bit_length())
    points = qmc.Sobol(len(logit), rng=np.random.default_rng(seed)).random_base2(bits)[:count]
    arrival = np.log(-np.log1p(-np.clip(points, 1e-12, 1 - 1e-12))) - logit
    return Rankings.of_matrix(over, [np.argsort(arrival, axis=1).astype(np.int32)], 0)
