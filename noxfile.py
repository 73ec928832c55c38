"""Checks in environments of their own: ``nox`` runs the quick ones, ``nox --list`` names all of them.

nox is no dependency of the package: ``pip install nox``. What lands is decided by ``.ci/run``, which needs none.
"""

from __future__ import annotations

from pathlib import Path

import nox

PYTHONS = ("3.11", "3.12", "3.13")
NUMPYS = ("2.0.*", "2.*")  # the lowest that is allowed, and the newest
OURS = ("tests/exposure", "tests/policies", "tests/measures", "tests/stats", "tests/values")
"""Where numbers are made: what is run under other versions."""

nox.options.sessions = ["lint", "types", "layers"]
nox.options.reuse_existing_virtualenvs = True


@nox.session(python=PYTHONS)
def tests(session: nox.Session) -> None:
    """Run the default tests; words behind ``--`` go to pytest (``nox -s tests-3.12 -- -m slow``)."""
    session.install("-e", ".[dev]")
    session.run("pytest", "-n", "2", *session.posargs)


@nox.session(python=PYTHONS[0])
@nox.parametrize("numpy", NUMPYS)
def numpy(session: nox.Session, numpy: str) -> None:
    """Run the tests of numbers under the lowest and the newest numpy."""
    session.install("-e", ".[dev]", f"numpy=={numpy}")
    session.run("pytest", "-n", "2", *(session.posargs or OURS))


@nox.session(python=PYTHONS[0])
def lowest(session: nox.Session) -> None:
    """Run the tests with every dependency at the lower bound that ``pyproject.toml`` states."""
    session.install("uv")
    session.run("uv", "pip", "install", "--resolution", "lowest-direct", "-e", ".[dev]")
    session.run("pytest", "-n", "2", *(session.posargs or OURS))


@nox.session(python=PYTHONS)
@nox.parametrize("numpy", NUMPYS)
def bits(session: nox.Session, numpy: str) -> None:
    """Run the same job twice for equal bits, and against the first version that ran, to 1e-12."""
    session.install("-e", ".", f"numpy=={numpy}")
    place = Path(session.cache_dir) / "bits"
    first = place / "first"
    folder = place / f"{session.python}-{numpy.rstrip('.*')}" if first.exists() else first
    against = ["--against", str(first)] if folder != first else []
    session.run("python", "scripts/same_bits.py", str(folder), *against)


@nox.session(python=PYTHONS[0])
def lint(session: nox.Session) -> None:
    """Check style and format."""
    session.install("ruff>=0.9,<1")
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")


@nox.session(python=PYTHONS[0])
def types(session: nox.Session) -> None:
    """Check types, strictly."""
    session.install("-e", ".[dev]")
    session.run("mypy")


@nox.session(python=PYTHONS[0])
def layers(session: nox.Session) -> None:
    """Check which part imports which."""
    session.install("-e", ".[dev]")
    session.run("lint-imports")


@nox.session(python=PYTHONS[0])
def coverage(session: nox.Session) -> None:
    """Tell the line coverage of exposure, policies and measures; compiled loops run as Python there, slowly."""
    session.install("-e", ".[dev]", "pytest-cov")
    parts = [f"--cov=rerankers.{part}" for part in ("exposure", "policies", "measures")]
    session.run(
        "pytest", "-n", "2", *parts, "--cov-report=term", *(session.posargs or OURS), env={"NUMBA_DISABLE_JIT": "1"}
    )


@nox.session(python=PYTHONS[0])
def docs(session: nox.Session) -> None:
    """Build the site; broken links are errors."""
    session.run("bash", "scripts/docs.sh", *session.posargs, external=True)
