"""Exposure: browsing models, targets, closed forms and the exposure of rankings. Importing it loads numpy only.

The functions here take one query; the modules take blocks of queries.
"""

from rerankers.exposure.browsing import DCG, ERR, GERR, RBP, Browsing, BrowsingModel, Cascade, Positions, TopKSet
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
    "equal_exposure_target",
    "pl_exposure",
    "pl_rank_marginals",
    "ranking_exposure",
]
