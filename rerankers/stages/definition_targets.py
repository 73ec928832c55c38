"""The targets in words: which shares of exposure they give groups, and which definition that is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from rerankers.methods.targets import TARGETS
from rerankers.stages.definition import percent

NO_MERIT = "Whether documents are relevant plays no part in the shares; group_EEL judges by merit all the same"
BY_CANDIDATES = f"{NO_MERIT}, share_loss and DP by these shares."
BY_GROUPS = f"{NO_MERIT}, share_loss(target='uniform') by these shares."


@dataclass(frozen=True, slots=True)
class Aim:
    """What a target stands for.

    Attributes
    ----------
    name
        of the definition, see `rerankers.stages.definition.Definition`.
    shares
        the shares of groups, a phrase that follows "as much exposure as" or "shares:".
    caveat
        a sentence about the target alone.
    believed
        whether beliefs about relevance decide the shares.
    """

    name: str
    shares: str
    caveat: str = ""
    believed: bool = False


def aim_of(target: Any) -> Aim:
    """Return what a target stands for; of a class that is not the package's own, that this is not known."""
    for name, kind in TARGETS.items():
        if type(target) is kind:
            return WORDS[name](target)
    kind_of_user = type(target).__name__
    return Aim(
        "unknown", f"the shares of the target {kind_of_user}", f"What {kind_of_user} stands for is yours to say."
    )


def _equal_exposure(_: Any) -> Aim:
    shares = "the shares that they would have if equally relevant documents had equal exposure (Diaz et al. 2020)"
    return Aim("merit", shares, believed=True)


def _uniform(target: Any) -> Aim:
    which = "that has candidates" if target.present else "of the attribute"
    return Aim("parity", f"the same share for every group {which}", BY_GROUPS)


def _population(target: Any) -> Aim:
    if target.shares:
        shares = ", ".join(f"{group} {percent(share)}" for group, share in target.shares.items())
        return Aim("proportional", f"the shares of a population ({shares})", f"{NO_MERIT}.")
    stated = f" stated in {target.path}" if target.path else ""
    return Aim("proportional", f"the shares of a population{stated}", f"{NO_MERIT}.")


def _relevant_share(target: Any) -> Aim:
    if target.judged:
        caveat = (
            "The shares come from judgments of the ranked queries: it shows what is possible; no system knows them."
        )
        return Aim("merit", "their shares of the documents that are judged relevant to the ranked queries", caveat)
    where = f"in {target.path}" if target.path else "for the training queries"
    caveat = "All queries have the same shares: one where a group has more that is relevant is not told apart."
    return Aim("merit", f"their shares of the documents that were judged relevant {where}", caveat)


def _estimated_share(_: Any) -> Aim:
    return Aim("merit", "their shares of the documents expected to be relevant", believed=True)


def _first_stage_share(target: Any) -> Aim:
    if target.of == "documents":
        return Aim("proportional", "their shares of the candidates, document for document", BY_CANDIDATES)
    caveat = "What the first stage's order does to a group stays as it is; group_EEL judges by merit all the same."
    return Aim("proportional", "the shares of exposure that the first stage's order gives them", caveat)


def _merit(_: Any) -> Aim:
    caveat = "How many candidates a group has plays no part: one good document is due as much as many."
    return Aim("merit", "in proportion to the mean relevance of their candidates", caveat, believed=True)


def _custom(target: Any) -> Aim:
    caveat = "What the shares of the file stand for is for its makers to say; group_EEL judges by merit all the same."
    return Aim("proportional", f"the shares stated query by query in {target.path}", caveat)


WORDS: dict[str, Callable[[Any], Aim]] = {
    "equal_exposure": _equal_exposure,
    "uniform": _uniform,
    "population": _population,
    "relevant_share": _relevant_share,
    "estimated_share": _estimated_share,
    "first_stage_share": _first_stage_share,
    "merit": _merit,
    "custom": _custom,
}
"""Name of a target -> its words; the names are those of `rerankers.methods.targets.TARGETS`."""
