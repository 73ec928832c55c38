"""``predicted=FILE``: the method sees predicted labels, the measures the true ones, and the tier says so."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run

QUICK = ("samples=5", "measures.resamples=20")


def words(tiny: Path, run: Path, output: Path, *more: str) -> list[str]:
    base = ["run", "collection=jsonl", f"collection.path={tiny}", "retriever=run_file", f"retriever.run={run}"]
    return [*base, f"output={output}", *QUICK, "method=kl_tilt", "target=uniform", *more]


def tier(output: Path) -> str:
    return str(json.loads((output / "measures.json").read_text())["tier"])


@pytest.fixture
def predicted(tmp_path: Path) -> Path:
    """Return predicted labels: one wrong, one soft."""
    path = tmp_path / "predicted.csv"
    lines = ["docno,group,weight", '"a,1",junior,1', "c5,senior,0.7", "c5,junior,0.3", "é2,junior,1", "b3,senior,1"]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.mark.slow
def test_method_sees_predictions_and_measures_do_not(
    command: Run, tiny: Path, tiny_run: Path, predicted: Path, tmp_path: Path
) -> None:
    code, _, err = command(*words(tiny, tiny_run, tmp_path / "one", f"predicted={predicted}"))
    assert code == 0, err
    assert tier(tmp_path / "one") == "predicted_groups"
    # other true labels: the rankings stay, bit for bit, and the measures of groups do not
    (tiny / "seniority_groups.csv").write_text("author_id,group\nu1,junior\nu2,senior\nu3,senior\nu4,junior\n")
    assert command(*words(tiny, tiny_run, tmp_path / "two", f"predicted={predicted}"))[0] == 0
    one, two = ((tmp_path / name / "run.parquet").read_bytes() for name in ("one", "two"))
    assert one == two
    assert (tmp_path / "one" / "measures.csv").read_bytes() != (tmp_path / "two" / "measures.csv").read_bytes()
    assert command(*words(tiny, tiny_run, tmp_path / "given"))[0] == 0
    assert tier(tmp_path / "given") == "given_groups"
    assert (tmp_path / "given" / "run.parquet").read_bytes() != two
    assert "predicted_" in (tmp_path / "one" / "measures.json").read_text(), "what the file lacks is counted"


def test_predictions_without_effect_are_refused(
    command: Run, tiny: Path, tiny_run: Path, predicted: Path, tmp_path: Path
) -> None:
    code, _, err = command(*words(tiny, tiny_run, tmp_path / "out", f"predicted={predicted}", "method=uniform"))
    assert code == 2
    assert "has no effect: uniform sees no groups" in err
    code, _, err = command(*words(tiny, tiny_run, tmp_path / "out", f"predicted={tmp_path / 'absent.csv'}"))
    assert code == 3
    assert "absent.csv" in err
