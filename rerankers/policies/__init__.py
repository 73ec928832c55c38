"""Policies: distributions over rankings that can be drawn from, and whose exposure is exact where a form exists."""

from rerankers.policies.base import Policy
from rerankers.policies.grade_shuffle import GradeShuffle
from rerankers.policies.logits import zscore
from rerankers.policies.mixture import Mixture, static
from rerankers.policies.plackett_luce import PlackettLuce
from rerankers.policies.single import sample_plackett_luce

__all__ = ["GradeShuffle", "Mixture", "PlackettLuce", "Policy", "sample_plackett_luce", "static", "zscore"]
