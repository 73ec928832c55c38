"""Which queries belong together: topics with variants, an author's or a user's queries."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.errors import InputError, MissingError, Problems

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray


def read_clusters(path: Path, units: Sequence[str]) -> NDArray[np.int64]:
    """Return the cluster of every unit, int64 (units,), from a CSV with the header ``qid,cluster``.

    Raises
    ------
    MissingError
        when there is no such file.
    InputError
        for another header, a query twice or one that is missing.
    """
    if not path.is_file():
        raise MissingError(f"clusters: found no file {path}; expected a CSV qid,cluster. Type: clusters=FILE")
    problems = Problems(str(path))
    known: dict[str, str] = {}
    try:
        lines = list(csv.reader(path.read_text(encoding="utf-8-sig").splitlines()))
    except (UnicodeDecodeError, csv.Error) as error:
        raise InputError.one(str(path), str(error), "a CSV qid,cluster in UTF-8") from error
    if not lines or [cell.strip() for cell in lines[0]] != ["qid", "cluster"]:
        problems.add(1, ",".join(lines[0]) if lines else "nothing", "the header qid,cluster")
    for number, cells in enumerate(lines[1:], 2):
        if len(cells) != 2:
            problems.add(number, f"{len(cells)} cells", "two: qid,cluster")
        elif cells[0] in known:
            problems.add(number, f"query {cells[0]} again", "every query once")
        else:
            known[cells[0]] = cells[1]
    if not problems:
        for unit in units:
            if unit not in known:
                problems.add(None, f"no line of query {unit}", "every measured query")
    problems.raise_if_any()
    codes = {name: code for code, name in enumerate(sorted(set(known.values())))}
    return np.array([codes[known[unit]] for unit in units], dtype=np.int64)
