"""The command ``ledger``: show and merge, and what it says when it cannot."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from rerankers._base.streams import query_streams
from rerankers.exposure import GERR
from rerankers.ledger import Impressions, SQLite, open_ledger
from rerankers.methods.fair_co import FairCo
from rerankers.values import Block, Candidates, Ids
from tests.cli.conftest import Run

QIDS = ("q1", "q2")


def left(path: Path, *sequences: str, strength: float = 1.0, names: str = "d") -> Path:
    """Leave a ledger that has served some of the sequences a, b and c."""
    over = Candidates(np.arange(2), np.array([0, 3, 5]), np.array([0, 1, 2, 1, 3]), {"score": np.arange(5.0)})
    block = Block(over, query_streams(QIDS), {}, browsing=GERR())
    codes = np.array([ord(name) - ord("a") for name in sequences for _ in range(4)])
    asked = Impressions.of(("a", "b", "c"), codes, np.arange(len(codes)) % 2, QIDS, Ids.of(QIDS), over)
    docs = Ids.of([f"{names}{code}" for code in range(4)])
    FairCo(scope="sequence", strength=strength).serve(block, asked, SQLite(str(path)), docs)
    return path


def test_show(command: Run, tmp_path: Path) -> None:
    path = left(tmp_path / "a ledger=1.sqlite", "a", "b")
    before = path.read_bytes()
    code, out, err = command("ledger", "show", str(path), "top=2")
    assert code == 0, err
    assert str(path) in out
    assert "2, 8 impressions" in out
    assert "method=FairCo" in out
    assert len([line for line in out.splitlines() if line.startswith("d")]) <= 4, "two owed most, two ahead most"
    assert "0 to 3" in out
    assert path.read_bytes() == before
    assert len(command("ledger", "show", str(path))[1]) > len(out)


def test_merge_equals_one_ledger(command: Run, tmp_path: Path) -> None:
    parts = [left(tmp_path / "1.sqlite", "a"), left(tmp_path / "2.sqlite", "b", "c")]
    into = tmp_path / "all.sqlite"
    code, out, err = command("ledger", "merge", *map(str, parts), f"into={into}")
    assert code == 0, err
    assert "2 ledgers, 12 impressions of 3 sequences in 3 accounts" in out
    assert open_ledger(into).digest == open_ledger(left(tmp_path / "one.sqlite", "a", "b", "c")).digest


def test_what_cannot_be_merged(command: Run, tmp_path: Path) -> None:
    a, again = left(tmp_path / "a.sqlite", "a"), left(tmp_path / "again.sqlite", "a")
    other = left(tmp_path / "other.sqlite", "b", strength=2.0)
    for words, text in (
        ([str(a), str(again)], "impressions 0 to 3 of sequence a twice"),
        ([str(a), str(other)], "strength=2.0"),
        ([str(a), str(left(tmp_path / "e.sqlite", "b", names="e"))], "other candidates than the ledger was kept with"),
        ([str(a), str(left(tmp_path / "b.sqlite", "b"))], "a merged ledger is a new one"),
    ):
        into = a if "new one" in text else tmp_path / "into.sqlite"
        code, _, err = command("ledger", "merge", *words, f"into={into}")
        assert (code, text in err) == (1, True), err
    assert not (tmp_path / "into.sqlite").exists()


@pytest.mark.parametrize(
    ("words", "code", "text"),
    [
        (["shwo"], 2, "Did you mean 'show'"),
        (["show"], 2, "found 0 paths"),
        (["show", "a", "b"], 2, "found 2 paths"),
        (["show", "none.sqlite"], 3, "found no file; expected a ledger"),
        (["show", "a", "top=0"], 2, "top: found '0'"),
        (["show", "a", "top=x"], 2, "top: found 'x'"),
        (["show", "a", "tpo=3"], 2, "Did you mean 'top'"),
        (["show", "a", "--top"], 2, "--top: no such option"),
        (["show", "a", "top=3", "top=3"], 2, "top: found twice"),
        (["merge", "a"], 2, "found 1 ledgers"),
        (["merge", "a", "b"], 2, "into: found nothing"),
        (["merge", "a", "b", "into="], 2, "into: found nothing"),
        (["merge", "none", "b", "into=c"], 3, "found no file"),
    ],
)
def test_wrong_words(
    command: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], code: int, text: str
) -> None:
    monkeypatch.chdir(tmp_path)
    found = command("ledger", *words)
    assert (found[0], text in found[2]) == (code, True), found


def test_a_file_that_is_no_ledger(command: Run, tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("no ledger\n" * 200)
    code, _, err = command("ledger", "show", str(path))
    assert (code, str(path) in err) == (1, True)


def test_help_is_light(command: Run) -> None:
    assert command("ledger")[0] == 2
    code = (
        "import sys\nfrom rerankers.cli import main\ncode = main(['ledger', '--help'])\n"
        "print('LOADED', *sorted({name.partition('.')[0] for name in sys.modules}))\nsys.exit(code)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "merge A B" in done.stdout
    heavy = {"torch", "numba", "numpy", "pyarrow", "sqlite3", "hydra", "jnius", "pyserini"}
    assert not set(done.stdout.rpartition("LOADED")[2].split()) & heavy
