"""How good beliefs about relevance are: areas under the curve, and how far probabilities can be believed."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rerankers.learning.reliability import ALL, Part, group_reliability, reliability_table
from rerankers.report import Picture, PlainTable
from rerankers.report.training import Bin, reliability_picture
from rerankers.stats.auc import roc_auc
from rerankers.values import Ragged

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.stats.auc import Auc
    from rerankers.stats.bootstrap import Interval
    from rerankers.stats.reliability import Reliability
    from rerankers.values import GroupAlignment, Relevance

SHOWN = ("pairs", "mean probability", "relevant", "log-loss", "Brier", "calibration error", "of chance alone")


@dataclass(frozen=True, slots=True, eq=False)
class Quality:
    """What the report shows of it, and the same as plain numbers."""

    tables: Sequence[PlainTable]
    pictures: Sequence[Picture]
    plain: Mapping[str, Any]

    @property
    def json(self) -> str:
        """The numbers as JSON text."""
        return json.dumps(self.plain, indent=1, allow_nan=False) + "\n"


@dataclass(frozen=True, slots=True, eq=False)
class Judged:
    """Pairs with beliefs and labels: B rows of ``over``, their ids and topics, and bool (nnz,) ``relevant``.

    A pair that nobody judged counts as not relevant, as it does in the measures.
    """

    over: Ragged
    qids: Sequence[str]
    topic: NDArray[np.integer]
    relevance: Relevance
    relevant: NDArray[np.bool_]

    def by_id(self) -> tuple[Ragged, NDArray[np.int64], NDArray[np.int64]]:
        """Return the rows in the order of their ids, which intervals depend on; where pairs come from; and rows."""
        order = np.array(sorted(range(len(self.qids)), key=self.qids.__getitem__), dtype=np.int64)
        moved = Ragged(
            self.over.query, self.over.indptr, self.over.doc, {"place": np.arange(self.over.nnz, dtype=np.int64)}
        ).take(order)
        return moved, moved.columns["place"], order


def relevance_quality(
    pairs: Judged, alignments: Mapping[str, GroupAlignment], *, seed: int, resamples: int, level: float
) -> Quality:
    """Judge beliefs by labels.

    Parameters
    ----------
    pairs
        beliefs by a model that saw neither the queries nor their labels.
    alignments
        attribute -> alignment over the codes of ``pairs.over``: probabilities are judged for each group as well.
    seed, resamples, level
        of the bootstrap over topics.
    """
    over, place, order = pairs.by_id()
    relevant, topic = pairs.relevant[place], np.asarray(pairs.topic)[order]
    relevance = pairs.relevance.at(place)

    def area(score: NDArray[np.float64]) -> Auc:
        return roc_auc(score, relevant, over.indptr, cluster=topic, seed=seed, resamples=resamples, level=level)

    by_value = area(relevance.value)
    # Rankings are by value; what is said across queries is said by the probabilities, where there are some.
    across = by_value if relevance.probability is None else area(relevance.probability)
    plain: dict[str, Any] = {
        "source": pairs.relevance.source,
        "queries": len(over),
        "pairs": over.nnz,
        "relevant": int(relevant.sum()),
        "AUC_pooled": _plain(across.pooled),
        "AUC_pooled_of": "scores" if relevance.probability is None else "probabilities",
        "AUC_per_query": _plain(by_value.within),
        "AUC_per_query_of": "scores",
        "counts": dict(by_value.counts),
    }
    tables, pictures = [_areas(across.pooled, by_value.within, level)], list[Picture]()
    if relevance.probability is not None:
        found = group_reliability(
            over,
            relevance.probability,
            relevant,
            alignments,
            cluster=topic,
            seed=seed,
            resamples=resamples,
            level=level,
        )
        plain["reliability"] = reliability_table(found).to_pylist()
        tables.append(_reliability(found))
        picture = reliability_picture(_bins(found))
        pictures += [] if picture is None else [picture]
    return Quality(tables, pictures, plain)


def _plain(interval: Interval) -> dict[str, float | int | None]:
    return {"mean": interval.mean, "low": interval.low, "high": interval.high, "units": interval.units}


def _areas(pooled: Interval, within: Interval, level: float) -> PlainTable:
    named = (("over all pairs", pooled), ("mean within queries", within))
    rows = [(name, one.mean, one.low, one.high, f"{one.units:,}") for name, one in named]
    return PlainTable(
        "Relevance: order",
        "Area under the ROC curve: the probability that a relevant pair scores above another, ties counting half. "
        f"Intervals ({level:.0%}) are bootstrapped over topics. Within queries is what rankings need. Over all pairs, "
        "of the probabilities where there are some, says whether a value means the same in every query.",
        ("area", "mean", "low", "high", "units"),
        rows,
    )


def _reliability(found: Mapping[Part, Reliability]) -> PlainTable:
    rows = [
        (
            _name(part),
            f"{one.pairs:,}",
            one.mean_probability,
            one.rate,
            one.log_loss.mean,
            one.brier.mean,
            one.calibration_error.mean,
            one.chance_error,
        )
        for part, one in found.items()
    ]
    return PlainTable(
        "Relevance: probabilities",
        "For all pairs and for the documents of each group. The calibration error is that of ten bins of equal size; "
        "perfect probabilities have about the one of the last column.",
        ("part", *SHOWN),
        rows,
    )


def _bins(found: Mapping[Part, Reliability]) -> list[Bin]:
    return [
        Bin(_name(part), *(float(value) for value in values))
        for part, one in found.items()
        for values in zip(
            one.curve.predicted, one.curve.rate, one.curve.low, one.curve.high, one.curve.pairs, strict=True
        )
    ]


def _name(part: Part) -> str:
    return "all pairs" if part.attribute == ALL else f"{part.attribute}: {part.group}"
