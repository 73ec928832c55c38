"""Clusters give what this process gives, and a worker that is lost is no matter, or named."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

ENGINES = {"dask": "Dask", "ray": "Ray"}

CALLS = """
import os
from pathlib import Path
from rerankers._base.errors import WorkerLostError
from rerankers.execution import {kind}

def square(value): return value * value
def reciprocal(value): return 1 / value
def threads(_): return os.environ["OMP_NUM_THREADS"], os.getpid()
def dies_once(value):
    mark = Path(os.environ["MARKS"]) / str(value)
    if value in (3, 4) and not mark.exists():
        mark.write_text("")
        os._exit(9)
    return value
def dies_always(value):
    if value == 3:
        os._exit(9)
    return value

if __name__ == "__main__":
    engine = {kind}(workers=2)
    assert list(engine.map(square, range(20))) == [value * value for value in range(20)]
    assert list(engine.map(square, [])) == []
    taken = []
    blocks = engine.map(square, (taken.append(one) or one for one in range(100)))
    assert next(blocks) == 0 and len(taken) <= 5, taken
    blocks.close()
    found = list(engine.map(threads, range(8)))
    assert {{one for one, _ in found}} == {{"1"}} and os.getpid() not in {{pid for _, pid in found}}
    try:
        list(engine.map(reciprocal, [1, 0, 2], lambda value: f"number {{value}}"))
    except ZeroDivisionError as error:
        assert error.__notes__ == ["in block 2: number 0"], error.__notes__
    else:
        raise SystemExit("no error")
    assert list(engine.map(dies_once, range(8))) == list(range(8))
    done = []
    try:
        for one in engine.map(dies_always, range(8), lambda value: f"number {{value}}"):
            done.append(one)
    except WorkerLostError as error:
        assert str(error).startswith("block 4: number 3: its worker was lost 3 times"), error
    else:
        raise SystemExit("no error")
    assert done == [0, 1, 2], done
    assert list(engine.map(square, range(3))) == [0, 1, 4]
    print("fine")
"""


@pytest.mark.slow
@pytest.mark.parametrize("extra", ENGINES)
def test_blocks_in_order_and_lost_workers(extra: str, python_with: Callable[[str], Path], tmp_path: Path) -> None:
    script = tmp_path / "calls.py"
    script.write_text(CALLS.format(kind=ENGINES[extra]))
    done = subprocess.run(
        [python_with(extra), script],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
        env={**os.environ, "MARKS": str(tmp_path)},
    )
    assert "fine" in done.stdout.splitlines(), done.stderr[-3000:]  # Ray's own remarks may stand around it
    assert done.returncode == 0


@pytest.mark.slow
@pytest.mark.parametrize("extra", ENGINES)
def test_a_job_has_the_same_bits(extra: str, python_with: Callable[[str], Path], tmp_path: Path) -> None:
    usual = ["samples=10", "execution.block=7", "measures.resamples=50", "measures.permutations=20"]
    for engine, name in (("serial", "a"), (extra, "b")):
        more = [] if engine == "serial" else ["execution.workers=2"]
        words = [f"execution={engine}", *more, *usual, f"output={tmp_path / name}", f"paths.cache={tmp_path / 'cache'}"]
        subprocess.run([python_with(extra), "-m", "rerankers", "run", *words], check=True, timeout=300)
    for file in ("run.parquet", "policy.parquet", "measures.parquet", "run.trec.gz"):
        assert (tmp_path / "a" / file).read_bytes() == (tmp_path / "b" / file).read_bytes(), file
