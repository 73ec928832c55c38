"""Agreement in words: a table for the terminal, and the text file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

BOTH = {"labelled_part": "labelled texts", "unlabelled_as_disagreement": "all texts, none = disagreement"}


def terminal(found: Mapping[str, Any]) -> Iterator[str]:
    """Yield the lines of what ``agreement.json`` holds."""
    header = ["labeller", "of", "texts", "kappa", "interval", "accuracy"]
    rows = [header, *_rows(found)]
    widths = [max(len(row[i]) for row in rows) for i in range(len(header))]
    for row in rows:
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
    for one in found["differences"]:
        yield f"difference of kappas, {one['first']} - {one['second']}: {_with_interval(one['difference_of_kappas'])}"
    alpha = found["alpha"]
    if len(found["labellers"]) > 1:
        yield f"Krippendorff's alpha: labellers {_cell(alpha['labellers']['value'])}, with the truth " + _cell(
            alpha["labellers_and_truth"]["value"]
        )
    for part, counts in found["counts"].items():
        yield f"{part}: " + ", ".join(f"{name} {number}" for name, number in counts.items())


def markdown(found: Mapping[str, Any]) -> str:
    """Return the text file."""
    lines = ["# Agreement of labels", "", f"{found['documents']} documents with a true label.", ""]
    header = ["labeller", "of", "texts", "kappa", "interval", "accuracy"]
    lines += _table(header, _rows(found))
    if found["differences"]:
        lines += ["", "## Differences of kappas", ""]
        rows = [
            [one["first"], one["second"], str(gap["documents"]), _cell(gap["value"]), _interval(gap)]
            for one in found["differences"]
            for gap in [one["difference_of_kappas"]]
        ]
        lines += _table(["first", "second", "texts", "first - second", "interval"], rows)
        alpha = found["alpha"]
        lines += [
            "",
            f"Krippendorff's alpha (nominal): labellers {_cell(alpha['labellers']['value'])}, with the truth "
            f"{_cell(alpha['labellers_and_truth']['value'])}.",
        ]
    for name, one in found["labellers"].items():
        lines += ["", f"## {name}", ""]
        table = one["unlabelled_as_disagreement"]
        labels = table["confusion"]["labels"]
        lines += _table(
            ["truth", *labels, "precision", "recall"],
            [
                [label, *map(str, row), *(_cell(table["per_label"][label][key]) for key in ("precision", "recall"))]
                for label, row in zip(labels[:-1], table["confusion"]["counts"], strict=False)
            ],
        )
        if one["unlabelled"]:
            lines += ["", "Without a label: " + ", ".join(f"{key} {value}" for key, value in one["unlabelled"].items())]
    lines += ["", "## Counts", ""]
    lines += [
        f"- {part}: " + ", ".join(f"{k} {v}" for k, v in counts.items()) for part, counts in found["counts"].items()
    ]
    options = ", ".join(f"{key} {value}" for key, value in found["options"].items())
    lines += ["", f"Options: {options}.", "", f"    {found['command']}", ""]
    return "\n".join(lines)


def _rows(found: Mapping[str, Any]) -> list[list[str]]:
    rows = []
    for name, one in found["labellers"].items():
        # The second way says the same where every text has a label.
        for part in list(BOTH)[: 1 if one["labelled"] == one["documents"] else 2]:
            kappa = one[part]["kappa"]
            texts = f"{kappa['documents']}/{one['documents']}"
            rows.append(
                [name, BOTH[part], texts, _cell(kappa["value"]), _interval(kappa), _cell(one[part]["accuracy"])]
            )
    return rows


def _table(header: list[str], rows: list[list[str]]) -> list[str]:
    cells = [[cell.replace("|", "\\|") for cell in row] for row in (header, *rows)]
    lines = [f"| {' | '.join(row)} |" for row in cells]
    return [lines[0], "|" + " --- |" * len(header), *lines[1:]]


def _with_interval(kappa: Mapping[str, Any]) -> str:
    value = "" if kappa["value"] is None else f"{_cell(kappa['value'])} "  # then the interval says why
    return f"{value}{_interval(kappa)} on {kappa['documents']} texts"


def _interval(kappa: Mapping[str, Any]) -> str:
    if kappa["low"] is None:
        return f"none ({kappa['reason']})"
    return f"[{kappa['low']:.3f}, {kappa['high']:.3f}]"


def _cell(value: float | None) -> str:
    return "none" if value is None else f"{value:.4f}"
