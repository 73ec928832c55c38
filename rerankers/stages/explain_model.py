"""Why a trained model believes what it believes of a query's candidates: what each feature adds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rerankers._conf import build
from rerankers.learning.contributions import contributions
from rerankers.learning.store import query_keys, read_model

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.stages.ground import Ground
    from rerankers.stages.run import RunJob
    from rerankers.values import Collection

FEW = 8
"""Features told of a document: those that add or take most."""
CLOSE = 1e-6  # of the largest score: LightGBM adds its parts up in another order


@dataclass(frozen=True, slots=True, eq=False)
class Parts:
    """What features add to the scores of a row of n candidates.

    Attributes
    ----------
    names
        of the F features.
    value, part
        float64 (n, F): the features, NaN where one is missing, and what each adds to the score.
    base
        float64 (n,), the score without any.
    """

    names: tuple[str, ...]
    value: NDArray[np.float64]
    part: NDArray[np.float64]
    base: NDArray[np.float64]

    def of(self, place: int) -> dict[str, Any]:
        """Return the account of a candidate: its score against the mean of the query's candidates, feature by feature.

        ``features``: the few that add or take most, with ``feature``, ``value`` (None where it is missing) and
        ``adds``, relative to the mean over the candidates; ``others``: the sum of all others. With ``mean``, the mean
        score of the candidates, they add up to ``score``.
        """
        mean = self.part.mean(axis=0)
        adds = self.part[place] - mean
        order = np.argsort(-np.abs(adds), kind="stable")
        told = [at for at in order[:FEW].tolist() if adds[at] != 0.0]
        score = self.part.sum(axis=1) + self.base
        return {
            "score": float(score[place]),
            "mean": float(score.mean()),
            "features": [
                {
                    "feature": self.names[at],
                    "value": float(self.value[place, at]) if np.isfinite(self.value[place, at]) else None,
                    "adds": float(adds[at]),
                }
                for at in told
            ],
            "others": float(score[place] - score.mean() - adds[told].sum()),
        }


def model_parts(job: RunJob, collection: Collection, ground: Ground, row: int) -> Parts | None:
    """Return what features add to a model's scores of one query; None without a model, or for one without such parts.

    Parameters
    ----------
    job, collection, ground
        of the ``run``.
    row
        of the candidates.
    """
    if job.model is None:
        return None
    model = read_model(job.model)
    known = collection.over(ground.retrieved.docs)
    candidates = ground.retrieved.candidates.rows(row, row + 1)
    features: Any = build(model.card.features, job.allowed, f"method.model={job.model}: features")
    table = features.compute(known, candidates, job.cache, job.allowed)
    scorers = (*model.parts, model.final)
    fold = model.fold_of.get(query_keys(known.topics, candidates, table)[0], len(model.parts))
    found = contributions(scorers[fold], table.values, candidates.indptr)
    estimates = ground.pool.estimates
    if found is None or estimates is None or not len(table.values):
        return None
    believed = estimates.value[ground.pool.candidates.row(row)]
    if np.max(np.abs(found[0].sum(axis=1) + found[1] - believed)) > CLOSE * max(1.0, float(np.abs(believed).max())):
        return None  # not the scores that the method saw
    return Parts(table.names, table.values, *found)
