"""What is to be fitted: checked, named by content, and counted."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import torch

from rerankers._base.errors import ConfigError, InputError
from rerankers._base.fingerprint import fingerprint
from rerankers.learning.neural.batches import filled

if TYPE_CHECKING:
    from rerankers.learning.learner import Monitor
    from rerankers.learning.neural.options import Training
    from rerankers.learning.objectives.base import Objective
    from rerankers.learning.rows import LearningRows


@dataclass(frozen=True, slots=True, eq=False)
class Job:
    """The arguments of a fit."""

    options: Training
    train: LearningRows
    objective: Objective
    valid: LearningRows | None
    monitor: Monitor | None
    seed: int

    def fingerprint(self, device: torch.device) -> str:
        """Return the name that checkpoints carry: whatever may change a bit of the result enters.

        A monitor enters by its ``key`` where it has one, else by the name of its function.

        Raises
        ------
        ConfigError
            for an objective that has no content to be known by.
        """
        options, monitor = replace(self.options, checkpoint_every=1), self.monitor
        made = (str(torch.__version__), device.type, type(options).__name__)
        name = getattr(monitor, "__qualname__", type(monitor).__qualname__)
        looked_at = getattr(monitor, "key", f"{getattr(monitor, '__module__', '')}.{name}")
        kind = type(self.objective).__qualname__
        try:
            return fingerprint(made, options, kind, self.objective, self.seed, self.train, self.valid, looked_at)
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
    return filled(rows)


def row_counts(given: LearningRows, rows: LearningRows) -> dict[str, int]:
    """Count what is odd in training rows: as given, and those that hold documents."""
    low = np.minimum.reduceat(rows.grade, rows.indptr[:-1])
    high = np.maximum.reduceat(rows.grade, rows.indptr[:-1])
    return {
        "queries": len(rows),
        "queries_without_documents": len(given) - len(rows),
        "queries_of_one_document": int((np.diff(rows.indptr) == 1).sum()),
        "queries_of_one_grade": int((low == high).sum()),
        "queries_without_relevant_document": int((high == 0).sum()),
    }


def same_features(rows: LearningRows, train: LearningRows) -> LearningRows:
    """Return the rows.

    Raises
    ------
    InputError
        where their features are not those of the training rows, in that order.
    """
    if rows.names != train.names:
        width = max(len(rows.names), len(train.names))
        pad = [(*names, *["nothing"] * (width - len(names))) for names in (rows.names, train.names)]
        place = next(column for column in range(width) if pad[0][column] != pad[1][column])
        raise InputError.one(f"valid, feature {place + 1}", pad[0][place], f"{pad[1][place]}, as in training")
    return rows
