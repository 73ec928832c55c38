"""From answers to the parts of a run: which method stands for a definition, and with which options."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rerankers.stages.choice_answers import Answers

TEMPERATURES = [0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0]
STRENGTHS = [0.0, 0.25, 0.5, 0.75, 1.0]
PHIS = [0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9]
GUESSED = (
    "Scores of a first stage do not say how likely documents are relevant: probabilities are guessed from them. {model}"
)
TRAINED = "Those of a model are better: fair-rerank train {words} output=MODEL, then method.model=MODEL."
UNTRAINED = "Those of a model would be better, for which judged training queries are needed (judgments=train)."
FLOOR_OF_TRAINING = "The floor is kept on training queries, on average; show the utility of the evaluated ones beside."
FLOOR_BELIEVED = "The floor is one of believed utility; show the measured one beside."


@dataclass(frozen=True, slots=True)
class Recipe:
    """The parts of a run, as names of options in conf with their values, and what a reader should know of them."""

    method: str
    options: Mapping[str, Any] = field(default_factory=dict)
    target: str | None = None
    of_target: Mapping[str, Any] = field(default_factory=dict)
    fit: str | None = None
    of_fit: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def recipe_of(answers: Answers) -> Recipe:
    """Return the parts for answers that fit together (`Answers.completed`)."""
    return RECIPES[answers.definition, str(answers.unit)](answers)


def _merit_of_documents(answers: Answers) -> Recipe:
    if answers.sequence:
        return _ledger(answers, "documents", "query")
    floor = answers.utility_floor
    if answers.judgments == "train":
        if floor is None:
            return Recipe("plackett_luce", fit="search", of_fit={"measure": "EEL"})
        of_fit = {"options": {"temperature": TEMPERATURES}, "measure": "EEL", "keep": floor}
        return Recipe("plackett_luce", fit="grid", of_fit=of_fit, notes=(FLOOR_OF_TRAINING,))
    if floor is None:
        note = (
            "It is the fairest there is for browsing by position; under cascades method=scenario_optimal may be fairer."
        )
        return Recipe("thompson", notes=(note, GUESSED))
    return Recipe("pareto_optimal", {"floor": floor}, notes=(FLOOR_BELIEVED, GUESSED))


def _merit_of_groups(answers: Answers) -> Recipe:
    if answers.sequence:
        return _ledger(answers, str(answers.attribute), "corpus")
    floor = answers.utility_floor
    target = "equal_exposure"
    if answers.judgments == "train":
        if floor is None:
            return Recipe("kl_tilt", {}, target, {}, "search", {"measure": "group_EEL"}, (GUESSED,))
        of_fit = {
            "options": {"strength": STRENGTHS, "temperature": TEMPERATURES},
            "measure": "group_EEL",
            "keep": floor,
        }
        return Recipe("kl_tilt", {}, target, {}, "grid", of_fit, (FLOOR_OF_TRAINING, GUESSED))
    if floor is None:
        return Recipe("kl_tilt", target=target, notes=(GUESSED,))
    options = {"individual": 0.0, "group": 1.0, "floor": floor, "attribute": answers.attribute}
    return Recipe("pareto_optimal", options, notes=(FLOOR_BELIEVED, GUESSED))


def _parity(answers: Answers) -> Recipe:
    return _tilted(answers, "uniform", {})


def _proportional(answers: Answers) -> Recipe:
    if answers.proportional_to == "population":
        return _tilted(answers, "population", {"shares": dict(answers.shares or {})})
    return _tilted(
        answers, "first_stage_share", {"of": "documents" if answers.proportional_to == "candidates" else "exposure"}
    )


def _tilted(answers: Answers, target: str, of_target: Mapping[str, Any]) -> Recipe:
    """Return the recipe for shares that do not depend on relevance: they hold at each temperature."""
    floor = answers.utility_floor
    if floor is None:
        trained = answers.judgments == "train"
        notes = ("Training judgments choose nothing here: shares hold at each temperature.",) if trained else ()
        return Recipe("kl_tilt", {}, target, of_target, notes=notes)
    of_fit = {"options": {"temperature": TEMPERATURES}, "measure": "EEL", "keep": floor}
    stops = (
        "Of the temperatures that keep the floor that with the least EEL is taken; where the shares cost more than the "
        "floor allows, the run stops and says what is reached."
    )
    return Recipe("kl_tilt", {}, target, of_target, "grid", of_fit, (stops, FLOOR_OF_TRAINING))


def _worst_off(answers: Answers) -> Recipe:
    floor = answers.utility_floor
    if floor is None:
        note = ("How high the floor is, method.phi says: nothing chooses it.", GUESSED)
        return Recipe("phi_fair", {"phi": 0.5}, notes=note)
    of_fit = {"options": {"phi": PHIS}, "measure": "EEL", "keep": floor}
    chosen = "The training queries choose method.phi, of those that keep the floor; 0.5 is where it stands before."
    return Recipe("phi_fair", {"phi": 0.5}, fit="grid", of_fit=of_fit, notes=(chosen, FLOOR_OF_TRAINING, GUESSED))


def _ledger(answers: Answers, entities: str, scope: str) -> Recipe:
    notes = [
        "Say what is asked, in which order, by sequence=FILE (in place of rounds=); else all queries are asked alike.",
        *(["Nothing of a ledger's method is chosen by training judgments."] if answers.judgments == "train" else []),
        GUESSED,
    ]
    shared = {"entities": entities, "scope": scope}
    if answers.utility_floor is None:
        return Recipe("fair_co", shared, notes=tuple(notes))
    notes.insert(0, "The floor is a share of each ranking's best believed DCG@10; show the measured utility beside.")
    return Recipe("equity_of_attention", {**shared, "quality": answers.utility_floor}, notes=tuple(notes))


RECIPES: dict[tuple[str, str], Callable[[Answers], Recipe]] = {
    ("merit", "documents"): _merit_of_documents,
    ("merit", "groups"): _merit_of_groups,
    ("parity", "groups"): _parity,
    ("proportional", "groups"): _proportional,
    ("worst_off", "documents"): _worst_off,
}
"""Definition and unit -> what makes the parts."""
