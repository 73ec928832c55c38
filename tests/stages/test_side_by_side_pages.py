"""Pages of single queries beside a comparison: which queries, their links, and what cannot be shown."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from rerankers._base.errors import InputError
from rerankers.stages.side_by_side_pages import differing, write_pages

QRELS = "q1 0 a 1\nq1 0 b 0\nq2 0 a 1\nq/3 0 b 1\n"


def row(name: str, folder: Path, values: dict[str, list[float]], units: tuple[str, ...] = ("q1", "q2", "q/3")) -> Any:
    grid = SimpleNamespace(units=list(units), keys=list(values), value=np.array(list(values.values())).T)
    job = SimpleNamespace(folder=folder)
    return SimpleNamespace(name=name, members=(SimpleNamespace(job=job),), grid=grid)


def section(*rows: Any) -> Any:
    return SimpleNamespace(title="", runs=list(rows))


def evaluated(folder: Path, name: str, lines: str) -> Path:
    """Return the folder of an evaluation of a run; only its config is looked at."""
    folder.mkdir()
    (folder / f"{name}.run").write_text(lines)
    (folder / "qrels.txt").write_text(QRELS)
    config = {
        "run": str(folder / f"{name}.run"),
        "qrels": str(folder / "qrels.txt"),
        "groups": {"path": None, "attribute": None, "unknown": "count", "mixed": "own_group", "order": None},
        "universe": "union",
        "browsing": {"_target_": "rerankers.exposure.RBP", "patience": 0.5},
        "measures": {},
        "samples": 1,
        "seed": 0,
        "preset": None,
    }
    (folder / "config.yaml").write_text(json.dumps(config))
    return folder


@pytest.fixture
def rows(tmp_path: Path) -> list[Any]:
    one = evaluated(
        tmp_path / "a", "one", "q1 Q0 a 1 2 r\nq1 Q0 b 2 1 r\nq2 Q0 a 1 1 r\nq/3 Q0 b 1 2 r\nq/3 Q0 a 2 1 r\n"
    )
    two = evaluated(
        tmp_path / "b", "two", "q1 Q0 b 1 2 r\nq1 Q0 a 2 1 r\nq2 Q0 a 1 1 r\nq/3 Q0 a 1 2 r\nq/3 Q0 b 2 1 r\n"
    )
    return [
        row("A", one, {"nDCG": [0, 0, 0], "EEL": [0.0, 0.2, 0.1]}),
        row("B", two, {"EEL": [0.5, 0.2, 0.3], "nDCG": [0, 9, 0]}),
    ]


def test_queries_that_differ_most_come_first(rows: list[Any]) -> None:
    assert differing(rows, 2) == (["q1", "q/3"], "EEL")
    assert differing(rows[:1], 1) == (["q2"], "EEL")
    rows[1].grid.keys = ["other", "more"]
    assert differing(rows, 2) == ([], "")


def test_a_query_without_a_value_is_not_chosen(rows: list[Any]) -> None:
    rows[0].grid.value[0] = np.nan
    assert differing(rows, 3)[0] == ["q/3", "q2"]


def test_pages_are_written_and_linked(rows: list[Any], tmp_path: Path) -> None:
    out = tmp_path / "out"
    pages = write_pages([section(*rows)], 2, out)
    assert pages.links == [
        ("query q1", "queries/1-q1/side_by_side.html"),
        ("query q/3", "queries/2-q-3/side_by_side.html"),
    ]
    assert any("EEL differs most" in note for note in pages.notes)
    found = json.loads((out / "queries" / "1-q1" / "explain.json").read_text())
    assert list(found["systems"]) == ["one", "two"]
    assert "Query" in (out / pages.links[1][1]).read_text()
    # those of an earlier comparison go, and nothing else
    (out / "queries" / "2-q-3" / "mine.txt").write_text("")
    assert write_pages([section(*rows)], ["q2"], out).links == [("query q2", "queries/1-q2/side_by_side.html")]
    assert sorted(path.name for path in (out / "queries").glob("*")) == ["1-q2", "2-q-3"]
    assert [path.name for path in (out / "queries" / "2-q-3").glob("*")] == ["mine.txt"]
    assert write_pages([section(*rows)], None, out).links == ()


def test_a_run_that_cannot_be_shown_is_told(rows: list[Any], tmp_path: Path) -> None:
    (tmp_path / "bare").mkdir()
    bare = row("C", tmp_path / "bare", {"EEL": [0.0, 0.0, 0.0]})
    pages = write_pages([section(*rows, bare)], 1, tmp_path / "out")
    assert len(pages.links) == 1
    assert any(note.startswith("no rankings side by side of bare") for note in pages.notes)
    none = write_pages([section(bare)], 1, tmp_path / "out")
    assert none.links == []


def test_only_so_many_runs_stand_beside_each_other(rows: list[Any], tmp_path: Path) -> None:
    pages = write_pages([section(*rows * 4)], 1, tmp_path / "out")
    assert any("the first 6 of 8 runs" in note for note in pages.notes)


def test_an_id_that_no_result_has(rows: list[Any], tmp_path: Path) -> None:
    with pytest.raises(InputError, match="queries: found 'q9'"):
        write_pages([section(*rows)], ["q1", "q9"], tmp_path / "out")
