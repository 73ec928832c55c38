"""What a table of timings must say of where it was taken. Read before the first timing."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

LOADED = 1.0  # load average from which on timings are not to be quoted


def facts() -> dict[str, str]:
    """Return name and value of what the timings depend on."""
    load = os.getloadavg()[0]
    busy = " (not idle: read the times as upper bounds)" if load >= LOADED else ""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return {
        "processor": f"{_processor()}, {cores} cores, one thread used",
        "load average at the start": f"{load:.2f}{busy}",
        "system": f"{platform.system()} {platform.machine()}",
        "Python": platform.python_version(),
        **{name: version(name) for name in ("numpy", "scipy", "numba", "pyarrow", "fair-rerankers")},
    }


def _processor() -> str:
    """Return the model, and the family where the model's name does not tell machines apart."""
    found = dict(_cpu_lines())
    name = found.get("model name") or platform.processor() or platform.machine()
    if "cpu family" in found:
        name += f" (family {found['cpu family']}, model {found.get('model', '?')})"
    return name


def _cpu_lines() -> Iterator[tuple[str, str]]:
    """Yield names and values of the last processor that Linux lists, if this is Linux."""
    path = Path("/proc/cpuinfo")
    if path.is_file():
        for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
            name, colon, value = line.partition(":")
            if colon:
                yield name.strip(), value.strip()
