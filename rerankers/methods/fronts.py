"""Fronts: the lowest loss of exposure for every utility, from beliefs or from what is known, and distances to them.

A point of a front minimises loss - weight * utility in every row at the same weight, which makes the means over rows
the best pairs of mean loss and mean utility: no other policy has less mean loss at the mean utility of a point. The
*plug-in front* takes the beliefs that a method has, the *oracle front* the grades themselves, the *true front* of a
generated world the probabilities that its grades were drawn with. Where the first lies above the others, beliefs are
at fault; where a method's curve lies above the first, the method is. `rerankers.stats.trade_off` reads the points.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.errors import InputError
from rerankers.exposure.checks import float_array
from rerankers.exposure.rows import row_sums
from rerankers.exposure.targets import equal_exposure
from rerankers.methods.pareto_optimal import ParetoOptimal
from rerankers.methods.scenarios.one_vector import OneVector, row_browsing
from rerankers.methods.scenarios.options import groups_of, membership
from rerankers.methods.targets.believed import aimed_model
from rerankers.policies.optimal import mixture_of
from rerankers.values import Relevance

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from rerankers.policies import Policy
    from rerankers.values import Block, GroupAlignment

    Floats = NDArray[np.float64]

WEIGHTS = (0.0, 0.5, 1.0, 2.0, 3.0, 4.0, 5.0, 6.5, 8.0, 10.0, 13.0, 17.0, 22.0, 30.0, 50.0, 100.0, 1000.0)
"""Weights of utility from the fairest policy to nearly the static one, for exposure of unit size."""
TOLERANCE = 1e-6


@dataclass(frozen=True, slots=True, eq=False)
class Front:
    """Points of a front, or of a method's curve, by row.

    Attributes
    ----------
    weight
        float64 (W,), the weight of utility at each point.
    utility, documents, groups
        float64 (W, B): the utility, the loss of documents and that of groups (0 without groups) of every row, under
        the grades.
    gap
        float64 (W, B): by how much at most the minimised objective lies above its minimum.
    """

    weight: Floats
    utility: Floats
    documents: Floats
    groups: Floats
    gap: Floats

    def means(self) -> tuple[Floats, Floats, Floats]:
        """Return the means over rows of utility, loss of documents and loss of groups: float64 (W,) each."""
        return self.utility.mean(axis=1), self.documents.mean(axis=1), self.groups.mean(axis=1)


@dataclass(frozen=True, slots=True, eq=False)
class Judge:
    """What policies of a block are worth under the grades, for reports: nothing of it reaches a method.

    Attributes
    ----------
    block
        the rows.
    grade
        float64 (nnz,), of the candidates, 0 where one is not judged.
    alignment
        the groups, or None.
    """

    block: Block
    grade: Floats
    alignment: GroupAlignment | None

    @classmethod
    def of(cls, block: Block, grades: ArrayLike, groups: bool = False, attribute: str | None = None) -> Judge:
        """Return the judge of a block.

        Raises
        ------
        InputError
            for grades that are not one finite number a candidate.
        ConfigError
            where groups are asked for and the block does not have them, or several.
        """
        grade = float_array("grades", grades)
        if grade.shape != (block.candidates.nnz,) or not np.all(np.isfinite(grade)):
            expected = f"({block.candidates.nnz},) finite numbers, one a candidate"
            raise InputError.one("grades", f"shape {grade.shape}, or not finite", expected)
        return cls(block, np.maximum(grade, 0.0), groups_of(block, float(groups), attribute))

    def problems(self, individual: float, group: float) -> list[OneVector]:
        """Return the problem of each row where the grades are known."""
        candidates = self.block.candidates
        browsing = aimed_model(self.block).completed(self.grade).bind(self.grade, candidates.indptr)
        target = equal_exposure(candidates.indptr, self.grade, browsing)
        worth = np.where(self.grade > 0, browsing.satisfaction, 0.0)
        parts = [candidates.row(row) for row in range(len(candidates))]
        return [
            OneVector(
                row_browsing(browsing, part),
                target[part],
                worth[part],
                membership(self.alignment, candidates.doc[part]),
                individual,
                group,
            )
            for part in parts
        ]

    def best(self, method: ParetoOptimal, weight: float) -> tuple[Policy, Floats]:
        """Return the policy that minimises what a method does, at a weight of utility, and the gap of every row."""
        problems = self.problems(method.individual, method.group)
        optima = [one.lowest(weight, method.tolerance, method.max_iterations) for one in problems]
        policy = mixture_of(self.block.candidates, optima, self.block.stream)
        return policy, np.array([optimum.gap for optimum in optima], dtype=np.float64)

    def score(self, policy: Policy) -> tuple[Floats, Floats, Floats]:
        """Return utility, loss of documents and loss of groups of a policy, float64 (B,) each.

        Raises
        ------
        InputError
            for a policy without exact exposure.
        """
        candidates = self.block.candidates
        browsing = aimed_model(self.block).completed(self.grade).bind(self.grade, candidates.indptr)
        found = policy.exposure(browsing)
        if found is None:
            raise InputError.one(
                "policy", f"a {type(policy).__name__} without exact exposure", "one with a closed form"
            )
        rest = found.value - equal_exposure(candidates.indptr, self.grade, browsing)
        worth = np.where(self.grade > 0, browsing.satisfaction, 0.0)
        groups = np.zeros(len(candidates))
        if self.alignment is not None:
            totals = self.alignment.totals(candidates.row_index, candidates.doc, rest, len(candidates))
            groups = np.square(totals).sum(axis=1)
        indptr = candidates.indptr
        return row_sums(worth * found.value, indptr), row_sums(rest * rest, indptr), groups


def curve(policies: Sequence[Policy], judge: Judge, weight: ArrayLike, gap: ArrayLike | None = None) -> Front:
    """Return the points of given policies, for instance Plackett-Luce at several temperatures.

    Parameters
    ----------
    policies
        W policies over the judge's block.
    judge
        what they are scored by.
    weight, gap
        (W,) and (W, B); what the points are called by, and what certifies them: infinity where nothing does.
    """
    scored = np.array([judge.score(policy) for policy in policies]).reshape(len(policies), 3, -1)
    certified = np.full(scored[:, 0].shape, np.inf) if gap is None else np.asarray(gap, dtype=np.float64)
    return Front(np.asarray(weight, dtype=np.float64), scored[:, 0], scored[:, 1], scored[:, 2], certified)


def plug_in_front(block: Block, judge: Judge, method: ParetoOptimal, weights: ArrayLike = WEIGHTS) -> Front:
    """Return the front that a block's beliefs allow, scored under the grades.

    Parameters
    ----------
    block
        with the beliefs; and groups, where the method's group loss has a weight.
    judge
        what policies are scored by; the method does not see it.
    method
        what is minimised; its weight of utility is replaced.
    weights
        (W,), at least 0.
    """
    grid = np.asarray(weights, dtype=np.float64)
    found = [replace(method, utility=float(weight), floor=None).optimal(block) for weight in grid]
    gaps = np.array([one.gap for one in found]).reshape(len(found), -1)
    return curve([one.policy for one in found], judge, grid, gaps)


def true_front(
    block: Block, chance: ArrayLike, judge: Judge, method: ParetoOptimal, weights: ArrayLike = WEIGHTS
) -> Front:
    """Return the front that the probabilities behind the grades allow, scored under the grades.

    Parameters
    ----------
    chance
        (nnz,), the probability of relevance of each candidate, as ``Collection.truth["relevance_probability"]`` has
        it for judged pairs.
    block, judge, method, weights
        as in `plug_in_front`; the beliefs of the block are replaced.

    Raises
    ------
    InputError
        for chances outside [0, 1] or of another number.
    """
    beliefs = Relevance(float_array("chance", chance), "probability", "truth")
    return plug_in_front(replace(block, estimates=beliefs), judge, method, weights)


def oracle_front(judge: Judge, method: ParetoOptimal, weights: ArrayLike = WEIGHTS) -> Front:
    """Return the front where the grades are known; ``method`` says what is minimised."""
    grid = np.asarray(weights, dtype=np.float64)
    found = [judge.best(method, float(weight)) for weight in grid]
    gaps = np.array([gap for _, gap in found]).reshape(len(grid), -1)
    return curve([policy for policy, _ in found], judge, grid, gaps)
