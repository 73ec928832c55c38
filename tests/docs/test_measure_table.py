"""The table of measures is complete, and what it says of directions, cutoffs, groups and parameters is so."""

from __future__ import annotations

import re

import pytest
from page_blocks import ROOT

from rerankers.measures.direction import better
from rerankers.measures.names import TABLE, Measure, definition, parse

PAGE = (ROOT / "docs" / "measures.md").read_text(encoding="utf-8")
COLUMNS = ("name", "what it is", "range", "better", "needs", "of", "@k", "groups", "parameters", "source")
CUTS = {"required": "must be", "optional": "may be", "none": "no"}


def rows() -> dict[str, dict[str, str]]:
    found = re.search(r"^## All measures\n(.*?)(?=^## )", PAGE, re.M | re.S)
    assert found is not None
    lines = [line for line in found[1].splitlines() if line.startswith("|")]
    cells = [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]
    assert tuple(cells[0]) == COLUMNS
    out = {line[0].strip("`"): dict(zip(COLUMNS, line, strict=True)) for line in cells[2:]}
    assert len(out) == len(cells) - 2, "a name twice"
    return out


def test_every_measure_has_a_row_in_the_order_of_the_names() -> None:
    assert list(rows()) == list(TABLE)


@pytest.mark.parametrize("name", TABLE)
def test_a_row_says_what_the_class_says(name: str) -> None:
    row, kind = rows()[name], definition(name)
    measure = Measure(name, (), 10 if kind.cutoff == "required" else None)
    assert row["better"] == (better(measure) or "neither")
    assert row["@k"] == CUTS[kind.cutoff]
    takes_group = any(parameter.name == "group" for parameter in kind.parameters)
    always = kind.depends_on_groups([])
    assert row["groups"] == ("yes" if always else "with `group=`" if takes_group else "no")
    assert row["parameters"] == (", ".join(parameter.name for parameter in kind.parameters) or "-")
    assert all(row[column] for column in COLUMNS)


def test_the_names_that_the_page_shows_are_understood() -> None:
    shown = set(re.findall(r"`([A-Za-z]+(?:\([^`…]*\))?@\d+(?:_\w+)?)`", PAGE))
    assert len(shown) > 10
    for text in shown - {"Name@k"}:
        parse(text)
    assert str(parse("EEL(group='economy',umodel='rbp',p=0.8)@20_excess")) in {
        "EEL(group='economy',p=0.8,umodel='rbp')@20_excess",
        "EEL(group='economy',umodel='rbp',p=0.8)@20_excess",
    }
