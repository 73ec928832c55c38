"""Features written for other programs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from rerankers.collections.write_svmlight import write_svmlight
from rerankers.values import outer_join

if TYPE_CHECKING:
    from rerankers.features.base import FeatureTable
    from rerankers.values import Candidates, Collection


def write_letor(path: str | Path, collection: Collection, candidates: Candidates, table: FeatureTable) -> Path:
    """Write ``grade qid:7 1:0.5 # docno`` of every candidate; `rerankers.collections.letor.Letor` reads it back.

    The grades are the collection's judgments; a candidate that nobody judged has grade 0.

    Raises
    ------
    InputError, ConfigError
        as `write_svmlight`.
    """
    join = outer_join(candidates, collection.judgments)
    grade = join.from_right(collection.judgments.grade.astype(np.int64))[join.left]
    qids, docnos = collection.topics.ids.take(candidates.query), collection.docs.take(candidates.doc)
    return write_svmlight(path, table.values, table.names, candidates.indptr, qids, docnos, grade)
