"""Which class a config may name: those of this package, and of packages that the user allows."""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any
from unicodedata import normalize

from rerankers._base.errors import ConfigError

OURS = "rerankers"

NAMED: ContextVar[frozenset[str] | None] = ContextVar("NAMED", default=None)
"""The packages that the person who started the command named with ``allow_targets``; None where no command runs, and
code of the person's own says what is allowed."""
_NAMES = re.compile(r"[\w.]+")


@contextmanager
def named_by(words: Iterable[str]) -> Iterator[None]:
    """Let the words of a command line decide which packages may be allowed while it runs.

    A config file, or the config of a folder of results, may come from anywhere: what it says of ``allow_targets``
    holds for packages that are named in these words too, and for no others.
    """
    pairs = (word.lstrip("+").partition("=") for word in words)
    held = NAMED.set(
        frozenset(name for key, _, value in pairs if key == "allow_targets" for name in _NAMES.findall(value))
    )
    try:
        yield
    finally:
        NAMED.reset(held)


def unnamed(names: Sequence[str]) -> list[str]:
    """Return the packages of an ``allow_targets`` that nobody has named."""
    known = NAMED.get()
    return [] if known is None else [name for name in names if not _within(name, tuple(known))]


def allowed_packages(names: Sequence[str]) -> tuple[str, ...]:
    """Return the packages that classes may come from, ours first; those that nobody has named are left out.

    Raises
    ------
    ConfigError
        for what is no name of a package, and for modules of Python itself: they start programs and delete files.
    """
    for name in names:
        if not _is_path(name):
            raise ConfigError(f"allow_targets: found {name!r}; expected names of packages, such as mypackage")
        if name.partition(".")[0] in sys.stdlib_module_names:
            raise ConfigError(
                f"allow_targets: found {name!r}, which comes with Python; expected a package of yours, of another name"
            )
    beyond = unnamed(names)
    return (OURS, *(name for name in names if name not in beyond))


def locate(target: str, allowed: Sequence[str], where: str) -> type[Any]:
    """Return the class of a ``_target_``.

    Parameters
    ----------
    target
        ``package.module.Class``.
    allowed
        packages besides ours, ``mine`` stands for ``mine.anything`` as well.
    where
        the config key, for messages.

    Raises
    ------
    ConfigError
        for a target outside the allowed packages, a module that cannot be imported, and what is no class that such
        a package defines. Nothing else is imported, and nothing is called.
    """
    packages = allowed_packages(allowed)
    key = f"{where}._target_"
    module_name, _, class_name = target.rpartition(".")
    if not _is_path(target) or not _within(module_name, packages):
        raise ConfigError(_outside(key, target, packages, unnamed(allowed)))
    try:
        kind = getattr(importlib.import_module(module_name), class_name)
    except (Exception, SystemExit) as error:  # a package of the user's own may fail in any way while it is imported
        raise ConfigError(_not_imported(key, target, error)) from error
    # A module of an allowed package may import anything; only what an allowed package defines may be called.
    if not issubclass(type(kind), type) or not _defined(kind, packages):
        raise ConfigError(f"{key}: {target!r} is not a class of {', '.join(packages)}")
    found: type[Any] = kind
    return found


def _is_path(name: str) -> bool:
    """Whether a text is names with dots between them, none of them one of Python's own such as ``__main__``.

    Letters that only look like others (full-width ones) are not what they look like: Python reads them as the others.
    """
    parts = name.split(".")
    usual = normalize("NFKC", name) == name
    return usual and all(part.isidentifier() and not part.startswith("__") for part in parts)


def _within(module: str, packages: Sequence[str]) -> bool:
    return any(module == package or module.startswith(f"{package}.") for package in packages)


def _defined(kind: type[Any], packages: Sequence[str]) -> bool:
    """Whether a class is what stands under its own name in a module of an allowed package."""
    home = type.__getattribute__(kind, "__module__")
    if not isinstance(home, str) or not _within(home, packages):
        return False
    found: Any = sys.modules.get(home)
    for part in type.__getattribute__(kind, "__qualname__").split("."):
        found = getattr(found, part, None)
    return found is kind


def _outside(key: str, target: str, packages: Sequence[str], beyond: Sequence[str] = ()) -> str:
    if _is_path(target) and _within(target, beyond):
        return (
            f"{key}: found {target!r}, whose package a config file allows; expected you to allow it, since a class may "
            f"do anything. Type: allow_targets=[{target.partition('.')[0]}]"
        )
    text = f"{key}: found {target!r}; expected a class of the packages {', '.join(packages)}, as package.module.Class"
    root = target.partition(".")[0]
    if not _is_path(target) or "." not in target or root in sys.stdlib_module_names or _within(target, packages):
        return f"{text}. A class of your own needs the name of its package: allow_targets=[mypackage]"
    return f"{text}. To use a class of your own, allow its package (not the class): allow_targets=[{root}]"


def _not_imported(key: str, target: str, error: BaseException) -> str:
    root = target.partition(".")[0]
    text = f"{key}: {target!r} cannot be imported ({type(error).__name__}: {error})."
    found = sys.modules.get(root)
    bare_folder = found is not None and getattr(found, "__file__", None) is None  # a folder without __init__.py
    if not (bare_folder or (isinstance(error, ModuleNotFoundError) and error.name == root)):
        return text
    if Path(root, f"{root}.py").is_file() and not Path(root, "__init__.py").is_file():
        return f"{text} {root}.py is in the folder {root}. Type: export PYTHONPATH=$PWD/{root}"
    if bare_folder:
        return text
    if Path(f"{root}.py").is_file() or Path(root).is_dir():
        return f"{text} It is in this folder. Type: export PYTHONPATH=$PWD"
    return f"{text} Is the package installed, or its folder on PYTHONPATH? Type: export PYTHONPATH=FOLDER"
