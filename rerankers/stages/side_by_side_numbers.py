"""The numbers of one system on one query: exposure taken apart, and the chain of policies that leads to it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from rerankers.exposure.account import unsatisfied
from rerankers.measures.anchors import DETERMINISTIC, PLACKETT_LUCE, RANDOM, anchors, by_score
from rerankers.measures.evaluation import Evaluation
from rerankers.methods.belief import logits
from rerankers.policies import Mixture, static
from rerankers.policies.account import RowAccount, account

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from rerankers.stages.explain_sides import Side
    from rerankers.values import Block

START = "random order"
STEPS = {
    START: "every order of the candidates equally likely",
    "first stage": "the static order by first-stage score",
    "belief": "the static order by what the method believes",
    "randomisation": "Plackett-Luce of these beliefs at temperature 1",
    "method": "the policy of the method",
}
"""The chain: name of a step -> the policy that it ends at. A step is the difference from the exposure before."""


@dataclass(frozen=True, slots=True, eq=False)
class Numbers:
    """One system on one query, over the U documents that are candidates or judged, ascending by code.

    Attributes
    ----------
    side
        the system.
    doc
        int32 (U,), codes.
    place
        int64 (U,), the place among the candidates, -1 for documents that are none.
    grade
        float64 (U,), negative ones as 0; not a number where nobody judged.
    exposure, error, unsatisfied
        float64 (U,), see `rerankers.policies.account.RowAccount`; 0 for documents that are no candidates.
    target
        float64 (U,), of equal expected exposure; not a number for documents that the job does not count.
    account
        of the candidates.
    chain
        name of a step -> exposure float64 (U,) under the policy it ends at; empty where no beliefs are known.
    """

    side: Side
    doc: NDArray[np.int32]
    place: NDArray[np.int64]
    grade: NDArray[np.float64]
    exposure: NDArray[np.float64]
    error: NDArray[np.float64]
    unsatisfied: NDArray[np.float64]
    target: NDArray[np.float64]
    account: RowAccount
    chain: Mapping[str, NDArray[np.float64]]

    @property
    def names(self) -> list[str]:
        """The docnos, (U,)."""
        return self.side.docs.take(self.doc)

    @property
    def judged(self) -> bool:
        """Whether anybody judged the query."""
        return bool(np.any(np.isfinite(self.grade)))

    def steps(self) -> dict[str, NDArray[np.float64]]:
        """Return name of a step -> change of exposure (U,); they add up to the exposure."""
        found, before = {}, np.zeros(len(self.doc))
        for name, value in self.chain.items():
            found[name] = value - before
            before = value
        return found

    def spread(self, value: NDArray[np.float64]) -> NDArray[np.float64]:
        """Bring a value of the candidates to all documents, 0 for those that are no candidates."""
        out = np.zeros(len(self.doc))
        inside = self.place >= 0
        out[inside] = value[self.place[inside]]
        return out


def numbers(side: Side) -> Numbers:
    """Compute the numbers of a system on a query."""
    model = side.options.model
    whole = replace(side.options, universe="union")
    own = Evaluation(side.policy, side.judgments, side.groups, whole)
    universe = own.universe
    size, grade = side.policy.over.nnz, universe.candidate_grade
    browsing = model.bind(grade, side.policy.over.indptr)
    taken = account(side.policy, browsing, unsatisfied(model, size), side.options.samples, side.options.seed)
    place = universe.spread(np.arange(1.0, size + 1.0)).astype(np.int64) - 1
    counted = Evaluation(side.policy, side.judgments, side.groups, side.options)
    target = np.full(len(universe.over.doc), np.nan)
    if np.any(universe.judged):
        target[np.isin(universe.over.doc, counted.over.doc)] = counted.target(model)
    found = Numbers(
        side=side,
        doc=universe.over.doc,
        place=place,
        grade=np.where(universe.judged, universe.grade, np.nan),
        exposure=universe.spread(taken.exposure),
        error=universe.spread(taken.error),
        unsatisfied=universe.spread(taken.unsatisfied),
        target=target,
        account=taken,
        chain={},
    )
    return found if side.block is None else replace(found, chain=_chain(side, side.block, whole, found.exposure))


def _chain(side: Side, block: Block, options: Any, exposure: NDArray[np.float64]) -> dict[str, NDArray[np.float64]]:
    """Return the exposures along the chain; the first stage stands apart where beliefs are other numbers."""
    candidates = block.candidates
    believed = candidates.with_columns(score=block.relevance.value)
    around: dict[str, Any] = dict(anchors(believed, side.judgments, block.stream, "union", logits(block)))

    def exposed(policy: Any) -> NDArray[np.float64]:
        return Evaluation(policy, side.judgments, {}, options).exposure(options.model)

    chain = {START: exposed(around[RANDOM])}
    if "score" in candidates.columns and block.relevance.source != "first_stage":
        ordered = by_score(candidates)
        chain["first stage"] = exposed(static(ordered, ordered.score, block.stream))
    chain["belief"] = exposed(around[DETERMINISTIC])
    chain["randomisation"] = exposed(around[PLACKETT_LUCE])
    chain["method"] = exposure
    return chain


def is_static(policy: Any) -> bool:
    """Return whether a policy always shows one ranking."""
    return isinstance(policy, Mixture) and len(policy.rankings) == 1
