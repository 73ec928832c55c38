"""An interrupted run goes on from its finished blocks, to the same bits; those of other jobs are not taken."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from rerankers.collections import Generated, write_jsonl
from rerankers.stages.block import RerankBlock
from rerankers.stages.block_store import FOLDER

Run = Callable[..., tuple[int, str, str]]
FILES = ("run.parquet", "run.trec.gz", "policy.parquet", "measures.parquet", "measures.json")
WORDS = ("run", "samples=5", "measures.resamples=50", "measures.fronts=false", "execution.block=8")


class Counter:
    """Counts the blocks that are worked on, and fails at one of them."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.done, self.fails_at = 0, -1
        work = RerankBlock.__call__

        def call(task: RerankBlock, part):  # type: ignore[no-untyped-def]
            if self.done == self.fails_at:
                raise OSError(5, "interrupted")
            self.done += 1
            return work(task, part)

        monkeypatch.setattr(RerankBlock, "__call__", call)


@pytest.fixture
def blocks(monkeypatch: pytest.MonkeyPatch) -> Counter:
    return Counter(monkeypatch)


def content(folder: Path) -> list[bytes]:
    return [(folder / name).read_bytes() for name in FILES]


@pytest.mark.parametrize("method", [pytest.param("plackett_luce", marks=pytest.mark.slow), "deterministic"])
def test_blocks_are_not_done_twice(command: Run, blocks: Counter, tmp_path: Path, method: str) -> None:
    words = (*WORDS, f"method={method}")
    assert command(*words, f"output={tmp_path / 'whole'}")[0] == 0
    whole, blocks.done, blocks.fails_at = blocks.done, 0, 2
    assert whole > 3
    assert command(*words, f"output={tmp_path / 'own'}")[0] != 0
    assert len(list((tmp_path / "own" / FOLDER).iterdir())) == 4  # two files a block
    blocks.done, blocks.fails_at = 0, -1
    code, said, _ = command(*words, f"output={tmp_path / 'own'}")
    assert code == 0
    assert f"2 of {whole} blocks were there" in said
    assert blocks.done == whole - 2
    assert content(tmp_path / "own") == content(tmp_path / "whole")
    assert not (tmp_path / "own" / FOLDER).exists()


@pytest.mark.slow
def test_other_jobs_and_damaged_blocks_are_not_taken(command: Run, blocks: Counter, tmp_path: Path) -> None:
    own = f"output={tmp_path / 'own'}"
    blocks.fails_at = 3
    command(*WORDS, own)
    for path in sorted((tmp_path / "own" / FOLDER).iterdir())[:3]:
        path.write_bytes(path.read_bytes()[:100])
    blocks.done, blocks.fails_at = 0, 3
    command(*WORDS, own, "seed=1")
    assert blocks.done == 3  # nothing of the other seed was taken
    blocks.done, blocks.fails_at = 0, -1
    assert command(*WORDS, own, "seed=1", "drawn_runs=false")[0] == 0
    assert not (tmp_path / "own" / "run.parquet").exists()
    blocks.done = 0
    assert command(*WORDS, f"output={tmp_path / 'again'}", "seed=1")[0] == 0
    assert (tmp_path / "own" / "policy.parquet").read_bytes() == (tmp_path / "again" / "policy.parquet").read_bytes()


@pytest.mark.slow
def test_damaged_files_are_done_again(command: Run, blocks: Counter, tmp_path: Path) -> None:
    own = tmp_path / "own"
    blocks.fails_at = 3
    command(*WORDS, f"output={own}")
    for number, path in enumerate(sorted((own / FOLDER).iterdir())):
        if number % 2:
            path.write_bytes(b"PK" + bytes(number * 7))
    blocks.done, blocks.fails_at = 0, -1
    assert command(*WORDS, f"output={own}")[0] == 0
    assert command(*WORDS, f"output={tmp_path / 'whole'}")[0] == 0
    assert content(own) == content(tmp_path / "whole")


@pytest.mark.slow
def test_drawn_runs_may_be_left_out(command: Run, tmp_path: Path) -> None:
    words = ("run", "samples=5", "measures.resamples=50", "measures.fronts=false")
    assert command(*words, f"output={tmp_path / 'a'}", "drawn_runs=false")[0] == 0
    assert command(*words, f"output={tmp_path / 'b'}")[0] == 0
    assert not (tmp_path / "a" / "run.trec.gz").exists()
    write_jsonl(Generated().load(), tmp_path / "world")
    for name in "ab":
        judged = ("evaluate", f"run={tmp_path / name}", f"qrels={tmp_path / 'world' / 'qrels.txt'}")
        assert command(*judged, "measures.resamples=50", f"output={tmp_path / f'{name}_judged'}")[0] == 0
    a, b = ((tmp_path / f"{name}_judged" / "measures.csv").read_text().splitlines() for name in "ab")
    assert [line.partition(",")[2] for line in a] == [line.partition(",")[2] for line in b]


def test_an_unknown_word_is_refused(command: Run, tmp_path: Path) -> None:
    code, _, error = command("run", "drawn_runs=some", f"output={tmp_path / 'a'}")
    assert code == 2
    assert "drawn_runs: found 'some'; expected one of auto, true, false" in error
