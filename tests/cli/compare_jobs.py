"""Made-up jobs for comparisons: results, a config, the collection's mark, fronts."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from rerankers.measures.scores import Scores
from rerankers.measures.summary import summarise, write_results
from rerankers.measures.table import concat, result_table
from rerankers.stages.fronts import write_fronts

OPTIONS = {"browsing": "GERR", "universe": "union", "cutoff": None, "confidence": 0.95, "resamples": 60}
ANCHORS = {"anchor:random": (0.1, 0.5), "anchor:deterministic": (0.6, 1.2)}


def write(
    folder: Path,
    config: Mapping[str, Any] | None = None,
    *,
    system: str = "kl",
    utility: float = 0.4,
    loss: float = 0.6,
    seed: int = 0,
    noise: float = 0.01,
    units: int = 40,
    prefix: str = "q",
    mark: str | None = None,
    name: str = "world",
    tier: str = "blind",
    lost: int = 0,
    more: Mapping[str, float] | None = None,
) -> Path:
    """Write a job's results: every query has a hardness of its own, and noise that goes with the seed.

    ``lost`` queries have no loss; ``more`` are further measures and their means.
    """
    hard = np.random.default_rng(7).normal(size=units) * 0.1
    draw = np.random.default_rng([seed, 3])
    present = np.full(units, -1, dtype=np.int8)
    ids = [f"{prefix}{unit:03}" for unit in range(units)]
    tables = []
    for run, (gain, cost) in {system: (utility, loss), **ANCHORS}.items():
        wobble = draw.normal(size=(2, units)) * (noise if run == system else 0.0)
        missing = present.copy()
        values = cost - hard + wobble[1]
        if lost and run == system:
            missing[:lost] = 0
            values = np.where(missing >= 0, np.nan, values)
        scores = [Scores(gain + hard + wobble[0], present), Scores(values, missing)]
        scores += [Scores(mean + hard, present) for mean in (more or {}).values()]
        tables.append(result_table(run, seed, ids, ["utility", "EEL", *(more or {})], scores))
    folder.mkdir(parents=True)
    table = concat(tables)
    write_results(folder, table, summarise(table, options=OPTIONS, tier=tier, resamples=60))
    if config is not None:
        full = {**config, "seed": seed, "output": str(folder)}
        (folder / "config.yaml").write_text(yaml.safe_dump(full))
    if mark is not None:
        data = {"test collection": {"name": name, "fingerprint": mark}}
        (folder / "metadata.yaml").write_text(yaml.safe_dump({"data": data}))
    return folder


def fronts(folder: Path, units: int = 40, prefix: str = "q", best: float = 0.2) -> None:
    """Write a front of three policies: losses from ``best`` on, a unit of utility costing a unit of loss."""
    hard = np.random.default_rng(7).normal(size=units) * 0.1
    ids = [f"{prefix}{unit:03}" for unit in range(units)]
    points = {
        weight: {
            "utility": dict(zip(ids, (gain + hard).tolist(), strict=True)),
            "EEL": dict(zip(ids, (best + gain - 0.1 - hard).tolist(), strict=True)),
        }
        for weight, gain in ((0.0, 0.1), (1.0, 0.4), (2.0, 0.6))
    }
    write_fronts(folder, {"oracle front, documents": points})
