"""``fair-rerank new``: a small package of the user's own to begin with, which runs as it is."""

from __future__ import annotations

import argparse
import importlib.util
import keyword
import os
import shlex
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from string import Template

from rerankers._base.errors import ConfigError
from rerankers._base.files import unwritable
from rerankers._conf import conf_folder

TEMPLATES = Path(__file__).resolve().parent.parent / "templates"
GROUPS = {"method": "method", "collection": "collection", "measure": "measures"}
"""What can be begun -> the config group that it is an option of."""

_RUN = {
    "method": "method={name}",
    "collection": "collection={name} collection.path={folder}/data",
    "measure": "measures={name}",
}
_SWEEP = {
    "method": "method.sharpness=0.5,1,2,4",
    "collection": "method.temperature=0.5,1,2",
    "measure": "measures.cutoff=10,null",
}


def new_command(words: Sequence[str]) -> int:
    """Write what was asked for and print what to type next; 2 for a wrong command line."""
    parser = argparse.ArgumentParser(
        "fair-rerank new",
        description="Write a small package of your own to begin with: a module, its config, a test and a README.",
        epilog="Example: fair-rerank new method sharp",
    )
    parser.add_argument("kind", choices=sorted(GROUPS), metavar="method|collection|measure", help="what it is")
    parser.add_argument("name", metavar="NAME", help="of the module and of the option: small letters, digits and _")
    parser.add_argument("folder", metavar="DIR", nargs="?", help="where to, a new folder; NAME unless given")
    try:
        asked = parser.parse_args(list(words))
    except SystemExit as stop:
        return int(stop.code or 0)
    folder = Path(asked.folder or asked.name)
    written = new(asked.kind, asked.name, folder)
    print(f"{folder}: {', '.join(written)}")
    print("\n".join(["Test it, run it, try several values:", *commands(asked.kind, asked.name, folder)]))
    return 0


def new(kind: str, name: str, folder: Path) -> list[str]:
    """Write a package and return the paths of its files, below ``folder``.

    Parameters
    ----------
    kind
        one of `GROUPS`.
    name
        of the module and of the option.
    folder
        which is not there yet; it appears when all of it is written.

    Raises
    ------
    ConfigError
        for a name that is no name of a module, or that something else has, and a folder that is there or cannot be
        written.
    """
    check_name(kind, name)
    if folder.exists() or folder.is_symlink():
        raise ConfigError(
            f"{folder}: it is there already; expected a new folder. Type: fair-rerank new {kind} {name} DIR"
        )
    place = folder.absolute()
    _, run, sweep = commands(kind, name, folder)
    words = {"name": name, "Name": class_name(name), "folder": shlex.quote(str(folder)), "run": run, "sweep": sweep}
    source = TEMPLATES / kind
    written = []
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        draft = Path(tempfile.mkdtemp(prefix=f".{place.name}-", dir=place.parent))
        try:
            for path in sorted(source.rglob("*.txt")):
                part = path.relative_to(source).as_posix().replace("NAME", name).removesuffix(".txt")
                (draft / part).parent.mkdir(parents=True, exist_ok=True)
                text = Template(path.read_text(encoding="utf-8")).substitute(words)
                (draft / part).write_text(text, encoding="utf-8")
                written.append(part)
            draft.chmod(0o777 & ~_umask())
            draft.rename(place)
        finally:
            shutil.rmtree(draft, ignore_errors=True)
    except OSError as error:
        raise unwritable(place, error) from error
    return written


def commands(kind: str, name: str, folder: Path) -> list[str]:
    """Return what to type: the test, a run, a sweep. A relative folder is from where the user is."""
    place = shlex.quote(str(folder))
    chosen = _RUN[kind].format(name=name, folder=place)
    of_run = f"--config-dir {place}/conf {chosen} allow_targets=[{name}]"
    return [
        f"python -m pytest {place}",
        f"PYTHONPATH={place} fair-rerank run {of_run} output=outputs/{name}",
        f"PYTHONPATH={place} fair-rerank run --multirun {of_run} {_SWEEP[kind]} output=outputs/{name}_sweep",
    ]


def class_name(name: str) -> str:
    """Return the name of the class: ``two_words`` is ``TwoWords``."""
    return "".join(part.capitalize() for part in name.split("_"))


def check_name(kind: str, name: str) -> None:
    """Raise `ConfigError` unless a package may be called so."""
    if not (name.isascii() and name.isidentifier() and name == name.lower() and name.strip("_") == name):
        raise ConfigError(f"name: found {name!r}; expected small letters, digits and _, a letter first")
    if keyword.iskeyword(name) or name in sys.stdlib_module_names:
        raise ConfigError(f"name: found {name!r}, a word of Python itself; expected another name")
    group = GROUPS[kind]
    if (conf_folder() / group / f"{name}.yaml").is_file():
        raise ConfigError(f"name: found {name!r}, which is an option of {group}; expected another name")
    if kind == "measure":
        from rerankers.measures.names import PARTS, TAKEN
        from rerankers.measures.own_names import check_name as check_measure_name

        check_measure_name(name, TAKEN, PARTS)
    # A folder of that name in the working directory is no module; what is installed would hide the new one.
    spec = importlib.util.find_spec(name)
    if spec is not None and spec.origin is not None:
        raise ConfigError(
            f"name: found {name!r}, a module that is there already ({spec.origin}); expected another name"
        )


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
