"""Refuse to run beside another distribution that installs the import name ``rerankers``."""

from __future__ import annotations


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
    from importlib.metadata import PackageNotFoundError, version

    try:
        other = version("rerankers")
    except PackageNotFoundError:
        return
    raise ImportError(
        f"the distribution 'rerankers' {other} is installed beside 'fair-rerankers'; both own the import name "
        "'rerankers'. Use one environment for each, or type: "
        "pip uninstall -y rerankers fair-rerankers && pip install --force-reinstall --no-deps fair-rerankers"
    )
