"""Objectives: losses of whole queries with exact slopes, shared by every learner."""

from rerankers.learning.objectives.binary import Binary
from rerankers.learning.objectives.deltr import DELTR
from rerankers.learning.objectives.exact_exposure import ExactExposure
from rerankers.learning.objectives.fair_pgrank import FairPGRank
from rerankers.learning.objectives.lambda_loss import LambdaLoss
from rerankers.learning.objectives.lambdarank import LambdaRank
from rerankers.learning.objectives.list_net import ListNet
from rerankers.learning.objectives.mixture import Mixture, with_fairness
from rerankers.learning.objectives.pl_utility import PLUtility

__all__ = [
    "DELTR",
    "Binary",
    "ExactExposure",
    "FairPGRank",
    "LambdaLoss",
    "LambdaRank",
    "ListNet",
    "Mixture",
    "PLUtility",
    "with_fairness",
]
