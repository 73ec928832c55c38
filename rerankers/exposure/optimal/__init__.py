"""Optimal exposures and the policies that have them: permutahedron, FOEIR, Frank-Wolfe, losses, utility floors."""

from rerankers.exposure.optimal.fair_points import fair_point_on_ray, nearest_fair_point
from rerankers.exposure.optimal.foeir import foeir
from rerankers.exposure.optimal.frank_wolfe import Optimum, frank_wolfe
from rerankers.exposure.optimal.least_loss import least_loss_with_utility
from rerankers.exposure.optimal.losses import GroupKL, SquaredLoss
from rerankers.exposure.optimal.oracle import Oracle, best_ranking
from rerankers.exposure.optimal.permutahedron import duality_gap, pareto_front, project_permutahedron
from rerankers.exposure.optimal.several_floors import least_loss_with_floors
from rerankers.exposure.optimal.sums import Linear, Weighted
from rerankers.exposure.optimal.utility_floor import least_unfair_with_utility
from rerankers.exposure.optimal.welfare import GeneralisedGini, NashWelfare

__all__ = [
    "GeneralisedGini",
    "GroupKL",
    "Linear",
    "NashWelfare",
    "Optimum",
    "Oracle",
    "SquaredLoss",
    "Weighted",
    "best_ranking",
    "duality_gap",
    "fair_point_on_ray",
    "foeir",
    "frank_wolfe",
    "least_loss_with_floors",
    "least_loss_with_utility",
    "least_unfair_with_utility",
    "nearest_fair_point",
    "pareto_front",
    "project_permutahedron",
]
