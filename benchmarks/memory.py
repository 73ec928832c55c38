"""Peak memory of estimating exposure from drawn rankings, chunk by chunk: it does not grow with their number."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from _settings import Settings
from _timing import Growth, NotRun, exponent

from rerankers._base.streams import query_streams
from rerankers.exposure import GERR
from rerankers.exposure.rankings import exposure_of
from rerankers.policies import PlackettLuce
from rerankers.values import Ragged

N, CHUNK = 1000, 1000
DRAWS = (1000, 10_000, 100_000)
STATUS = Path("/proc/self/status")


def results(settings: Settings) -> Iterator[Growth | NotRun]:
    """Measure each number of draws in a process of its own."""
    if not STATUS.is_file():
        yield NotRun("peak memory", f"there is no {STATUS}")
        return
    peaks = [_peak_of_process(draws) for draws in DRAWS]
    yield Growth(
        f"mean GERR exposure over draws of {N} documents, {CHUNK:,} together",
        "draws",
        DRAWS,
        tuple(peaks),
        exponent(DRAWS, peaks),
        "MB",
        "peak resident memory of the process, interpreter and libraries included; the draws of the last line whole "
        f"would be {DRAWS[-1] * N * 4 / 1e6:,.0f} MB",
    )


def estimate(draws: int) -> np.ndarray:
    """Return the mean exposure over so many draws, made and forgotten chunk by chunk."""
    rng = np.random.default_rng(0)
    over = Ragged(np.zeros(1, np.int32), np.array([0, N]), np.arange(N, dtype=np.int32))
    policy = PlackettLuce(over, rng.normal(size=N), query_streams(["q"]))
    browsing = GERR().bind(rng.random(N) < 0.05, over.indptr)
    total = np.zeros(N)
    for first in range(0, draws, CHUNK):
        count = min(CHUNK, draws - first)
        total += count * exposure_of(policy.sample(count, seed=0, first=first), browsing).value
    return total / draws


def _peak_of_process(draws: int) -> float:
    """Run this file for so many draws and return its peak in MB."""
    done = subprocess.run(
        [sys.executable, str(Path(__file__).resolve()), str(draws)], capture_output=True, text=True, check=True
    )
    return float(done.stdout)


def own_peak() -> float:
    """Return the peak of this process in MB: not that of ``getrusage``, which begins with the parent's."""
    status = dict(line.split(":", 1) for line in STATUS.read_text(encoding="utf-8").splitlines())
    return float(status["VmHWM"].removesuffix("kB")) / 1000


if __name__ == "__main__":
    estimate(int(sys.argv[1]))
    print(own_peak())
