"""Ours of numbers that belong to no track: a worked example of fair exposure, and a retrieval baseline."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.errors import MissingError
from rerankers._base.streams import query_streams

if TYPE_CHECKING:
    from rerankers.tracks.reproduce import Compute

MERIT = (0.82, 0.81, 0.80, 0.79, 0.78, 0.77)
"""Relevance of the six job seekers of Singh and Joachims (2018); the first three are of one group."""


def parts(data: Path) -> Mapping[str, Compute]:
    """Return the parts ``Singh and Joachims`` and ``CACM``."""
    return {"Singh and Joachims": _job_seekers, "CACM": partial(_cacm, data)}


def _job_seekers(seed: int) -> Mapping[str, float]:
    """Return DCG with and without demographic parity; position weights are 1/ln(1 + rank)."""
    from rerankers.exposure import foeir

    merit, weight = np.array(MERIT), 1.0 / np.log(np.arange(2.0, 8.0))
    one, other = slice(0, 3), slice(3, 6)
    ratio = (weight[one].mean() / merit[one].mean()) / (weight[other].mean() / merit[other].mean())
    fair = foeir(merit, [0, 0, 0, 1, 1, 1], weight, "parity")
    return {"dcg": float(merit @ weight), "parity": fair.utility, "dtr": float(ratio)}


def _cacm(data: Path, seed: int) -> Mapping[str, float]:
    """Return MAP over the topics with relevant documents, BM25 over title and abstract, 1,000 documents a topic."""
    from rerankers.collections import Jsonl
    from rerankers.measures import parse
    from rerankers.measures.anchors import by_score
    from rerankers.measures.evaluation import Evaluation
    from rerankers.policies import static
    from rerankers.retrieval import BM25

    if not (data / "cacm" / "docs.jsonl").is_file():
        raise MissingError("cacm/docs.jsonl")
    collection = Jsonl(str(data / "cacm")).load()
    with TemporaryDirectory() as cache:
        candidates = by_score(BM25().retrieve(collection, Path(cache)).candidates)
    stream = query_streams(collection.topics.ids.take(candidates.query))
    scores = parse("AP").per_unit(Evaluation(static(candidates, stream=stream), collection.judgments))
    known = scores.value[~np.isnan(scores.value)]
    return {"map": math.fsum(known.tolist()) / len(known)}
