"""A whole command of ours: seconds, processor time, and the memory that its processes own together (Linux)."""

from __future__ import annotations

import resource
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import yaml


@dataclass(frozen=True)
class Took:
    """What a command took.

    Attributes
    ----------
    code
        its exit code.
    seconds, processor
        of the clock, and of all processors.
    peak
        gigabytes of all its processes together, without files that they map.
    stages
        name -> seconds, as the job itself reports them.
    """

    code: int
    seconds: float
    processor: float
    peak: float
    stages: dict[str, float]

    def __str__(self) -> str:
        state = "done" if self.code == 0 else f"failed ({self.code})"
        stages = "".join(f"; {name} {seconds:,.1f} s" for name, seconds in self.stages.items())
        return f"{state}, {self.seconds:,.0f} s, processors {self.processor:,.0f} s, peak {self.peak:.2f} GB{stages}"


def run(words: list[str], output: Path, said: Path) -> Took:
    """Run ``fair-rerank`` with ``words`` and ``output=``; what it says goes to the file ``said``."""
    start, peak, before = time.perf_counter(), 0.0, _processor()
    with said.open("wb") as log:
        command = [sys.executable, "-m", "rerankers", *words, f"output={output}"]
        job = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT)
        while job.poll() is None:
            peak = max(peak, sum(map(_own, _tree(job.pid))))
            time.sleep(1.0)
    return Took(job.returncode, time.perf_counter() - start, _processor() - before, peak / 1000, _stages(output))


def _stages(output: Path) -> dict[str, float]:
    path = output / "metadata.yaml"
    return dict(yaml.safe_load(path.read_text(encoding="utf-8"))["resources"]["wall seconds"]) if path.is_file() else {}


def _processor() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _tree(pid: int) -> list[int]:
    """Return a process and all below it."""
    below: dict[int, list[int]] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = int(path.read_text().rpartition(")")[2].split()[1])
        except OSError:  # it has ended
            continue
        below.setdefault(parent, []).append(int(path.parent.name))
    found = [pid]
    for one in found:
        found += below.get(one, [])
    return found


def _own(pid: int) -> float:
    """Return the megabytes that a process has for itself: mapped files can be dropped, and are not counted."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0.0
    return sum(int(line.split()[1]) / 1000 for line in lines if line.startswith(("Anonymous:", "SwapPss:")))
