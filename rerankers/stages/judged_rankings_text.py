"""The tables of the validation kit, for the terminal and as Markdown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rerankers.report.text import clean

if TYPE_CHECKING:
    from rerankers.measures.presence_axioms import PresenceAxiom

Rows = list[list[str]]
Tables = list[tuple[str, Rows]]
MARKS = {"holds": "none found", "violated": "found", "na": "n/a"}


def axiom_tables(found: Sequence[PresenceAxiom]) -> tuple[list[str], Tables]:
    """Return heading and tables of properties: a column a measure, then the counterexamples."""
    measures = list(dict.fromkeys(one.measure for one in found))
    verdict = {(one.property, one.measure): MARKS[one.verdict] for one in found}
    rows = [["property", *measures]]
    rows += [[name, *(verdict[name, one] for one in measures)] for name in dict.fromkeys(one.property for one in found)]
    broken = [[one.measure, one.property, one.counterexample] for one in found if one.verdict != "holds"]
    title = [
        "Properties of measures of gender presence, tried on lists of N (neutral), M (male) and F (female), best rank "
        "first; none found: no counterexample among them, which is no proof"
    ]
    tables = [("Counterexamples found?", rows)]
    if broken:
        tables.append(("Counterexamples", [["measure", "property", "lists and values"], *broken]))
    return title, tables


def judged_tables(found: Mapping[str, Any]) -> tuple[list[str], Tables]:
    """Return heading and tables of how far measures agree with people."""
    people, level = found["people"], 100 * found["options"]["confidence"]
    counts, verdicts = people["counts"], people["verdicts"]
    title = [
        f"{_people(len(people['judges']))}: {counts['answers']} answers, {counts['cannot_say']} cannot say, "
        f"{counts['empty']} empty, {counts['no_row']} without a row",
        "verdicts: " + ", ".join(f"{word.replace('_', ' ')} {number}" for word, number in verdicts.items()),
        f"people among themselves: Krippendorff's alpha {_number(people['krippendorff_alpha'])}, same answer "
        f"{_number(people['pairwise'])}; a person agrees with the verdict of the others {_number(people['ceiling'])} "
        f"({people['ceiling_answers']} answers): what a measure can be expected to reach",
    ]
    decided = verdicts["A"] + verdicts["B"]
    if decided < 30:
        title.append(f"caution: {decided} pairs with a verdict are few; intervals are wide")
    rows = [["measure", "agreement", f"{level:g} %", "agree", "against", "ties", "equal: ties", "no value", "tau-b",
             f"{level:g} %"]]  # fmt: skip
    rows += [_row(one) for one in found["measures"]]
    tables = [("Agreement with the verdict of most people", rows)]
    tests = [one for one in found["tests"] if one["p"] is not None]
    if tests:
        head = ["measure", "other", "only the first agrees", "only the other", "p (sign test)", "p (Holm)"]
        lines = [
            [one["first"], one["second"], str(one["first_only"]), str(one["second_only"]), *_ps(one)] for one in tests
        ]
        tables.append(("Measures against each other", [head, *lines]))
    return title, tables


def _row(one: Mapping[str, Any]) -> list[str]:
    return [
        one["measure"],
        _number(one["agreement"]),
        _interval(one["interval"]),
        *(str(one[key]) for key in ("agree", "against", "ties")),
        f"{one['equal_ties']} of {one['equal_pairs']}",
        str(one["no_value"]),
        _number(one["tau_b"]),
        _interval(one["tau_interval"]),
    ]


def _ps(one: Mapping[str, Any]) -> list[str]:
    return [f"{one['p']:.3g}", f"{one['p_holm']:.3g}"]


def _people(number: int) -> str:
    return "1 judge" if number == 1 else f"{number} judges"


def _number(value: float | None) -> str:
    return "none" if value is None else f"{round(value, 3) + 0.0:.3f}"  # no -0.000


def _interval(ends: Sequence[float] | None) -> str:
    return "none" if ends is None else f"{_number(ends[0])} to {_number(ends[1])}"


def printed(title: Sequence[str], tables: Tables) -> list[str]:
    """Return the lines for the terminal."""
    lines = list(title)
    for name, rows in tables:
        width = [max(len(clean(row[column])) for row in rows) for column in range(len(rows[0]))]
        told = ["  ".join(clean(cell).ljust(n) for cell, n in zip(row, width, strict=True)).rstrip() for row in rows]
        lines += ["", name, *told]
    return lines


def markdown(title: Sequence[str], tables: Tables) -> str:
    """Return the same as Markdown."""

    def line(cells: Sequence[str]) -> str:
        return "| " + " | ".join(clean(cell).replace("|", "\\|") for cell in cells) + " |"

    lines = ["# Measures of gender presence", "", *(f"- {clean(one)}" for one in title)]
    for name, rows in tables:
        lines += ["", f"## {name}", "", line(rows[0]), line(["---"] * len(rows[0])), *(line(row) for row in rows[1:])]
    return "\n".join([*lines, ""])
