"""Rows that a fit may begin with, what is odd in them, and the name that a fit's checkpoints carry."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.errors import ConfigError, InputError
from rerankers._base.fingerprint import fingerprint

if TYPE_CHECKING:
    from rerankers.learning.learner import Monitor
    from rerankers.learning.objectives.base import Objective
    from rerankers.learning.rows import LearningRows


def fit_name(
    made: object,
    options: object,
    objective: Objective,
    train: LearningRows,
    valid: LearningRows | None,
    monitor: Monitor | None,
    seed: int,
) -> str:
    """Return the name that checkpoints carry: whatever may change a bit of the result enters.

    A monitor enters by its ``key`` where it has one, else by the name of its function; ``made`` says with what the
    fit is made.

    Raises
    ------
    ConfigError
        for an objective that has no content to be known by.
    """
    name = getattr(monitor, "__qualname__", type(monitor).__qualname__)
    looked_at = getattr(monitor, "key", f"{getattr(monitor, '__module__', '')}.{name}")
    kind = type(objective).__qualname__
    try:
        return fingerprint(made, options, kind, objective, seed, train, valid, looked_at)
    except TypeError as error:
        raise ConfigError(
            f"objective: found {kind}, by whose content no checkpoint can be recognised ({error}); expected a "
            "dataclass of numbers and text, or a fit without a folder for checkpoints"
        ) from error


def usable(rows: LearningRows, name: str) -> LearningRows:
    """Return the rows that hold documents.

    Raises
    ------
    InputError
        where there is no pair or no feature.
    """
    if rows.over.nnz == 0:
        raise InputError.one(name, f"{len(rows)} queries without a document", "at least one query with documents")
    if not rows.names:
        raise InputError.one(name, "no feature", "at least one")
    filled = np.flatnonzero(rows.over.lengths > 0)
    return rows if len(filled) == len(rows) else rows.take(filled)


def same_features(rows: LearningRows, train: LearningRows) -> LearningRows:
    """Return the rows.

    Raises
    ------
    InputError
        where their features are not those of the training rows, in that order.
    """
    if rows.names == train.names:
        return rows
    if len(rows.names) != len(train.names):
        raise InputError.one("valid", f"{len(rows.names)} features", f"{len(train.names)}, those of training")
    place = next(at for at, (a, b) in enumerate(zip(rows.names, train.names, strict=True)) if a != b)
    raise InputError.one(f"valid, feature {place + 1}", rows.names[place], f"{train.names[place]}, as in training")


def row_counts(given: LearningRows, rows: LearningRows) -> dict[str, int]:
    """Count what a reader should know of training rows: as given, and those that hold documents."""
    low = np.minimum.reduceat(rows.grade, rows.indptr[:-1])
    high = np.maximum.reduceat(rows.grade, rows.indptr[:-1])
    missing = np.isnan(rows.features)
    always = missing.all(axis=0)
    constant = ~missing.any(axis=0) & (rows.features == rows.features[0]).all(axis=0)
    counts = {
        "queries": len(rows),
        "queries_without_documents": len(given) - len(rows),
        "queries_of_one_document": int((rows.over.lengths == 1).sum()),
        "queries_of_one_grade": int((low == high).sum()),
        "queries_without_relevant": int((high == 0).sum()),
        "features_constant": int(constant.sum()),
        "features_always_missing": int(always.sum()),
    }
    return {name: count for name, count in counts.items() if count}
