"""Reliability and AUC of trained scorers by group, and the tables that a report plots."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from rerankers._base.errors import InputError
from rerankers.stats.bootstrap import RESAMPLES
from rerankers.stats.reliability import BINS, Reliability, reliability
from rerankers.stats.scoring import SCORES

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.stats.bootstrap import Interval
    from rerankers.values import GroupAlignment, Ragged

ALL = "all"
INTERVALS = ("bias", "brier", "log_loss", "calibration_error")
PARTS = ("miscalibration", "discrimination", "uncertainty")


@dataclass(frozen=True, slots=True)
class Part:
    """Which pairs a row of a table is about: an attribute and one of its groups; both ``all`` for all pairs."""

    attribute: str
    group: str


def group_reliability(
    over: Ragged,
    probability: NDArray[np.float64],
    relevant: NDArray[np.bool_],
    alignments: Mapping[str, GroupAlignment],
    *,
    judged: NDArray[np.bool_] | None = None,
    cluster: NDArray[np.integer] | None = None,
    bins: int = BINS,
    seed: int = 0,
    resamples: int = RESAMPLES,
    level: float = 0.95,
    method: str = "bca",
) -> dict[Part, Reliability]:
    """Return the reliability over all pairs and over each group.

    A document counts for a group by the weight of its membership, a part in each of several groups. What is not known
    of an alignment that is not resolved is the group ``unknown``. All groups see the same resampled queries where
    they occur in the same ones.

    Parameters
    ----------
    over
        the pairs, B rows, sorted by query id (their order decides the resamples).
    probability, relevant
        float64 and bool (nnz,).
    alignments
        attribute -> alignment over document codes.
    judged
        bool (nnz,), pairs to look at; None: all.
    cluster
        int (B,), queries of one code are resampled together, for instance the topic of each; None: each by itself.
    bins, seed, resamples, level, method
        as of `rerankers.stats.reliability.reliability`.

    Returns
    -------
    dict
        `Part` -> `Reliability`, all pairs first; a group that no pair belongs to is there too, with nothing in it.

    Raises
    ------
    InputError, ConfigError
        as `rerankers.stats.reliability.reliability`, and for documents that an alignment does not have.
    """
    base = np.ones(over.nnz) if judged is None else np.asarray(judged, dtype=np.float64)
    if base.shape != (over.nnz,):
        raise InputError.one("judged", f"shape {base.shape}", f"shape ({over.nnz},), one entry a pair")
    weights = {Part(ALL, ALL): base}
    for attribute, alignment in alignments.items():
        if over.doc.max(initial=-1) >= alignment.n_docs:
            found = f"{alignment.n_docs} documents"
            raise InputError.one(f"alignment {attribute!r}", found, f"at least {over.doc.max() + 1}, as the pairs name")
        resolved = alignment.resolve("count")
        item, group, weight = resolved.entries(over.doc)
        for code, name in enumerate(resolved.groups):
            mine = group == code
            member = np.bincount(item[mine], weights=weight[mine], minlength=over.nnz)
            weights[Part(attribute, name)] = base * member
    return {
        part: reliability(
            probability,
            relevant,
            over.indptr,
            weight=weight,
            cluster=cluster,
            bins=bins,
            seed=seed,
            resamples=resamples,
            level=level,
            method=method,
        )
        for part, weight in weights.items()
    }


def reliability_table(found: Mapping[Part, Reliability]) -> pa.Table:
    """Return one line a part: numbers of pairs, means, scores with intervals and parts; null where there is none.

    Columns: ``attribute, group, pairs, queries, weight, mean_probability, rate, chance_error,
    pairs_certain_and_wrong``; ``bias, brier, log_loss, calibration_error``, each also with ``_low`` and ``_high``;
    ``brier_`` and ``log_loss_`` with ``miscalibration, discrimination, uncertainty``.
    """
    lines: list[dict[str, object]] = []
    for part, value in found.items():
        line: dict[str, object] = {
            "attribute": part.attribute,
            "group": part.group,
            "pairs": value.pairs,
            "queries": value.clusters,
            "weight": value.weight,
            "mean_probability": value.mean_probability,
            "rate": value.rate,
            "chance_error": value.chance_error,
            "pairs_certain_and_wrong": value.counts.get("pairs_certain_and_wrong", 0),
        }
        for name in INTERVALS:
            interval: Interval = getattr(value, name)
            line |= {name: interval.mean, f"{name}_low": interval.low, f"{name}_high": interval.high}
        for score in SCORES:
            parts = value.parts.get(score)
            line |= {f"{score}_{name}": None if parts is None else getattr(parts, name) for name in PARTS}
        lines.append(line)
    return pa.Table.from_pylist(lines, _reliability_schema())


def curve_table(found: Mapping[Part, Reliability]) -> pa.Table:
    """Return one line a bin of each part: ``attribute, group, bin``, then the columns of `Curve`."""
    names = ("least", "most", "predicted", "rate", "low", "high", "pairs", "weight")
    whole = {"bin": pa.int64(), "pairs": pa.int64()}
    schema = pa.schema(
        [(name, pa.string()) for name in ("attribute", "group")]
        + [(name, whole.get(name, pa.float64())) for name in ("bin", *names)]
    )
    tables = [schema.empty_table()]
    for part, value in found.items():
        size = len(value.curve)
        columns: dict[str, pa.Array] = {
            "attribute": pa.array([part.attribute] * size, pa.string()),
            "group": pa.array([part.group] * size, pa.string()),
            "bin": pa.array(np.arange(size)),
        }
        columns |= {name: pa.array(getattr(value.curve, name)) for name in names}
        tables.append(pa.table(columns, schema=schema))
    return pa.concat_tables(tables)


def _reliability_schema() -> pa.Schema:
    texts = [(name, pa.string()) for name in ("attribute", "group")]
    whole = [(name, pa.int64()) for name in ("pairs", "queries")]
    numbers = [(name, pa.float64()) for name in ("weight", "mean_probability", "rate", "chance_error")]
    bounds = [(name + end, pa.float64()) for name in INTERVALS for end in ("", "_low", "_high")]
    parts = [(f"{score}_{name}", pa.float64()) for score in SCORES for name in PARTS]
    return pa.schema([*texts, *whole, *numbers, ("pairs_certain_and_wrong", pa.int64()), *bounds, *parts])
