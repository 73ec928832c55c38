"""What sweepers that choose their points have to be told: what is optimised, which way is better, and a seed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rerankers._base.errors import ConfigError
from rerankers.stages.sweep_value import KEY, directions, objectives

DIRECTION = "hydra.sweeper.direction"
SEED = "hydra.sweeper.sampler.seed"
FAILURES = "hydra.sweeper.max_failure_rate"


def more_words(config: Mapping[str, Any], sweeper: str, words: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the measures that are optimised, and further overrides for the sweeper.

    Directions come from the measures, the sampler's seed is 0 and points may fail, each unless it is typed.

    Parameters
    ----------
    config
        of the first point, plain, Hydra's own part included.
    sweeper
        its class.
    words
        as typed.

    Raises
    ------
    ConfigError
        where nothing is optimised, or a measure has no better side and none is typed.
    """
    keys = objectives(config)
    if not keys:
        raise ConfigError(
            f"{KEY}: found null; expected what {sweeper.rpartition('.')[2]} optimises. Type: {KEY}=utility, or a list "
            f"for several: {KEY}=[utility,EEL]"
        )
    options: Mapping[str, Any] = config["hydra"]["sweeper"]
    typed = {word.lstrip("+").partition("=")[0] for word in words}
    more = []
    if "direction" in options and DIRECTION not in typed:
        sides = directions(keys)
        for key, side in zip(keys, sides, strict=True):
            if not side:
                raise ConfigError(
                    f"{KEY}: found {key}, of which neither more nor less is better by itself; expected another "
                    f"measure, or a direction. Type: {DIRECTION}=minimize"
                )
        more.append(f"{DIRECTION}={sides[0]}" if len(sides) == 1 else f"{DIRECTION}=[{','.join(sides)}]")
    sampler = options.get("sampler")
    if isinstance(sampler, Mapping) and "seed" in sampler and sampler["seed"] is None and SEED not in typed:
        more.append(f"{SEED}=0")
    if "max_failure_rate" in options and FAILURES not in typed:
        more.append(f"{FAILURES}=1.0")
    if more:
        print(f"sweeper: {' '.join(more)}")
    return keys, more
