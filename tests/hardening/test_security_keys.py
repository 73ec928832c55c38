"""Keys of the environment never become options, which are all written down."""

from __future__ import annotations

from pathlib import Path

import pytest

from rerankers._base.errors import ConfigError
from rerankers.api import run
from rerankers.cli import main

KEY = "sk-very-secret-1234567890"


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("FAIR_RERANK_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("PLACE_OF_DATA", str(tmp_path / "none"))
    monkeypatch.chdir(tmp_path)


def nowhere(folder: Path) -> bool:
    return not any(KEY.encode() in path.read_bytes() for path in folder.rglob("*") if path.is_file())


@pytest.mark.parametrize(
    "value", ["${oc.env:OPENAI_API_KEY}", "x/${oc.env:OPENAI_API_KEY,none}", "${oc.env:${universe}}"]
)
@pytest.mark.parametrize("words", [[], ["--multirun", "seed=1,2"]])
def test_words_with_keys_are_refused(
    value: str, words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", *words, f"predicted='{value}'", f"output={tmp_path / 'out'}"]) == 2
    said = capsys.readouterr()
    assert "predicted: found a value taken from the environment variable" in said.err
    assert KEY not in said.out + said.err
    assert nowhere(tmp_path)


def test_files_with_keys_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "mine" / "experiment").mkdir(parents=True)
    (tmp_path / "mine" / "experiment" / "odd.yaml").write_text(
        "# @package _global_\nretriever:\n  note: [1, '${oc.env:OPENAI_API_KEY}']\n"
    )
    words = ["run", f"--config-dir={tmp_path / 'mine'}", "experiment=odd", f"output={tmp_path / 'out'}"]
    assert main(words) == 2
    assert "environment variable OPENAI_API_KEY" in capsys.readouterr().err
    assert nowhere(tmp_path / "out")


def test_python_refuses_them_too(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="environment variable OPENAI_API_KEY"):
        run("predicted='${oc.env:OPENAI_API_KEY}'", output=tmp_path / "out")


def test_other_variables_may_be_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["run", "retriever=run_file", "retriever.run='${oc.env:PLACE_OF_DATA}'", f"output={tmp_path / 'out'}"]
    assert main(words) == 3  # no such file
    assert str(tmp_path / "none") in capsys.readouterr().err


@pytest.mark.parametrize(
    "name", ["DB_PASS", "MY_PASSPHRASE", "PG_PWD", "AUTH", "AUTHORIZATION", "HF_TOKEN", "my_secret"]
)
def test_words_for_keys_are_known(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, KEY)
    for key in ("predicted", "hydra.job.name"):
        assert main(["run", f"{key}='${{oc.env:{name}}}'", f"output={tmp_path / 'out'}"]) == 2
        assert f"{key}: found a value taken from the environment variable {name}" in capsys.readouterr().err
    assert nowhere(tmp_path)


@pytest.mark.parametrize("name", ["AUTHORS_FILE", "PWD"])
def test_other_words_are_no_keys(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, str(tmp_path / "none"))
    words = ["run", "retriever=run_file", f"retriever.run='${{oc.env:{name}}}'", f"output={tmp_path / 'out'}"]
    assert main(words) in (1, 3)  # no such file, or no file
    assert "environment variable" not in capsys.readouterr().err
