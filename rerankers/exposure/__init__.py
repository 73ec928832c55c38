"""Exposure: browsing models, targets, closed forms, estimates, optimal exposure. Importing it loads numpy only.

The functions here take one query; the modules take blocks of queries.
"""

from rerankers.exposure.browsing import (
    DCG,
    ERR,
    GERR,
    RBP,
    Browsing,
    BrowsingModel,
    Cascade,
    Positions,
    TopKSet,
    TrecDiscount,
)
from rerankers.exposure.estimators import unbiased_ee
from rerankers.exposure.gradients import pl_exposure_gradient
from rerankers.exposure.optimal.foeir import foeir
from rerankers.exposure.optimal.frank_wolfe import frank_wolfe
from rerankers.exposure.optimal.permutahedron import pareto_front, project_permutahedron
from rerankers.exposure.single import equal_exposure_target, pl_exposure, pl_rank_marginals, ranking_exposure

__all__ = [
    "DCG",
    "ERR",
    "GERR",
    "RBP",
    "Browsing",
    "BrowsingModel",
    "Cascade",
    "Positions",
    "TopKSet",
    "TrecDiscount",
    "equal_exposure_target",
    "foeir",
    "frank_wolfe",
    "pareto_front",
    "pl_exposure",
    "pl_exposure_gradient",
    "pl_rank_marginals",
    "project_permutahedron",
    "ranking_exposure",
    "unbiased_ee",
]
