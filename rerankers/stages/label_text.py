"""Studies of labels in words: a table of the runs, and a sentence about every pair."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rerankers.measures.unknown_labels import DETERMINED, LEVEL, UNDETERMINED
from rerankers.report.text import clean, number


@dataclass(frozen=True, slots=True)
class Told:
    """A study as it is shown.

    Attributes
    ----------
    title
        a line.
    header, rows
        the table of the runs.
    sentences
        what the numbers say, and what limits them.
    """

    title: str
    header: tuple[str, ...]
    rows: list[tuple[str, ...]]
    sentences: list[str]

    def plain(self) -> list[str]:
        """Return the lines of a terminal."""
        cells = [self.header, *self.rows]
        width = [max(len(row[column]) for row in cells) for column in range(len(self.header))]
        table = ["  ".join(cell.ljust(size) for cell, size in zip(row, width, strict=True)).rstrip() for row in cells]
        return [self.title, *table, *self.sentences]

    def markdown(self) -> list[str]:
        """Return the lines of a Markdown section."""
        rows = [self.header, ("---",) * len(self.header), *self.rows]
        table = ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows]
        return [f"## {self.title}", "", *table, "", *(f"- {line}" for line in self.sentences), ""]


def told(study: str, attribute: str, measure: str, part: Mapping[str, Any]) -> Told:
    """Return a study in words.

    Parameters
    ----------
    study
        ``bounds``, ``flips``, ``design`` or ``confusion``.
    attribute, measure
        what it is about.
    part
        its results, as `rerankers.stages.label_results` gives them.
    """
    about, header, row, sentences = _STUDIES[study]
    own = header(part) if callable(header) else header
    rows = [(clean(name), *row(run)) for name, run in part["runs"].items()]
    title = f"{about} ({measure}, {attribute})"
    return Told(clean(title), ("run", *own), rows, [clean(line) for line in sentences(measure, part)])


def _bounds_row(run: Mapping[str, Any]) -> tuple[str, ...]:
    found = f"{number(run['lower_found'])} to {number(run['upper_found'])}"
    return (
        number(run["reported"]),
        number(run["lower"]),
        number(run["upper"]),
        "yes" if run["sharp"] else f"no: {found} found",
        f"{run['queries_with_sharp_bounds']:,}",
    )


def _bounds_sentences(measure: str, part: Mapping[str, Any]) -> list[str]:
    lines = []
    for one in part["orders"]:
        first, second = one["first"], one["second"]
        less = f"{measure} of {first} less that of {second}"
        outer = f"from {number(one['lower'])} to {number(one['upper'])}"
        inner = f"from {number(one['lower_found'])} to {number(one['upper_found'])}"
        if one["verdict"] == DETERMINED:
            lines.append(f"{first} and {second} keep their order under every completion: {less} is {outer}")
        elif one["verdict"] == LEVEL:
            lines.append(f"{first} and {second} are level in {measure} under every completion")
        elif one["verdict"] == UNDETERMINED:
            lines.append(
                f"the order of {first} and {second} is not determined by the labels that are known: {less} is "
                f"{inner} under completions that were found"
            )
        else:
            lines.append(
                f"whether the labels that are known determine the order of {first} and {second} is open: {less} is "
                f"{inner} under completions that were found, and cannot be outside of {outer}"
            )
    shared = max((run["unknown_documents_in_several_queries"] for run in part["runs"].values()), default=0)
    if shared:
        lines.append(
            f"{shared:,} documents without a label occur in several queries, where they have one label; only where "
            "many queries hang together by them do bounds of means let it differ (outer bounds)"
        )
    return lines


def _flips_header(part: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(f"{rate:.0%} wrong" if rate else "as labelled" for rate in part["rates"])


def _flips_row(run: Mapping[str, Any]) -> tuple[str, ...]:
    pairs = zip(run["expected"], run["drawn_sd"], strict=True)
    return tuple(f"{number(value)} ± {number(spread)}" if spread > 1e-9 else number(value) for value, spread in pairs)


def _flips_sentences(measure: str, part: Mapping[str, Any]) -> list[str]:
    lines = []
    for one in part["orders"]:
        first, second, rate = one["first"], one["second"], one["rate"]
        seen = f"{one['share_swapped'][-1]:.0%} of the drawn labellings at {part['rates'][-1]:.0%} wrong swap them"
        if rate is None:
            lines.append(f"{first} and {second} keep their expected order at every error rate; {seen}")
        elif rate == 0:
            lines.append(f"{first} and {second} are level in {measure}")
        else:
            lines.append(f"{first} and {second} swap, in expectation, where {rate:.1%} of the labels are wrong; {seen}")
    if part["first_swap"]:
        lines.append(f"the lowest error rate at which any two runs swap, in expectation, is {part['first_swap']:.1%}")
    return [*lines, "behind ±: standard deviation over the drawn labellings"]


def _design_row(run: Mapping[str, Any]) -> tuple[str, ...]:
    interval = "–" if run["low"] is None else f"[{number(run['low'])}, {number(run['high'])}]"
    return number(run["reported"]), number(run["value"]), number(run["standard_error"]), interval


def _design_sentences(measure: str, part: Mapping[str, Any]) -> list[str]:
    drawn = {"simple": "a simple random sample", "independent": "independent draws with the given probabilities"}
    lines = [
        f"{part['labelled']:,} of {part['documents']:,} documents are labelled, taken as {drawn[part['kind']]}: if "
        "they were labelled because labels were easy to find, these estimates are biased"
    ]
    for one in part["orders"]:
        what = f"{measure} of {one['first']} less that of {one['second']}"
        if one["standard_error"] is None:
            lines.append(f"{what} is estimated as {number(one['value'])}, its standard error is not known")
            continue
        inside = one["low"] <= 0 <= one["high"]
        verdict = "their order is not determined by the labels that were drawn" if inside else "their order is clear"
        lines.append(f"{what} is estimated as {number(one['value'])} ± {number(one['standard_error'])}: {verdict}")
    if any(run["standard_error"] is None for run in part["runs"].values()):
        lines.append("a standard error is not known where the sample is too small or its variance comes out below 0")
    return [*lines, "intervals: 95 %, normal, of the drawing of documents alone"]


def _confusion_row(run: Mapping[str, Any]) -> tuple[str, ...]:
    return number(run["reported"]), number(run["corrected"])


def _confusion_sentences(measure: str, part: Mapping[str, Any]) -> list[str]:
    lines = [
        f"the confusion matrix has the condition number {part['condition_number']:.3g}: by so much errors of labels "
        "may grow in what is corrected"
    ]
    for one in part["orders"]:
        verb = "swap" if one["corrected"] > 0 else "keep their order"
        lines.append(
            f"{one['first']} and {one['second']} {verb} once wrong labels are corrected for: {measure} of the first "
            f"less that of the second is {number(one['corrected'])}"
        )
    return lines


_Header = tuple[str, ...] | Callable[[Mapping[str, Any]], tuple[str, ...]]
_STUDIES: Mapping[
    str,
    tuple[
        str,
        _Header,
        Callable[[Mapping[str, Any]], tuple[str, ...]],
        Callable[[str, Mapping[str, Any]], Sequence[str]],
    ],
] = {
    "bounds": (
        "All completions of the unknown labels",
        ("reported", "least", "greatest", "attained", "queries with sharp bounds"),
        _bounds_row,
        _bounds_sentences,
    ),
    "flips": ("Labels that are wrong at random", _flips_header, _flips_row, _flips_sentences),
    "design": (
        "Estimates from the labelled documents",
        ("reported", "estimate", "standard error", "interval"),
        _design_row,
        _design_sentences,
    ),
    "confusion": ("Corrected for wrong labels", ("reported", "corrected"), _confusion_row, _confusion_sentences),
}
