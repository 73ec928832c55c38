"""Rerankers: one file a method, the file's name being the method's name in configs and results."""

from rerankers.methods.base import GROUP_TIERS, TIERS, Method, answered, check_method, check_policy
from rerankers.methods.deterministic import Deterministic
from rerankers.methods.names import METHODS
from rerankers.methods.plackett_luce import PlackettLuce
from rerankers.methods.prefixes.tables import fa_star_ir_fail_probability, fa_star_ir_table
from rerankers.methods.single import rerank_one
from rerankers.methods.uniform import Uniform

__all__ = [
    "GROUP_TIERS",
    "METHODS",
    "TIERS",
    "Deterministic",
    "Method",
    "PlackettLuce",
    "Uniform",
    "answered",
    "check_method",
    "check_policy",
    "fa_star_ir_fail_probability",
    "fa_star_ir_table",
    "rerank_one",
]
