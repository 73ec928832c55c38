"""Files about labels: a confusion matrix, and the probabilities with which documents were drawn for labelling."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.errors import Problems
from rerankers.collections.delimited import Table

if TYPE_CHECKING:
    from numpy.typing import NDArray


def read_confusion(path: Path, groups: Sequence[str]) -> NDArray[np.float64]:
    """Read how often documents of each true group have each label.

    Parameters
    ----------
    path
        CSV or TSV with the header ``true,label,value``; a pair that is not there is 0. Values are counts or rates:
        each true group's are divided by their sum.
    groups
        all groups.

    Returns
    -------
    float64 (G, G), a row a true group, a column a label.

    Raises
    ------
    InputError
        with every problem of the file: other names, a pair twice, values below 0, a group without any.
    MissingError
        when there is no such file.
    """
    problems = Problems(str(path))
    table = Table(path, problems)
    places = [_column(table, name, problems) for name in ("true", "label", "value")]
    problems.raise_if_any()
    matrix = np.zeros((len(groups), len(groups)))
    line: dict[tuple[int, int], int] = {}
    for number, row in table:
        true, label, text = (row[place].strip() for place in places)
        for name in (true, label):
            if name not in groups:
                problems.add(number, f"the group {name!r}", f"one of {', '.join(groups)}")
        value = _number(text)
        if value is None or value < 0:
            problems.add(number, f"the value {text!r}", "a number of at least 0")
        elif true in groups and label in groups:
            pair = (list(groups).index(true), list(groups).index(label))
            if line.setdefault(pair, number) != number:
                problems.add(number, f"{true},{label} again, as in line {line[pair]}", "each pair once")
            matrix[pair] = value
    total = matrix.sum(axis=1)
    for place in np.flatnonzero(total == 0).tolist():
        problems.add(None, f"no value above 0 of the true group {groups[place]!r}", "one or more")
    problems.raise_if_any()
    shares: NDArray[np.float64] = matrix / total[:, None]
    return shares


def read_probabilities(
    path: Path, names: Sequence[str], population: NDArray[np.bool_]
) -> tuple[NDArray[np.float64], dict[str, int]]:
    """Read the probability of every document to be drawn for labelling.

    Parameters
    ----------
    path
        CSV or TSV with the header ``docno,probability``.
    names
        (D,), the document of each code.
    population
        bool (D,), the documents that must have one.

    Returns
    -------
    probability, counts
        float64 (D,), 1 outside of the population; rows about other documents are counted.

    Raises
    ------
    InputError
        with every problem of the file: numbers outside of (0, 1], documents twice or missing.
    MissingError
        when there is no such file.
    """
    problems = Problems(str(path))
    table = Table(path, problems)
    places = [_column(table, name, problems) for name in ("docno", "probability")]
    problems.raise_if_any()
    code = {name: place for place, name in enumerate(names) if population[place]}
    probability = np.where(population, 0.0, 1.0)
    strangers, rows = 0, 0
    for number, row in table:
        docno, text = (row[place].strip() for place in places)
        value = _number(text)
        rows += 1
        if docno not in code:
            strangers += 1
        elif value is None or not 0 < value <= 1:
            problems.add(number, f"the probability {text!r}", "a number above 0, at most 1")
            probability[code[docno]] = 1.0
        elif probability[code[docno]] > 0:
            problems.add(number, f"document {docno!r} again", "each document once")
        else:
            probability[code[docno]] = value
    for place in np.flatnonzero(probability == 0).tolist():
        problems.add(None, f"no probability of document {names[place]!r}", "one, even where it has not been drawn")
    problems.raise_if_any()
    return probability, {"probability_rows": rows, "probability_rows_of_documents_not_measured": strangers}


def _column(table: Table, name: str, problems: Problems) -> int:
    place = table.column(name)
    if place is None and table.header:
        problems.add(1, f"the header {','.join(table.header)}", f"a column {name}")
    return place or 0


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None
