"""Fairness under query variability has the same bits however the lines of a file of variants stand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rerankers.cli import main
from rerankers.collections import Generated


def fairness(folder: Path, lines: list[str], place: str) -> dict[str, Any]:
    (folder / "human.txt").write_text("".join(lines))
    words = ["collection=generated", "collection.documents=300", "collection.topics=5", "method=plackett_luce"]
    words += [f"sets=[human:{folder}/human.txt]", "forms=[human:plain]", "groups.attribute=economy", "depth=20"]
    assert main(["variants", *words, "weights=repeats", f"output={folder / place}"]) == 0
    found: dict[str, Any] = json.loads((folder / place / "variants.json").read_text())["fairness"]
    return found


def test_the_order_of_lines_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAIR_RERANK_CACHE", str(tmp_path / "cache"))
    topics = Generated(documents=300, topics=5).load().topics
    lines = []
    for name, text in zip(topics.ids.names.to_pylist(), topics.text, strict=True):
        words = text.split()
        variants = [text, words[0], words[-1], " ".join(words[1:]), " ".join(words[:-1]), " ".join(words[::2]), text]
        lines += [f"{name}:{variant}\n" for variant in variants]
    one = fairness(tmp_path, lines, "one")
    draw = np.random.default_rng(3)
    for place in ("two", "three"):
        assert fairness(tmp_path, [lines[at] for at in draw.permutation(len(lines))], place) == one
