"""What people answered about pairs of rankings."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rerankers._base.errors import InputError, Problems
from rerankers._base.files import read_lines

ANSWERS = ("A", "B", "equal")
CANNOT_SAY = "cannot say"
_WRITTEN = {"a": "A", "b": "B", "equal": "equal", "=": "equal", "cannot say": CANNOT_SAY, "?": CANNOT_SAY}
NEEDED = ("pair", "judge", "answer")


@dataclass(frozen=True, slots=True)
class Answers:
    """Answers by pair and judge.

    Attributes
    ----------
    judges
        their names, sorted.
    given
        pair -> judge -> one of `ANSWERS`.
    counts
        ``rows``, ``answers``, ``cannot_say``, ``empty`` (a row without an answer) and ``no_row`` (a pair that a judge
        has no row for).
    """

    judges: tuple[str, ...]
    given: Mapping[str, Mapping[str, str]]
    counts: Mapping[str, int]


def read_answers(paths: Sequence[Path], pairs: Sequence[str]) -> Answers:
    """Read filled templates, one after another.

    Parameters
    ----------
    paths
        CSV files with the columns ``pair``, ``judge`` and ``answer``: A, B, equal (=), cannot say (?), or nothing.
    pairs
        the names of all pairs.

    Raises
    ------
    InputError
        with every wrong line: columns or names that are missing, unknown pairs and answers, a judge with two rows of a
        pair; and for files without any row, or without any answer but that nothing can be said.
    MissingError
        when a file is not there.
    """
    given: dict[str, dict[str, str]] = {pair: {} for pair in pairs}
    seen: set[tuple[str, str]] = set()
    counts: Counter[str] = Counter()
    judges: set[str] = set()
    wrong: list[Problems] = []
    for path in paths:
        problems = Problems(str(path))
        wrong.append(problems)
        for line, row in _rows(path, problems):
            pair, judge, written = row["pair"], row["judge"], row["answer"]
            answer = _WRITTEN.get(" ".join(written.lower().split()), "" if not written.strip() else None)
            if pair not in given:
                problems.add(line, f"the pair {pair!r}", "a pair of the key")
            elif not judge:
                problems.add(line, "no judge", "a name or number of who judged")
            elif (pair, judge) in seen:
                problems.add(line, f"pair {pair} of judge {judge} once more", "one row each")
            elif answer is None:
                problems.add(line, f"the answer {written!r}", "A, B, equal, cannot say, or nothing")
            else:
                seen.add((pair, judge))
                judges.add(judge)
                counts["answers" if answer in ANSWERS else "cannot_say" if answer else "empty"] += 1
                if answer in ANSWERS:
                    given[pair][judge] = answer
    found = [problem for problems in wrong for problem in problems.kept]
    if found:
        raise InputError(found)
    if not seen:
        raise InputError.one(str(paths[0]), "no row", "one row a pair and judge")
    if not counts["answers"]:
        empty = f"no answer in {len(seen)} rows"
        raise InputError.one(str(paths[0]), empty, "A, B or equal in the column answer", mend="Fill it first.")
    number = {key: counts[key] for key in ("answers", "cannot_say", "empty")}
    no_row = len(pairs) * len(judges) - len(seen)
    return Answers(tuple(sorted(judges)), given, {"rows": len(seen), **number, "no_row": no_row})


def holds_answers(path: Path) -> bool:
    """Return whether a file is there that is no template without answers."""
    if not path.exists() or path.stat().st_size == 0:
        return False
    problems = Problems(str(path))
    try:
        rows = _rows(path, problems)
    except InputError:
        return True
    return bool(problems) or any(row["answer"] for _, row in rows)


def _rows(path: Path, problems: Problems) -> list[tuple[int, dict[str, str]]]:
    """Return (first line, needed columns) of every row that has them; spreadsheets may write ; or tabs."""
    text = "\n".join(line for _, line in read_lines(path))
    first = text.partition("\n")[0]
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=max(",;\t", key=first.count))
    try:
        names = [name.strip().lower() for name in next(reader, [])]
        lacking = [name for name in NEEDED if name not in names]
        if lacking:
            problems.add(1, f"no column {', '.join(lacking)}", f"the columns {', '.join(NEEDED)}")
            return []
        at, out, line = {name: names.index(name) for name in NEEDED}, [], reader.line_num + 1
        for cells in reader:
            if any(cell.strip() for cell in cells):
                if len(cells) <= max(at.values()):
                    problems.add(line, f"{len(cells)} cells", f"{len(names)}, as the heading has")
                else:
                    out.append((line, {name: cells[place].strip() for name, place in at.items()}))
            line = reader.line_num + 1
    except csv.Error as error:
        problems.add(reader.line_num, f"no CSV ({error})", "cells as the template has them")
        return []
    return out
