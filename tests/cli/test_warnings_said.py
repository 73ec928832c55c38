"""The commands say what limits their results, on the terminal and in the report."""

from __future__ import annotations

from pathlib import Path

from tests.cli.conftest import Run

QUICK = ("samples=5", "measures.resamples=50", "measures.permutations=0")
SMALL = "measures.names=[EEL,utility]"
SINGLE = "shows one ranking a query"


def run_words(tiny: Path, run: Path, output: Path, *more: str) -> list[str]:
    place = ["collection=jsonl", f"collection.path={tiny}", "retriever=run_file", f"retriever.run={run}"]
    return ["run", *place, *QUICK, f"output={output}", *more]


def test_one_ranking_a_query_is_told_from_many(command: Run, tiny: Path, tiny_run: Path, tmp_path: Path) -> None:
    code, out, err = command(*run_words(tiny, tiny_run, tmp_path / "static", "method=deterministic", SMALL))
    assert code == 0, err
    assert f"warning: deterministic {SINGLE}" in out
    assert SINGLE in (tmp_path / "static" / "report.html").read_text()
    code, out, err = command(*run_words(tiny, tiny_run, tmp_path / "drawn", SMALL))
    assert code == 0, err
    assert SINGLE not in out
    judged = ["evaluate", f"qrels={tiny}/qrels.txt", *QUICK[1:], SMALL, f"output={tmp_path / 'judged'}"]
    code, out, err = command(*judged, f"run=[{tiny_run},{tmp_path / 'drawn'}]", "missing_query=skip")
    assert code == 0, err
    assert f"warning: first {SINGLE}" in out
    assert f"drawn {SINGLE}" not in out


def test_labels_that_are_mostly_unknown(command: Run, tiny: Path, tiny_run: Path, tmp_path: Path) -> None:
    """Of six documents and a judged one that is not there, all with authors have a group; then one has."""
    said = "of 7 documents, more than a third"
    (tiny / "seniority_groups.csv").write_text("author_id,group\nu1,senior\nu2,senior\nu3,junior\nu4,junior\n")
    code, out, err = command(*run_words(tiny, tiny_run, tmp_path / "out"))
    assert code == 0, err
    assert said not in out
    (tiny / "seniority_groups.csv").write_text("author_id,group\nu3,senior\n")
    code, out, err = command(*run_words(tiny, tiny_run, tmp_path / "out"))
    assert code == 0, err
    assert f"warning: seniority is not known of 6 {said}" in out
