"""Properties that a measure of gender presence may have, tried on label lists: it holds there, or here is why not.

The lists are all of up to 5 documents and, of 10, those of `rerankers.measures.presence_made.known_lists`; what holds
on them is not proved, but a violation comes with its counterexample. Measures of words see documents with 4 words of
their gender among 10, or none. RaB, ARaB and nDRaB are judged by minus the absolute difference of the genders, so that
more is fairer for all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache

from rerankers.measures.names import parse
from rerankers.measures.presence_made import Labels, all_lists, known_lists, lead, mirrored, orders, ups
from rerankers.measures.presence_single import DEFAULT, Listed, fairness

Value = Callable[[Labels], float | None]
CLOSE = 1e-9
NOISE = 1e-12  # shown as 0
EXHAUSTIVE = 5
LONG = 10


@dataclass(frozen=True, slots=True)
class PresenceAxiom:
    """What came of trying a property.

    Attributes
    ----------
    measure, property
        which.
    verdict
        ``holds``, ``violated`` or ``na``: the measure has no value on the lists that would show it.
    counterexample
        two lists with their values, or why there is no verdict; empty where it holds.
    tried
        how many comparisons were made until the verdict.
    """

    measure: str
    property: str
    verdict: str
    counterexample: str = ""
    tried: int = 0

    def record(self) -> dict[str, str | int]:
        """Return it as plain values."""
        return asdict(self)


def check(
    measures: Sequence[str] | Mapping[str, Callable[[Sequence[str]], float | None]] = DEFAULT, seed: int = 0
) -> list[PresenceAxiom]:
    """Try every property on every measure.

    Parameters
    ----------
    measures
        names as in ``measures.names``, or name -> a function of a list of N, M and F, best rank first, that returns a
        number, more being fairer, or None.
    seed
        of the lists that are drawn.

    Raises
    ------
    ConfigError
        for a name that is no measure of gender presence.
    """
    if isinstance(measures, Mapping):
        trials = {name: Trial(cache(value)) for name, value in measures.items()}
    else:
        trials = {text: _of_made(text) for text in measures}
    lists = [one for size in range(1, EXHAUSTIVE + 1) for one in all_lists(size)]
    lists += [known.labels for known in known_lists(LONG, seed)]
    return [
        _tried(text, name, pairs(trial, lists)) for text, trial in trials.items() for name, pairs in PROPERTIES.items()
    ]


@dataclass(frozen=True, slots=True)
class Trial:
    """A measure that is tried: its ``value`` of a list, its cutoff, and its alpha where it is CWEx."""

    value: Value
    cutoff: int | None = None
    alpha: float | None = None


def _of_made(text: str) -> Trial:
    value, measure = fairness(text), parse(text)
    alpha = float(measure.get("alpha") or 0.0) if measure.name == "CWEx" else None
    return Trial(cache(lambda labels: value(Listed.made(labels))), measure.cutoff, alpha)


Comparison = tuple[str, float | None, float | None, str]
"""What is compared, two values, and how the first must stand to the second: ``==``, ``>=``, ``>`` or ``!=``."""


def _tried(measure: str, name: str, comparisons: Iterable[Comparison]) -> PresenceAxiom:
    tried = 0
    for what, first, second, relation in comparisons:
        if first is None or second is None:
            continue
        tried += 1
        slack = CLOSE * max(1.0, abs(first), abs(second))
        level, more = abs(first - second) <= slack, first - second > slack
        fine = {"==": level, "!=": not level, ">=": level or more, ">": more}[relation]
        if not fine:
            return PresenceAxiom(measure, name, "violated", f"{what}: {_said(first)} and {_said(second)}", tried)
    if not tried:
        return PresenceAxiom(measure, name, "na", "no value on the lists that would show it")
    return PresenceAxiom(measure, name, "holds", "", tried)


def _said(value: float) -> str:
    return f"{0.0 if abs(value) < NOISE else value:.6g}"


def _word(labels: Labels) -> str:
    return "".join(labels)


def _mirror(trial: Trial, lists: Sequence[Labels]) -> Iterator[Comparison]:
    for one in lists:
        other = mirrored(one)
        yield f"{_word(one)} and {_word(other)}", trial.value(one), trial.value(other), "=="


def _neutral_up(trial: Trial, lists: Sequence[Labels]) -> Iterator[Comparison]:
    for one in lists:
        for other in ups(one, "N"):
            yield f"{_word(other)} and, before, {_word(one)}", trial.value(other), trial.value(one), ">="


def _leader_up(trial: Trial, lists: Sequence[Labels]) -> Iterator[Comparison]:
    for one in lists:
        gap = lead(one[: trial.cutoff])
        for leader in [label for label, sign in (("M", 1), ("F", -1)) if gap * sign >= -CLOSE]:
            for other in ups(one, leader):
                yield f"{_word(one)} and, after, {_word(other)}", trial.value(one), trial.value(other), ">="


def _all_neutral(trial: Trial, lists: Sequence[Labels]) -> Iterator[Comparison]:
    for one in lists:
        best = ("N",) * len(one)
        yield f"{_word(best)} and {_word(one)}", trial.value(best), trial.value(one), ">="
        if one == best and trial.alpha is not None:
            yield f"{_word(best)} and alpha", trial.value(best), trial.alpha, "=="


def _one_gender(trial: Trial, lists: Sequence[Labels]) -> Iterator[Comparison]:
    for one in lists:
        for gender in "MF":
            worst = (gender,) * len(one)
            yield f"{_word(one)} and {_word(worst)}", trial.value(one), trial.value(worst), ">="
            if one == worst and trial.alpha is not None:
                yield f"{_word(worst)} and alpha - 1", trial.value(worst), trial.alpha - 1.0, "=="


def _ranks_matter(trial: Trial, lists: Sequence[Labels]) -> Iterator[Comparison]:
    alike = orders({"N": 2, "M": 2, "F": 1})
    values = [found for one in alike if (found := trial.value(one)) is not None]
    if values:
        low, high = min(values), max(values)
        yield "the highest and the lowest of all orders of NNMMF", high, low, ">"


def _neutral_or_balanced(trial: Trial, lists: Sequence[Labels]) -> Iterator[Comparison]:
    for half in range(1, LONG // 2 + 1):
        neutral, balanced = ("M",) * half + ("N",) * half, ("M",) * half + ("F",) * half
        yield f"{_word(neutral)} and {_word(balanced)}", trial.value(neutral), trial.value(balanced), "!="


def _late_is_better(trial: Trial, lists: Sequence[Labels]) -> Iterator[Comparison]:
    for size in range(2, LONG + 1):
        rest = ("N",) * (size - 1)
        late, early = (*rest, "M"), ("M", *rest)
        yield f"{_word(late)} and {_word(early)}", trial.value(late), trial.value(early), ">"


def _taking_turns(trial: Trial, lists: Sequence[Labels]) -> Iterator[Comparison]:
    for half in range(2, LONG // 2 + 1):
        turns, blocks = ("M", "F") * half, ("M",) * half + ("F",) * half
        yield f"{_word(turns)} and {_word(blocks)}", trial.value(turns), trial.value(blocks), ">"


def _gender_for_neutral(trial: Trial, lists: Sequence[Labels]) -> Iterator[Comparison]:
    for one in lists:
        gap = lead(one[: trial.cutoff])
        for place, label in enumerate(one):
            if label == "N" and gap >= -CLOSE:
                other = (*one[:place], "M", *one[place + 1 :])
                yield f"{_word(one)} and {_word(other)}", trial.value(one), trial.value(other), ">="


PROPERTIES: dict[str, Callable[[Trial, Sequence[Labels]], Iterator[Comparison]]] = {
    "male and female exchanged: the same value": _mirror,
    "a neutral document one rank up: not lower": _neutral_up,
    "a document of the leading gender one rank up: not higher": _leader_up,
    "a neutral document becomes one of the leading gender: not higher": _gender_for_neutral,
    "all neutral is best (alpha)": _all_neutral,
    "one gender alone is worst (alpha - 1)": _one_gender,
    "the order of the documents matters": _ranks_matter,
    "genders by turns beat one after the other": _taking_turns,
    "one gendered document is better last than first": _late_is_better,
    "half neutral and half of the other gender differ": _neutral_or_balanced,
}
"""Property -> the comparisons that must hold."""
