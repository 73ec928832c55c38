"""Compiled loops: what is kept on disk saves time and never costs a result."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from rerankers._base import compiled
from rerankers.policies import _search_loops

CODE = """
import numpy, resource, signal
if {limit}:
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, ({limit}, {limit}))
from rerankers.policies._search_loops import _in_units
print(_in_units(2.0, 1, 1))
"""


def process(folder: Path | str, limit: int = 0) -> str:
    code = CODE.replace("{limit}", str(limit))
    environment = os.environ | {"NUMBA_CACHE_DIR": str(folder), "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
def test_machine_code_is_kept_and_a_damaged_copy_is_made_anew(tmp_path: Path) -> None:
    right = process(tmp_path)
    kept = [*tmp_path.rglob("*.nbc"), *tmp_path.rglob("*.nbi")]
    assert len(kept) >= 2
    whole = {path: path.stat().st_size for path in kept}
    for path in kept:
        path.write_bytes(path.read_bytes()[:50] if path.suffix == ".nbc" else b"")
    assert process(tmp_path) == right
    assert {path: path.stat().st_size for path in kept} == whole
    assert process(tmp_path) == right


@pytest.mark.parametrize("limit", [1, 2000])
def test_a_full_disk_costs_time_only(tmp_path: Path, limit: int) -> None:
    assert process(tmp_path, limit) == process("/dev/full/none")
    assert not list(tmp_path.rglob("*.nbc"))


def test_the_stamp_changes_with_all_that_a_loop_is_made_of() -> None:
    names = dict(vars(_search_loops))
    stamp = compiled._digest(names)
    assert compiled._digest(dict(names)) == stamp
    assert compiled._digest(names | {"PATIENCE": names["PATIENCE"] + 1}) != stamp
    from rerankers.exposure.closed_form import chain_loops, lanes_loops

    files = set(compiled._files(vars(chain_loops), set()))
    assert {chain_loops.__file__, lanes_loops.__file__, compiled.__file__} <= files


def test_a_loop_divides_as_numpy_does() -> None:
    @compiled.compiled
    def ratio(a: float, b: float) -> float:
        return a / b

    assert ratio(1.0, 0.0) == np.inf
    assert np.isnan(ratio(0.0, 0.0))


def test_loops_run_without_numba_where_it_is_switched_off() -> None:
    """NUMBA_DISABLE_JIT leaves the functions as they are: for debuggers, and so that coverage sees the loops."""
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1", "PYTHONPATH": os.pathsep.join(sys.path)}
    code = "from rerankers.policies._search_loops import _in_units; print(_in_units(2.0, 1, 1))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=False)
    assert (done.returncode, done.stdout) == (0, "2.0\n"), done.stderr
