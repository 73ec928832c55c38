"""What a trained model remembers and leaves beside its files: the card, its curves, the scores of unseen queries."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from rerankers._base.files import write_text
from rerankers._base.fingerprint import fingerprint
from rerankers.learning.card import Card
from rerankers.learning.objectives.aimed import looks_at_exposure
from rerankers.stages.estimates import tier_of_features
from rerankers.stages.metadata import versions
from rerankers.stages.results import Account
from rerankers.stages.train_results import curve_pictures

if TYPE_CHECKING:
    from rerankers.learning.cross_fit import CrossFit
    from rerankers.learning.rows import LearningRows
    from rerankers.stages.relevance_quality import Quality
    from rerankers.stages.results import Results
    from rerankers.stages.train import Learnable, TrainJob
    from rerankers.values import Ids


def data_mark(data: Learnable) -> str:
    """Return the fingerprint of what is learnt from: queries, documents, grades, features, groups. Nothing else."""
    rows, docs = data.rows, data.collection.docs
    names = docs.take(rows.over.doc)
    groups: list[object] = []
    if rows.groups is not None:
        known = np.unique(rows.over.doc)
        spread = rows.groups.totals(
            np.searchsorted(known, rows.over.doc), rows.over.doc.astype(np.int64), np.ones(rows.over.nnz), len(known)
        )
        groups = [rows.groups.attribute, list(rows.groups.groups), docs.take(known), spread]
    return fingerprint(list(rows.qids), rows.indptr, list(names), rows.grade, rows.features, list(rows.names), groups)


def card_of(job: TrainJob, data: Learnable, fit: CrossFit) -> Card:
    """Return what the model remembers, but for the fingerprints of its files."""
    config, objective, alignment = job.config, job.fitting.objective, data.alignment
    rows, table = data.rows, data.table
    aims = looks_at_exposure(objective) or alignment is not None
    return Card(
        learner=fit.final.scorer.kind,
        scores=str(objective.scores),
        tier=table.tier,
        feature_names=list(table.names),
        features=dict(config["features"]),
        model=dict(config["model"]),
        objective=dict(config["objective"]),
        calibration=dict(config["calibration"]),
        validation=dict(config["validation"]),
        browsing=str(job.browsing) if aims else None,
        groups=None if alignment is None else {"attribute": alignment.attribute, "groups": list(alignment.groups)},
        collection=data.collection.name,
        data=data_mark(data),
        seed=job.seed,
        versions=versions(),
        counts={"queries": len(rows), "pairs": rows.over.nnz, "iterations": fit.final.iterations},
    )


def write_tables(folder: Path, rows: LearningRows, fit: CrossFit, docs: Ids) -> None:
    """Write ``training.csv``, every point of every fit, and ``validation.parquet``, the scores of unseen queries."""
    found: set[str] = {name for curve in fit.curves.values() for point in curve for name in point.values}
    names: list[str] = [name for name in ("train", "valid", "monitor") if name in found]
    names += sorted(found.difference(names))  # a resumed fit may have met them in another order
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(["fit", "iteration", "seconds", *names])
    for fitted, curve in fit.curves.items():
        for point in curve:
            values = [point.values.get(name, "") for name in names]
            writer.writerow([fitted, point.iteration, f"{point.seconds:.4f}", *values])
    write_text(folder / "training.csv", stream.getvalue())
    none = pa.nulls(rows.over.nnz, pa.float64())
    table = pa.table(
        {
            "qid": pa.array(np.repeat(np.array(rows.qids, dtype=object), rows.over.lengths), pa.string()),
            "docno": pa.array(docs.take(rows.over.doc), pa.string()),
            "fold": pa.array(np.repeat(fit.fold, rows.over.lengths), pa.int32()),
            "grade": rows.grade,
            "score": none if fit.score is None else pa.array(fit.score),
            "probability": none if fit.probability is None else pa.array(fit.probability),
        }
    )
    pq.write_table(table, folder / "validation.parquet", compression="zstd")


def _word(config: Mapping[str, Any], key: str) -> str:
    return str(config[key].get("_target_", key)).rpartition(".")[2]


def _summary(job: TrainJob, rows: LearningRows, fit: CrossFit, card: Card) -> dict[str, str]:
    held = "the final model stops by itself" if fit.final.iterations and not fit.parts else "the middle of the folds"
    return {
        "training queries": f"{len(rows):,} with {rows.over.nnz:,} pairs, {int(np.sum(rows.grade > 0)):,} relevant",
        "features": f"{len(card.feature_names)}: {', '.join(card.feature_names)}",
        "scorer": f"{job.fitting.learner}; {fit.final.iterations} iterations ({held})",
        "objective": str(job.fitting.objective),
        "validation": f"{job.fitting.validation}; {_stopping(job.config)}",
        "calibration": str(job.fitting.calibration),
        "browsing model": card.browsing or "none: the objective has none",
        "groups": "none looked at" if card.groups is None else f"{card.groups['attribute']}",
    }


def _warnings(counts: Mapping[str, int], fit: CrossFit) -> list[str]:
    found = []
    alone = counts.get("queries_without_relevant_candidates", 0)
    if alone:
        found.append(f"{alone:,} of {counts['queries']:,} training queries have no relevant candidate")
    if not fit.parts:
        found.append(
            "no folds: nothing says how the model does on queries that it has not seen, its scores are not calibrated, "
            "and it is refused on its training queries"
        )
    return found


def _stopping(config: Mapping[str, Any]) -> str:
    """Say which queries early stopping looks at."""
    other = [f"{key}={config['validation'][key]}" for key in ("path", "split") if config["validation"].get(key)]
    held = "those of another collection, " + ", ".join(other) if other else "topics held back"
    return f"early stopping looks at {held}; all measures here are of training queries by models without their fold"


def account_of(
    job: TrainJob, data: Learnable, fit: CrossFit, card: Card, results: Results, quality: Quality | None
) -> Account:
    """Return what the job says about itself."""
    known = data.collection
    return Account(
        title=f"{_word(job.config, 'model')} trained on {known.name}",
        summary=_summary(job, data.rows, fit, card),
        tier=tier_of_features(data.table, job.groups),
        counts={
            "collection": known.counts,
            "retrieval": data.retrieved,
            "features": data.table.counts,
            "training": {**data.counts, **fit.final.counts},
            "groups": data.aligned.counts,
            "measures": results.counts,
        },
        warnings=_warnings(data.counts, fit),
        config=job.config,
        command=job.command,
        data={
            "test collection": {"name": known.name, "fingerprint": known.fingerprint},
            "training queries": {"number": len(data.rows), "fingerprint": card.data},
        },
        tables=() if quality is None else quality.tables,
        pictures=[*curve_pictures(fit), *(() if quality is None else quality.pictures)],
    )
