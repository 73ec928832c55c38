"""Policies: distributions over rankings that can be drawn from, and whose exposure is exact where a form exists."""

from rerankers.policies.base import Policy
from rerankers.policies.caratheodory import mixture_of_exposure
from rerankers.policies.grade_shuffle import GradeShuffle
from rerankers.policies.gradients import pl_gradient
from rerankers.policies.label_shuffle import LabelShuffle
from rerankers.policies.logits import zscore
from rerankers.policies.mallows import Mallows
from rerankers.policies.mixture import Mixture, static
from rerankers.policies.optimal import optimal_policy
from rerankers.policies.plackett_luce import PlackettLuce
from rerankers.policies.single import sample_plackett_luce
from rerankers.policies.transpositions import Transpositions

__all__ = [
    "GradeShuffle",
    "LabelShuffle",
    "Mallows",
    "Mixture",
    "PlackettLuce",
    "Policy",
    "Transpositions",
    "mixture_of_exposure",
    "optimal_policy",
    "pl_gradient",
    "sample_plackett_luce",
    "static",
    "zscore",
]
