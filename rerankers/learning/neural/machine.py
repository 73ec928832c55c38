"""Where torch computes: a device, and a number of threads that is put back afterwards."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import torch

from rerankers._base.errors import ConfigError


def device(name: str) -> torch.device:
    """Return the device of an option ``auto``, ``cpu`` or ``cuda``: ``auto`` takes a GPU where there is one.

    Raises
    ------
    ConfigError
        for ``cuda`` where torch finds no GPU.
    """
    there = torch.cuda.is_available()
    if name == "cuda" and not there:
        raise ConfigError("model.device: found cuda, but torch finds no GPU; expected auto or cpu here")
    return torch.device("cuda" if there and name != "cpu" else "cpu")


class _Process:
    """What torch keeps for the whole process: how many are inside `steady`, and what the first of them found."""

    lock = threading.Lock()
    inside = 0
    found = (1, False, False)


@contextmanager
def steady(threads: int) -> Iterator[None]:
    """Compute with so many threads and by deterministic algorithms only; what was set before is put back.

    torch keeps both for the whole process. Where several Python threads are inside at once, the last to leave puts
    back what the first one found, so that nobody's settings change under way.
    """
    if torch.cuda.is_available():
        # cuBLAS sums in a fixed order only with workspaces of a fixed size, which it reads from here.
        os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    with _Process.lock:
        if _Process.inside == 0:
            strict, lenient = (
                torch.are_deterministic_algorithms_enabled(),
                torch.is_deterministic_algorithms_warn_only_enabled(),
            )
            _Process.found = torch.get_num_threads(), strict, lenient
        _Process.inside += 1
        torch.set_num_threads(threads)
        torch.use_deterministic_algorithms(True)
    try:
        yield
    finally:
        with _Process.lock:
            _Process.inside -= 1
            if _Process.inside == 0:
                before, strict, lenient = _Process.found
                torch.set_num_threads(before)
                torch.use_deterministic_algorithms(strict, warn_only=lenient)
