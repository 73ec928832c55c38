"""Files of ``kit``: answers and keys are not overwritten, tabs are read, changed keys are told."""

from __future__ import annotations

from pathlib import Path

import pytest

from rerankers.cli import main
from tests.cli.kit_files import fill, template

__all__ = ["template"]


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
