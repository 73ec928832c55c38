"""What a class of the user's own did wrong while a job ran, in one line: where in their file, and what Python says."""

from __future__ import annotations

import os
import re
import sys
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rerankers._base.errors import ConfigError, FairRerankersError

SHOW = "FAIR_RERANK_TRACEBACK"
"""Environment variable: where it is set, the whole traceback is printed before the line."""

_REMOTE = re.compile(r'File "(?P<file>[^"]+)", line (?P<line>\d+), in (?P<name>\S+)')


@contextmanager
def own_faults(config: Mapping[str, Any]) -> Iterator[None]:
    """Raise what `own_fault` says in place of an error that a class of the user's own has caused."""
    try:
        yield
    except (FairRerankersError, OSError):
        raise
    except Exception as error:
        said = own_fault(error, config)
        if said is None:
            raise
        raise said from error


def own_fault(error: Exception, config: Mapping[str, Any]) -> ConfigError | None:
    """Return an error in words, None where no class of the user's own is in use, so that the fault is ours.

    Parameters
    ----------
    error
        that nobody raised on purpose; of a worker process too.
    config
        of the job, whose ``allow_targets`` says which packages are the user's.
    """
    allowed = config.get("allow_targets")
    packages = [str(one) for one in allowed] if isinstance(allowed, list) else [] if allowed is None else [str(allowed)]
    if not packages:
        return None
    if os.environ.get(SHOW):
        traceback.print_exception(error)
    said = " ".join(f"{type(error).__name__}: {error}".split())
    said = ", ".join([said, *getattr(error, "__notes__", ())])  # which block of queries it was
    place = _place(error, packages)
    if place is None:
        return ConfigError(
            f"{said} (while classes of {', '.join(packages)} were in use, in none of their lines). "
            f"What rerankers.testing checks may tell; the whole traceback: {SHOW}=1"
        )
    return ConfigError(f"{place}: {said} (the whole traceback: {SHOW}=1)")


def _place(error: BaseException, packages: list[str]) -> str | None:
    """Return the innermost line of the user's own packages that an error went through."""
    found = None
    for frame, line in traceback.walk_tb(error.__traceback__):
        module = str(frame.f_globals.get("__name__", ""))
        if _of(module, packages):
            found = f"{Path(frame.f_code.co_filename).name}, line {line}, in {frame.f_code.co_name}"
    if found is not None or error.__cause__ is None:
        return found
    return _remote(str(error.__cause__), packages) or _place(error.__cause__, packages)


def _remote(text: str, packages: list[str]) -> str | None:
    """Return the same from the text in which a worker process tells its traceback."""
    files = {getattr(module, "__file__", None) for name, module in list(sys.modules.items()) if _of(name, packages)}
    lines = [match for match in _REMOTE.finditer(text) if match["file"] in files]
    return f"{Path(lines[-1]['file']).name}, line {lines[-1]['line']}, in {lines[-1]['name']}" if lines else None


def _of(module: str, packages: list[str]) -> bool:
    return any(module == package or module.startswith(f"{package}.") for package in packages)
