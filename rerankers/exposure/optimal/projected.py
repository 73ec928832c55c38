"""The nearest policy to a target under position-based browsing, from which the search need not go anywhere.

Where every rank gives its own exposure, the exposures nearest to a target are its projection onto the permutahedron,
and a mixture of rankings has them. The linear oracle certifies it like any other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rerankers.exposure.optimal.atoms import Atoms
from rerankers.exposure.optimal.caratheodory import decompose
from rerankers.exposure.optimal.losses import SquaredLoss
from rerankers.exposure.optimal.permutahedron import project_permutahedron

if TYPE_CHECKING:
    from rerankers.exposure.optimal.objective import Objective
    from rerankers.exposure.optimal.regions import AllPolicies


def projected_start(objective: Objective, region: AllPolicies) -> Atoms | None:
    """Return the mixture of the least `SquaredLoss` of documents; None for other objectives and unequal browsing."""
    weight = region.oracle.rank_weights
    if weight is None or not isinstance(objective, SquaredLoss) or objective.matrix is not None:
        return None
    found = decompose(project_permutahedron(objective.target, weight), weight)
    return Atoms(region.vertices(found.rankings), found.weights)
