"""What measuring a block gave, in a file: arrays by name, and the rest as JSON in one of them. No code is in it."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rerankers._base.files import atomic_path
from rerankers._base.json_text import parse_json
from rerankers.measures.evidence import Evidence
from rerankers.measures.gaps import Gaps
from rerankers.measures.group_exposure import GroupRows
from rerankers.measures.nulls import Null
from rerankers.measures.table import UnitScores
from rerankers.report.lorenz import ShareSums
from rerankers.stages.block import BlockResult
from rerankers.stats.sums import Sums

if TYPE_CHECKING:
    from numpy.typing import NDArray

_JSON = "told"
DAMAGED = (OSError, ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile)
"""What reading a file raises that is no whole file of this form."""


def write_block(path: Path, result: BlockResult, counts: Mapping[str, int]) -> None:
    """Write the result of a block, and what the method counted; whole or not at all."""
    arrays: dict[str, NDArray[Any]] = {}

    def kept(array: NDArray[Any]) -> str:
        name = f"a{len(arrays)}"
        arrays[name] = array
        return name

    told = {
        "measures": [
            [system, one.seed, list(one.units), list(one.keys), kept(one.value), kept(one.reason)]
            for system, one in result.measures.items()
        ],
        "groups": [
            [
                system,
                attribute,
                list(rows.groups),
                *map(kept, (rows.exposure, rows.target, rows.documents, rows.relevant)),
            ]
            for system, attributes in result.groups.items()
            for attribute, rows in attributes.items()
        ],
        "gaps": [
            [system, key, list(gaps.groups), list(gaps.units), kept(gaps.difference), kept(gaps.noise)]
            for system, found in result.evidence.items()
            for key, gaps in found.gaps.items()
        ],
        "nulls": [
            [
                system,
                key,
                null.queries,
                kept(null.sums.high),
                kept(null.sums.low),
                null.closed,
                null.exact,
                null.undefined,
            ]
            for system, found in result.evidence.items()
            for key, null in found.nulls.items()
        ],
        "evidence": list(result.evidence),
        "shares": [
            [kind, system, kept(sums.curve), sums.queries]
            for kind, systems in result.shares.items()
            for system, sums in systems.items()
        ],
        "counts": dict(result.counts),
        "estimated": list(result.estimated),
        "method": dict(counts),
    }
    arrays[_JSON] = np.frombuffer(json.dumps(told).encode(), dtype=np.uint8)
    with atomic_path(path) as temporary, temporary.open("wb") as stream:
        np.savez(stream, **arrays)  # type: ignore[arg-type]


def _numbers(rows: GroupRows) -> tuple[NDArray[np.float64], ...]:
    return rows.exposure, rows.target, rows.documents, rows.relevant


def _flags(null: Null) -> tuple[bool, bool, int]:
    return null.closed, null.exact, null.undefined


def read_block(path: Path) -> tuple[BlockResult, dict[str, int]]:
    """Return what `write_block` wrote.

    Raises
    ------
    OSError, ValueError, KeyError, TypeError, EOFError, BadZipFile
        (`DAMAGED`) for anything that is no such file.
    """
    with np.load(path, allow_pickle=False) as file:
        arrays = {name: file[name] for name in file.files}
    told = parse_json(arrays[_JSON].tobytes().decode("utf-8"))
    groups: dict[str, dict[str, GroupRows]] = {}
    for system, attribute, names, *places in told["groups"]:
        rows = GroupRows(tuple(names), *(arrays[place] for place in places))
        groups.setdefault(system, {})[attribute] = rows
    gaps: dict[str, dict[str, Gaps]] = {}
    for system, key, names, units, difference, noise in told["gaps"]:
        gaps.setdefault(system, {})[key] = Gaps(tuple(names), tuple(units), arrays[difference], arrays[noise])
    nulls: dict[str, dict[str, Null]] = {}
    for system, key, queries, high, low, *flags in told["nulls"]:
        nulls.setdefault(system, {})[key] = Null(queries, Sums(arrays[high], arrays[low]), *flags)
    shares: dict[str, dict[str, ShareSums]] = {}
    for kind, system, curve, queries in told["shares"]:
        shares.setdefault(kind, {})[system] = ShareSums(arrays[curve], queries)
    result = BlockResult(
        measures={
            system: UnitScores(seed, units, tuple(keys), arrays[value], arrays[reason])
            for system, seed, units, keys, value, reason in told["measures"]
        },
        groups={system: groups.get(system, {}) for system, *_ in told["measures"]},
        counts=told["counts"],
        estimated=tuple(told["estimated"]),
        evidence={system: Evidence(gaps.get(system, {}), nulls.get(system, {})) for system in told["evidence"]},
        shares=shares,
    )
    return result, told["method"]
