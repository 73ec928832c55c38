"""Stochastic fair reranking: policies over rankings, exact expected exposure, fairness measures."""

from rerankers._guard import refuse_name_clash

refuse_name_clash()

__version__ = "0.1.0"
