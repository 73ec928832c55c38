"""Pairs of rankings for people, for tests of ``kit``."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path

import pytest

from rerankers.cli import main


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def fill(path: Path, answer: Callable[[dict[str, str]], str], delimiter: str = ",") -> None:
    rows = [{**row, "answer": answer(row)} for row in rows_of(path)]
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0].keys(), delimiter=delimiter)
        writer.writeheader()
        writer.writerows(rows)


@pytest.fixture
def template(tmp_path: Path) -> Path:
    path = tmp_path / "pairs, one.csv"
    assert main(["kit", "study=template", f"output={path}", "pairs=40", "judges=3", "depth=6", "seed=4"]) == 0
    return path
