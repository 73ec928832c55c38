"""Refuse to run beside another distribution that installs the import name ``rerankers``."""

from __future__ import annotations

import os
import re
import sys

_METADATA = re.compile(r"rerankers-([^-]+)(?:-.*)?\.(?:dist|egg)-info")


def refuse_name_clash() -> None:
    """Raise ImportError when a distribution called ``rerankers`` is installed in this environment.

    Both distributions would own the same folder: whichever was installed last overwrites the other's files
    without a warning. Called from the package and, since its ``__init__`` may be the one overwritten, from
    the command as well.

    Raises
    ------
    ImportError
        naming the version found and what to type.
    """
    found = clashing_version()
    if found is None:
        return
    raise ImportError(
        f"the distribution 'rerankers' {found} is installed beside 'fair-rerankers'; both own the import name "
        "'rerankers'. Use one environment for each, or type: "
        "pip uninstall -y rerankers fair-rerankers && pip install --force-reinstall --no-deps fair-rerankers"
    )


def clashing_version() -> str | None:
    """Return the version of an installed distribution called ``rerankers``, or None.

    Its metadata folder is looked for by name: asking `importlib.metadata` would double the time to start.
    """
    for place in sys.path:
        try:
            names = os.listdir(place or ".")
        except OSError:  # not every entry of the path is a folder that exists
            continue
        for name in names:
            if name.startswith("rerankers-") and (match := _METADATA.fullmatch(name)):
                return match[1]
    return None
