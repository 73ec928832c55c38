"""Files of ``kit``: answers and keys are not overwritten, tabs are read, changed keys are told."""

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


def test_answers_and_keys_are_not_overwritten(template: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["kit", "study=template", f"output={template}", "pairs=40", "judges=3", "depth=6"]
    key = template.with_name("pairs, one.key.jsonl")
    before = key.read_bytes()
    assert main([*words, "seed=4"]) == 0  # the same pairs, not yet answered
    assert main([*words, "seed=5"]) == 1
    assert "found the key of other pairs" in capsys.readouterr().err
    fill(template, lambda row: "A" if row["judge"] == "2" else "")
    filled = template.read_bytes()
    assert main([*words, "seed=4"]) == 1
    assert "found a file with answers" in capsys.readouterr().err
    assert (template.read_bytes(), key.read_bytes()) == (filled, before)
    key.unlink()
    template.write_text("a letter to my mother\n")
    assert main([*words, "seed=5"]) == 1
    assert template.read_text() == "a letter to my mother\n"
    template.write_text("")
    assert main([*words, "seed=5"]) == 0


def test_tabs_and_keys_that_were_changed(template: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fill(template, lambda row: "A", "\t")
    words = ["kit", "study=judged", f"input={template}", "measures=[CWEx@10]", "resamples=20"]
    assert main(words) == 0
    key = template.with_name("pairs, one.key.jsonl")
    lines = key.read_text().splitlines(keepends=True)
    key.write_text("".join(lines[:20]))
    assert main(words) == 1
    assert "found 19 pairs; expected 40" in capsys.readouterr().err
    key.write_text("".join([lines[0], lines[1].replace('"label": ["', '"label": ["x'), *lines[2:]]))
    assert main(words) == 1
    error = capsys.readouterr().err
    assert ".key.jsonl:2: found no pair (labels: found 'x" in error
