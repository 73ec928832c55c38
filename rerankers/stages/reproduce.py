"""Compute published numbers anew and say which came out."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from time import perf_counter
from typing import Any

from rerankers._base.errors import ConfigError, InputError, MissingError
from rerankers._base.files import write_text
from rerankers._base.logs import log_to
from rerankers.report.text import wrap
from rerankers.stages.validate import known_keys, one_path, whole
from rerankers.tracks.reproduce import ALL, MISSED, Reproduced, reproduce, tally

KEYS = ("data", "section", "seed", "output")
HEADER = ("verdict", "section", "what", "published", "tolerance", "ours", "distance", "kind", "source", "reason")
_WHAT = 78


def reproduce_from_config(config: Mapping[str, Any]) -> None:
    """Compute what a config of ``conf/reproduce.yaml``'s form asks for, show it, and write it.

    Raises
    ------
    InputError
        when a number misses its tolerance; the files are written all the same.
    FairRerankersError
        with the exit code of the command.
    """
    known_keys(config, KEYS)
    data, output, seed = one_path(config, "data"), one_path(config, "output"), whole(config, "seed", least=None)
    if data is None or output is None or seed is None:
        raise ConfigError("data, output, seed: found null; expected two folders and a whole number")
    if output.is_file():
        raise ConfigError(f"output: found the file {output}; expected a folder. Type: output=DIR")
    if not data.is_dir():
        raise MissingError(
            f"{data}: no such folder; expected one that holds trec-fair-2020 and the like. Type: data=DIR"
        )
    section = str(config.get("section") or ALL)  # a year is a whole number there
    log_to(output)
    started = perf_counter()
    rows = []
    for row in reproduce(data.resolve(), seed, section):
        rows.append(row)
        print(terminal_line(row), flush=True)
    found = tally(rows)
    write_text(output / "reproduce.csv", comma_separated(rows))
    write_text(output / "reproduce.md", markdown(rows, seed))
    counted = ", ".join(f"{number} {verdict}" for verdict, number in found.items())
    print(f"{counted}; {perf_counter() - started:.0f} seconds, seed {seed}")
    print(f"tables: {output / 'reproduce.md'}, {output / 'reproduce.csv'}")
    if found[MISSED]:
        raise InputError.one(str(data), f"{found[MISSED]} numbers outside their tolerance", "none; see above")


def terminal_line(row: Reproduced) -> str:
    """Return a line of text: verdict, what, published number, ours."""
    first, *more = wrap(row.row.what, _WHAT, 3).split("\n")
    numbers = f"{row.row.printed:>20} {_number(row.ours):>12}".rstrip()
    rest = "".join(f"\n{'':12}{line}" for line in more)
    reason = f"\n{'':12}{row.reason}" if row.reason else ""
    return f"{row.verdict:<12}{first:<{_WHAT}} {numbers}".rstrip() + rest + reason


def comma_separated(rows: Sequence[Reproduced]) -> str:
    """Return one line a number; ours with all digits."""
    text = io.StringIO()
    out = csv.writer(text, lineterminator="\n")
    out.writerow(HEADER)
    for row in rows:
        numbers = ["" if value is None else repr(value) for value in (row.ours, row.distance)]
        out.writerow([*_words(row), *numbers, row.row.kind, row.row.source, row.reason])
    return text.getvalue()


def markdown(rows: Sequence[Reproduced], seed: int) -> str:
    """Return the table, those that missed first named."""
    found = tally(rows)
    lines = [
        "# Published numbers beside ours",
        "",
        ", ".join(f"{number} {verdict}" for verdict, number in found.items()) + f"; seed {seed}.",
        "",
        "A number is reproduced where ours is no further from it (or outside its range) than the tolerance: what "
        "rounding hides, and for numbers from draws three standard deviations between seeds, or what the source "
        "states. Absent: the data is not there. Not yet: the method is not there.",
        "",
        "| " + " | ".join(HEADER) + " |",
        "| " + " | ".join(["---"] * len(HEADER)) + " |",
    ]
    for row in rows:
        cells = [*_words(row), _number(row.ours), _number(row.distance), row.row.kind, row.row.source, row.reason]
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines) + "\n"


def _words(row: Reproduced) -> list[str]:
    tolerance = "" if row.row.tolerance is None else f"{row.row.tolerance:.2g}"
    return [row.verdict, row.row.section, row.row.what, row.row.printed, tolerance]


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.7f}".rstrip("0").rstrip(".") or "0"
