"""Targets of one's own: a file ``qid,cell,value``."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from rerankers._base.errors import Problems
from rerankers.collections.delimited import Table
from rerankers.measures.cells import Cells
from rerankers.tracks.pages import Dimension

ANY = "*"


def read_wiki_targets(path: str | Path, dimensions: Sequence[Dimension]) -> dict[str, Cells]:
    """Read targets over cells, CSV or TSV with the header ``qid,cell,value``.

    Parameters
    ----------
    path
        the file. ``cell`` is the names of its groups in the order of the dimensions, joined by ``|``
        (``Europe|female``), or its row-major number from 0. ``qid`` is a topic, or ``*`` for all topics without rows.
        Cells that are not named are 0.
    dimensions
        in use.

    Returns
    -------
    topic -> cells, not normalised.

    Raises
    ------
    InputError
        with every problem and its line: columns that are missing, cells that do not exist or come twice, values that
        are no finite numbers of at least 0, a topic with zeros only.
    MissingError
        when there is no such file.
    """
    problems = Problems(str(path))
    table = Table(Path(path), problems)
    places = [table.column(name) for name in ("qid", "cell", "value")]
    if None in places and not problems:
        problems.add(1, f"the header {', '.join(table.header)}", "qid,cell,value")
    problems.raise_if_any()
    qid_at, cell_at, value_at = (place or 0 for place in places)
    sizes = tuple(len(dimension.groups) for dimension in dimensions)
    codes = [{name: at for at, name in enumerate(dimension.groups)} for dimension in dimensions]
    found: dict[str, dict[int, float]] = {}
    for number, row in table:
        cell, value = _cell(row[cell_at], codes, sizes), _value(row[value_at])
        own = found.setdefault(row[qid_at].strip(), {})
        if cell is None:
            expected = (
                f"a number below {math.prod(sizes)}, or a group of each of {', '.join(d.name for d in dimensions)}"
            )
            problems.add(number, f"cell {row[cell_at]!r}", f"{expected}, joined by |")
        elif value is None:
            problems.add(number, f"value {row[value_at]!r}", "a finite number of at least 0")
        elif cell in own:
            problems.add(number, f"cell {row[cell_at]!r} again", "each cell once in a topic")
        else:
            own[cell] = value
    for topic, own in found.items():
        if not any(own.values()):
            problems.add(None, f"zeros only for topic {topic!r}", "a positive value")
    problems.raise_if_any()
    return {topic: _cells(sizes, own) for topic, own in found.items()}


def _cells(sizes: tuple[int, ...], own: dict[int, float]) -> Cells:
    cell = np.array(sorted(cell for cell, value in own.items() if value > 0), np.int64)
    return Cells(sizes, cell, np.array([own[one] for one in cell.tolist()]))


def _cell(text: str, codes: Sequence[dict[str, int]], sizes: Sequence[int]) -> int | None:
    names = text.split("|")
    if len(names) == len(codes):
        found = [code.get(name) for code, name in zip(codes, names, strict=True)]
        if None not in found:
            return int(np.ravel_multi_index([at or 0 for at in found], tuple(sizes)))
    text = text.strip()
    if text.isascii() and text.isdecimal() and len(text) < 19 and int(text) < math.prod(sizes):
        return int(text)
    return None


def _value(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) and value >= 0 else None
