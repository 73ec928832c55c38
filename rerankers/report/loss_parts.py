"""Where the group losses lie: a table a loss, systems by parts, from the decompositions of ``measures.json``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rerankers.report.data import PlainTable, short_name

GROUPS_SHOWN = 10
TITLE = "Where the loss lies"
_PARTS = {
    "loss": "loss",
    "systematic": "systematic",
    "systematic_share": "share of the loss",
    "systematic_unbiased": "free of noise",
    "per_query": "differs by query",
    "total_mass": "total mass",
    "allocation": "allocation",
}
_NOTE = (
    "The loss is the sum of a systematic part, which does not cancel out over the queries, and of what differs by "
    "query; the noise of few queries alone makes the former about the loss divided by their number, and the next "
    "column is free of that. It is also the sum of what the total exposure of all groups misses of its target, which "
    "no sharing among groups changes, and of its allocation to groups; and of the groups' own losses, whose shares "
    "follow."
)


def loss_parts(runs: Mapping[str, Mapping[str, Any]]) -> list[PlainTable]:
    """Return one table for each group loss that any system has a decomposition of.

    Parameters
    ----------
    runs
        system -> its part of ``measures.json``; those without ``decomposition`` are left out.
    """
    found: dict[str, dict[str, Mapping[str, Any]]] = {}
    for system, run in runs.items():
        for key, parts in run.get("decomposition", {}).items():
            if parts is not None:
                found.setdefault(key, {})[system] = parts
    return [_table(key, systems) for key, systems in found.items()]


def _table(key: str, systems: Mapping[str, Mapping[str, Any]]) -> PlainTable:
    names, rest = _largest(list(systems.values()))
    columns = ["system", *_PARTS.values(), *names, *([f"{rest} other groups"] if rest else [])]
    return PlainTable(
        f"{TITLE}: {key}",
        _NOTE,
        columns,
        [_row(system, parts, names, rest) for system, parts in systems.items()],
    )


def _row(system: str, parts: Mapping[str, Any], names: Sequence[str], rest: int) -> list[str | float | None]:
    shares = {name: group["share"] for name, group in parts["groups"].items()}
    others = [share for name, share in shares.items() if name not in names]
    last = [None if None in others else sum(others)] if rest else []
    return [short_name(system), *(parts[name] for name in _PARTS), *(shares.get(name) for name in names), *last]


def _largest(systems: Sequence[Mapping[str, Any]]) -> tuple[list[str], int]:
    """Return the groups with the largest losses of any system, in their given order, and how many others there are."""
    size: dict[str, float] = {}
    for parts in systems:
        for name, group in parts["groups"].items():
            size[name] = max(size.get(name, 0.0), group["loss"])
    shown = set(sorted(size, key=lambda name: -size[name])[:GROUPS_SHOWN])
    return [name for name in size if name in shown], len(size) - len(shown)
