"""What the queries say together: recall by group and depth, least losses, depths needed, and whose part a loss is."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import numpy as np

from rerankers._base.errors import ConfigError
from rerankers.measures.anchors import PREFIX as ANCHOR
from rerankers.stages.headroom_rows import HeadroomRows
from rerankers.stats import mean_intervals

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.stages.gathered import JobResults

FIRST_STAGE = "first stage as it stands"
_SUM = 1e-12


def together(blocks: Iterable[HeadroomRows]) -> HeadroomRows:
    """Return the queries of all blocks as one, in block order."""
    parts = list(blocks)
    start = np.cumsum([0, *(len(part.query) for part in parts)])
    joined: dict[str, Any] = {
        item.name: np.concatenate([getattr(part, item.name) for part in parts])
        for item in fields(HeadroomRows)
        if item.name not in ("row", "left_out")
    }
    joined["row"] = np.concatenate([part.row + first for part, first in zip(parts, start[:-1], strict=True)])
    return HeadroomRows(**joined, left_out=sum(part.left_out for part in parts))


def recalls(
    rows: HeadroomRows, cells: Sequence[tuple[str, str]], depths: Sequence[int], share: float
) -> list[dict[str, Any]]:
    """Return the recall of every cell.

    Returns
    -------
    list of dict
        ``attribute``, ``group``; ``queries`` with a relevant document there; ``relevant`` documents (by weight) and
        their ``due`` exposure over all queries; by depth ``recall_due`` and ``recall_relevant``, parts of these
        totals, and ``mean_recall_due``, the mean over the queries; ``depth`` and ``depth_relevant``, the least depths
        at which the parts reach ``share``, None where the whole lists do not. A cell without relevant documents has
        None everywhere.
    """
    return [
        {"attribute": attribute, "group": group, **_recall(rows, np.flatnonzero(rows.cell == cell), depths, share)}
        for cell, (attribute, group) in enumerate(cells)
    ]


def _recall(rows: HeadroomRows, mine: NDArray[np.int64], depths: Sequence[int], share: float) -> dict[str, Any]:
    row, rank, due, weight = rows.row[mine], rows.rank[mine], rows.due[mine], rows.weight[mine]
    asked = _by_query(row, due, len(rows.query))
    found = [(rank > 0) & (rank <= depth) for depth in depths]
    some = asked > 0
    total, number = math.fsum(due), math.fsum(weight)
    return {
        "queries": int(np.count_nonzero(some)),
        "relevant": number,
        "due": total,
        "recall_due": [_part(due[inside], total) for inside in found],
        "recall_relevant": [_part(weight[inside], number) for inside in found],
        "mean_recall_due": [
            _mean(_by_query(row[inside], due[inside], len(asked))[some] / asked[some]) for inside in found
        ],
        "depth": _depth(rank, due, total, share),
        "depth_relevant": _depth(rank, weight, number, share),
    }


def _depth(rank: NDArray[np.int64], value: NDArray[np.float64], total: float, share: float) -> int | None:
    """Return the least rank up to which a share of the total stands."""
    order = np.argsort(rank, kind="stable")
    order = order[rank[order] > 0]
    reached = np.flatnonzero(np.cumsum(value[order]) >= share * total * (1.0 - _SUM))
    return int(rank[order][reached[0]]) if len(reached) and total > 0 else None


def least_losses(
    rows: HeadroomRows,
    keys: Sequence[str],
    depths: Sequence[int],
    most: float | None,
    order: Sequence[str],
    **bootstrap: Any,
) -> dict[str, dict[str, Any]]:
    """Return the least attainable mean loss by depth, with its interval, largest gap and the depth needed.

    Parameters
    ----------
    most
        the loss to be reached; None for none.
    order
        Q query ids, by whose order queries are resampled.
    **bootstrap
        of `mean_intervals`.

    Returns
    -------
    key -> ``best`` and ``interval`` by depth, ``gap`` (how much lower the best of any query may be at most),
    ``first_stage`` (the loss of the lists as they stand) and its ``first_stage_interval``, and ``depth`` (None where
    no depth has so small a loss, or none is asked for).
    """
    place = np.argsort(np.array(order, dtype=np.str_), kind="stable")
    out = {}
    for number, key in enumerate(keys):
        values = np.column_stack([rows.best[:, :, number], rows.own[:, number]])[place]
        *best, own = mean_intervals(values, **bootstrap)
        means = [one.mean for one in best]
        enough = [
            d for d, mean in zip(depths, means, strict=True) if most is not None and mean is not None and mean <= most
        ]
        out[key] = {
            "best": means,
            "interval": [None if one.low is None else [one.low, one.high] for one in best],
            "gap": float(rows.gap[:, :, number].max(initial=0.0)),
            "first_stage": own.mean,
            "first_stage_interval": None if own.low is None else [own.low, own.high],
            "depth": enough[0] if enough else None,
        }
    return out


def divided(
    rows: HeadroomRows,
    keys: Sequence[str],
    qids: Sequence[str],
    jobs: Sequence[JobResults],
    judged_by: Mapping[str, Any],
) -> list[dict[str, Any]]:
    """Return the losses of the first stage and of runs, each divided into the first stage's part and the ranking's.

    The first stage's part is the least loss attainable from its whole lists; what a run loses beyond it is due to how
    it ranks them. Both are means over the queries that the run and the lists share.

    Raises
    ------
    ConfigError
        for results that were judged in another way, or without queries or losses in common.
    """
    least = rows.best[:, -1]
    out = [_division(FIRST_STAGE, key, rows.own[:, n], least[:, n]) for n, key in enumerate(keys)]
    place = {qid: number for number, qid in enumerate(qids)}
    for job in jobs:
        _check(job, judged_by)
        for name in job.runs:
            if name.startswith(ANCHOR):
                continue
            shown = name if len(jobs) == 1 else f"{job.folder.name}/{name}"
            for n, key in enumerate(keys):
                pairs = [(place[qid], value) for qid, value in _losses(job, name, key) if qid in place]
                if not pairs:
                    raise ConfigError(f"{job.folder}: {name} has no {key} of a query that was retrieved for and judged")
                where, loss = np.array([pair[0] for pair in pairs]), np.array([pair[1] for pair in pairs])
                out.append(_division(shown, key, loss, least[where, n]))
    return out


def _losses(job: JobResults, name: str, key: str) -> Iterator[tuple[str, float]]:
    """Yield query and loss; the table has all of them, measures.json the first 20,000."""
    import pyarrow.compute as pc

    table = job.table
    mine = pc.and_(pc.equal(table["system"], name), pc.equal(table["measure"], key))
    rows = table.filter(pc.and_(mine, pc.is_valid(table["value"])))
    yield from zip(rows["unit"].to_pylist(), rows["value"].to_pylist(), strict=True)


def _division(name: str, key: str, loss: NDArray[np.float64], least: NDArray[np.float64]) -> dict[str, Any]:
    whole, first = _mean(loss), _mean(least)
    share = first / whole if whole and first is not None else None
    rest = None if whole is None or first is None else whole - first
    return {"run": name, "measure": key, "queries": len(loss), "loss": whole, "first_stage": first, "ranking": rest,
            "first_stage_share": share}  # fmt: skip


def _check(job: JobResults, judged_by: Mapping[str, Any]) -> None:
    if job.preset is not None:
        raise ConfigError(f"{job.folder}: judged by preset={job.preset}; expected results without a preset")
    groups = job.options.get("groups")
    found = {**job.options, **{f"groups.{k}": v for k, v in (groups.items() if isinstance(groups, Mapping) else ())}}
    for key, value in judged_by.items():
        if key in found and found[key] != value:
            raise ConfigError(f"{job.folder}: {key} is {found[key]}; expected {value}, as here")


def _by_query(row: NDArray[np.int64], value: NDArray[np.float64], size: int) -> NDArray[np.float64]:
    return np.bincount(row, weights=value, minlength=size).astype(np.float64, copy=False)


def _part(value: NDArray[np.float64], total: float) -> float | None:
    return math.fsum(value) / total if total > 0 else None


def _mean(value: NDArray[np.float64]) -> float | None:
    return math.fsum(value) / len(value) if len(value) else None
