"""What a run is called."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from rerankers._base.errors import InputError, MissingError
from rerankers.runs import read_run, run_name


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("x/bm25.txt", "bm25"),
        ("bm25.trec.gz", "bm25"),
        ("bm25.run.jsonl.zst", "bm25"),
        ("bm25.v2.tsv", "bm25.v2"),
        ("bm25.json.parquet", "bm25"),
        ("UW_Kr_r0g0c100.jsonl.gz", "UW_Kr_r0g0c100"),
        ("plain", "plain"),
        ("a.res", "a.res"),
        (".run", ".run"),
        ("jobs/ours/run.parquet", "ours"),
        ("jobs/ours/run.trec.gz", "ours"),
        ("jobs/ours/run.txt", "run"),
        ("jobs/ours/../theirs/run.parquet", "theirs"),
    ],
)
def test_names(path: str, name: str) -> None:
    assert run_name(Path(path)) == name


def test_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "method.v1.run"
    folder.mkdir()
    with pytest.raises(
        InputError, match=r"a folder without a run; expected run\.parquet, run\.trec\.gz or policy\.parquet in it"
    ):
        read_run(folder)
    with pytest.raises(MissingError, match="no such file"):
        read_run(folder / "run.parquet")
    (folder / "run.txt").write_text("q Q0 d 1 1 t\n")
    (tmp_path / "link").symlink_to(folder)
    assert run_name(folder) == "method.v1.run"
    assert run_name(tmp_path / "link") == "link"
    monkeypatch.chdir(folder)
    assert run_name(Path(".")) == "method.v1.run"
    assert run_name(Path("run.parquet")) == "method.v1.run"
    assert read_run(os.fspath(folder / "run.txt")).name == "run"
