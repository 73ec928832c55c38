"""Ours of what a team submitted in 2020: the controller of Naver Labs Europe on its own estimates of relevance."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from rerankers.collections.paper_tables import read_paper_authors
from rerankers.exposure import GERR
from rerankers.ledger import AUTHORS, author_alignment
from rerankers.methods.nle_controller import NleController
from rerankers.tracks.reproduce_world2020 import World, read_estimates, read_world
from rerankers.values import Block, Candidates

if TYPE_CHECKING:
    from rerankers.tracks.reproduce import Compute

ESTIMATES = {"META": "nle_Evaluation_rel_scores_model_A.csv", "TEXT": "nle_Evaluation_rel_scores_model_B.csv"}
LINKS = "corpus-subset-for-queries.paper_authors.csv"
CONTROLLERS = {"theta .9, k .5": (0.9, 0.5), "theta .9, k .7": (0.9, 0.7), "theta .99, k .7": (0.99, 0.7)}
"""Key of the table -> theta and satisfaction."""


def parts(data: Path) -> Mapping[str, Compute]:
    """Return the parts ``2020 controllers META`` and ``2020 controllers TEXT``."""
    world = cache(partial(read_world, data))

    def controllers(file: str) -> Compute:
        return lambda seed: _controllers(world(), file, seed)

    return {f"2020 controllers {name}": controllers(file) for name, file in ESTIMATES.items()}


def _controllers(world: World, file: str, seed: int) -> Mapping[str, float]:
    """Return the losses of 150 rankings by the controller, accounts being those of the authors in the tables."""
    rho = read_estimates(world, file)
    authors, _ = read_paper_authors(world.file(LINKS), world.docs)
    accounts = {AUTHORS: author_alignment(authors, len(world.docs))}
    over = world.over
    candidates = Candidates(over.query, over.indptr, over.doc, {"score": rho, "estimates": rho})
    block = Block(candidates, world.stream, accounts, browsing=GERR(), seed=seed)
    found: dict[str, float] = {}
    for key, (theta, satisfaction) in CONTROLLERS.items():
        method = NleController(entities=AUTHORS, theta=theta, satisfaction=satisfaction)
        found |= {f"{key}/{name}": value for name, value in world.exact(method.policy(block)).items()}
    return found
