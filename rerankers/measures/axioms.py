"""Properties that a measure of group fairness may have, tried on made-up rankings: it holds there, or here is why not.

A property that holds on these rankings is not proved; one that is violated comes with its counterexample. The questions
are those of the analyses of Raj & Ekstrand (2022), who look at what measures do with missing groups and missing
relevance, and of Schumacher, Lutz, Sikdar & Strohmaier (2024), who ask for properties instead of examples. Which of
them a measure should have depends on what it is for: a measure of single rankings is not meant to praise a coin toss
between two unfair ones.

All rankings have 20 documents, 10 of group a and 10 of group b, written as a word of their groups.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from rerankers.measures.axiom_trial import CLOSE, SIZE, NoValueError, Trial
from rerankers.measures.direction import direction
from rerankers.measures.names import Measure, parse

FIRST_A, FIRST_B, MIXED = "a" * SIZE + "b" * SIZE, "b" * SIZE + "a" * SIZE, "ab" * SIZE


@dataclass(frozen=True, slots=True)
class Axiom:
    """What came of trying a property.

    Attributes
    ----------
    measure, property
        which.
    verdict
        ``holds``, ``violated`` or ``na``: the measure has no value on the rankings that would show it.
    counterexample
        what shows the violation, or why there is no verdict; empty where it holds.
    """

    measure: str
    property: str
    verdict: str
    counterexample: str = ""

    def record(self) -> dict[str, str]:
        """Return it as plain values."""
        return {
            "measure": self.measure,
            "property": self.property,
            "verdict": self.verdict,
            "counterexample": self.counterexample,
        }


def check_axioms(measures: Sequence[str]) -> list[Axiom]:
    """Try every property on every measure of groups; others are left out.

    Parameters
    ----------
    measures
        as written. Those that name groups or attributes of their own (``group``, ``order``, ``protected``) are judged
        ``na``: the made-up rankings have others.

    Raises
    ------
    ConfigError
        for an unknown measure.
    """
    return [
        _tried(trial, name, test)
        for text in measures
        if (trial := _trial(text)) is not None
        for name, test in PROPERTIES.items()
    ]


def _trial(text: str) -> Trial | None:
    measure = parse(text)
    return Trial(text, direction(measure)) if _of_groups(measure) else None


def _of_groups(measure: Measure) -> bool:
    from rerankers.measures.group_measure import is_of_groups

    return measure.name.startswith("group_") or is_of_groups(measure.kind)


def _tried(trial: Trial, name: str, test: Callable[[Trial], str]) -> Axiom:
    named = {"group", "order", "protected"} & {key for key, _ in parse(trial.text).params}
    if named:
        return Axiom(trial.text, name, "na", f"it names {', '.join(sorted(named))}")
    try:
        found = test(trial)
    except NoValueError as error:
        return Axiom(trial.text, name, "na", f"no value for {error}")
    return Axiom(trial.text, name, "violated" if found else "holds", found)


def _between_0_and_1(trial: Trial) -> str:
    rng = np.random.default_rng(0)
    words = [FIRST_A, FIRST_B, MIXED, *("".join(rng.permutation(list(MIXED))) for _ in range(20))]
    outside = [(word, value) for word in words if not -CLOSE <= (value := trial.value(word)) <= 1 + CLOSE]
    return f"{outside[0][0]}: {outside[0][1]:.4g}" if outside else ""


def _mixed_beats_separate(trial: Trial) -> str:
    mixed = trial.value(MIXED, MIXED.swapcase().translate(str.maketrans("AB", "ba")))
    for word in (FIRST_A, FIRST_B):
        if not trial.better(mixed, value := trial.value(word)):
            return f"alternating groups, either first: {mixed:.4g}; {word}: {value:.4g}"
    return ""


def _same_under_other_names(trial: Trial) -> str:
    word = "aab" * 5 + "b" * 5
    first, second = trial.value(word), trial.value(word, names="ba")
    return "" if _level(first, second) else f"{word}: {first:.6g}; with the names exchanged: {second:.6g}"


def _same_for_equal_members(trial: Trial) -> str:
    word = "aabb" * 5
    first, second = trial.value(word), trial.value(word, backwards=True)
    return "" if _level(first, second) else f"{word}: {first:.6g}; members in another order: {second:.6g}"


def _improves_step_by_step(trial: Trial) -> str:
    words = ["ab" * k + "a" * (SIZE - k) + "b" * (SIZE - k) for k in range(SIZE + 1)]
    values = [trial.value(word) for word in words]
    for k in range(SIZE):
        if trial.better(values[k], values[k + 1]):
            return f"{words[k]}: {values[k]:.6g}; {words[k + 1]}: {values[k + 1]:.6g}"
    return ""


def _top_counts_more(trial: Trial) -> str:
    top, bottom = "aaabbb" + "ab" * (SIZE - 3), "ab" * (SIZE - 3) + "aaabbb"
    first, second = trial.value(top), trial.value(bottom)
    return "" if trial.better(second, first) else f"{top}: {first:.6g}; {bottom}: {second:.6g}"


def _defined_without_relevance(trial: Trial) -> str:
    return "" if trial.maybe(MIXED, relevant=lambda group, number: False) is not None else "nothing is relevant"


def _defined_for_an_absent_group(trial: Trial) -> str:
    word = "a" * SIZE
    return "" if trial.maybe(word) is not None else f"{word} is shown, b is judged"


def _defined_for_one_group(trial: Trial) -> str:
    word = "a" * SIZE
    return "" if trial.maybe(word, judged="a") is not None else f"{word} and there is no other group"


def _sees_who_is_missing(trial: Trial) -> str:
    missing, mixed = trial.value("a" * SIZE), trial.value(MIXED)
    return "" if trial.better(mixed, missing) else f"{'a' * SIZE} without b: {missing:.4g}; {MIXED}: {mixed:.4g}"


def _sees_merit(trial: Trial) -> str:
    word = "aabb" * 5
    first = trial.value(word, relevant=lambda group, number: (group == "a") == (number < SIZE // 2))
    second = trial.value(word, relevant=lambda group, number: (group == "b") == (number < SIZE // 2))
    return "" if not _level(first, second) else f"{word}: {first:.6g}, whichever group's documents are relevant first"


def _praises_turns(trial: Trial) -> str:
    turns = trial.value(FIRST_A, FIRST_B)
    for word in (FIRST_A, FIRST_B):
        if not trial.better(turns, value := trial.value(word)):
            return f"{FIRST_A} and {FIRST_B} by turns: {turns:.4g}; {word} alone: {value:.4g}"
    return ""


def _steady_under_soft_labels(trial: Trial) -> str:
    word = "aab" * 5 + "b" * 5
    hard, soft = trial.value(word), trial.value(word, weight=1e-6)
    return "" if abs(hard - soft) < 1e-3 * max(1.0, abs(hard)) else f"{word}: {hard:.6g}; a millionth soft: {soft:.6g}"


def _level(first: float, second: float) -> bool:
    return abs(first - second) <= CLOSE * max(1.0, abs(first), abs(second))


PROPERTIES: dict[str, Callable[[Trial], str]] = {
    "lies between 0 and 1": _between_0_and_1,
    "alternating groups beat one after the other": _mixed_beats_separate,
    "the names of groups do not matter": _same_under_other_names,
    "equal members of a group are exchangeable": _same_for_equal_members,
    "every step from separate to alternating improves": _improves_step_by_step,
    "the top counts more than the bottom": _top_counts_more,
    "defined where nothing is relevant": _defined_without_relevance,
    "defined where a group is not shown": _defined_for_an_absent_group,
    "defined where there is one group": _defined_for_one_group,
    "a group that is not shown is worse": _sees_who_is_missing,
    "depends on which group's documents are relevant": _sees_merit,
    "two unfair rankings by turns beat either": _praises_turns,
    "steady under slightly soft labels": _steady_under_soft_labels,
}
"""Property -> its test, which returns a counterexample, or nothing."""
