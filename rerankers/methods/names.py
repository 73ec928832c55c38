"""The methods by name: the file, the config and the name are one word, the class is that word in capitals."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from typing import Any

NAMES = (
    "deterministic",
    "uniform",
    "plackett_luce",
    "kl_tilt",
    "kl_greedy",
    "infoseeking_kl",
    "fair_co",
    "online_frank_wolfe",
    "equity_of_attention",
    "nle_controller",
    "horizon_planner",
    "thompson",
    "scenario_optimal",
    "pareto_optimal",
    "fa_star_ir",
    "det_const_sort",
    "expost_group_fair",
    "equal_opportunity",
    "phi_fair",
    "foeir",
    "rrf",
    "linear_fusion",
    "mmr",
    "pm2",
    "round_robin",
    "epsilon_greedy",
    "mtg_noise",
    "mtg_clusters",
    "macewan_fusion",
)


class _Methods(Mapping[str, type[Any]]):
    """Name -> class; a module is imported when its class is asked for."""

    def __getitem__(self, name: str) -> type[Any]:
        if name not in NAMES:
            raise KeyError(name)
        module = importlib.import_module(f"rerankers.methods.{name}")
        kind: type[Any] = getattr(module, name.title().replace("_", ""))
        return kind

    def __iter__(self) -> Iterator[str]:
        return iter(NAMES)

    def __len__(self) -> int:
        return len(NAMES)


METHODS: Mapping[str, type[Any]] = _Methods()
