"""Callbacks, handlers of logs and plugins that a config names are under the allow-list, before Hydra makes any."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from rerankers._base.errors import ConfigError
from rerankers._hydra_parts import check_started
from rerankers.cli import main

PACKAGE = "made_by_a_config"
SETTINGS = {
    "callback": f"callbacks: {{one: {{_target_: {PACKAGE}.Made}}}}",
    "nested": f"callbacks: {{one: {{_target_: rerankers.runs.Run, name: {{_target_: {PACKAGE}.Made}}}}}}",
    "handler": f"job_logging: {{version: 1, handlers: {{one: {{class: {PACKAGE}.Made}}}}, root: {{handlers: [one]}}}}",
    "factory": f"hydra_logging: {{version: 1, handlers: {{one: {{(): {PACKAGE}.Made}}}}, root: {{handlers: [one]}}}}",
    "stream": "job_logging: {version: 1, handlers: {one: {class: logging.StreamHandler, stream: 'ext://os.system'}}}",
    "function": "job_logging: {version: 1, handlers: {one: {class: logging.os.system, command: 'true'}}}",
    "resolved": "job_logging: {version: 1, handlers: {one: {class: logging.StreamHandler, stream: '${oc.env:HOME}'}}}",
    "launcher": f"launcher: {{_target_: {PACKAGE}.Made}}",
    "sweeper": f"sweeper: {{_target_: {PACKAGE}.Made}}",
    "several": "{mode: MULTIRUN, sweeper: {params: {seed: '1,2'}}}",
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder of experiments; importing the package that they name leaves a file."""
    (tmp_path / "experiment").mkdir()
    for name, settings in SETTINGS.items():
        text = f"hydra:\n  {settings}\n" if not settings.startswith("{") else f"hydra: {settings}\n"
        (tmp_path / "experiment" / f"{name}.yaml").write_text(f"# @package _global_\n{text}")
    (tmp_path / "experiment" / "harmless.yaml").write_text("# @package _global_\nsamples: 3\n")
    (tmp_path / f"{PACKAGE}.py").write_text(
        f"open({str(tmp_path / 'imported')!r}, 'w').close()\n\n\nclass Made:\n    pass\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, PACKAGE, raising=False)
    return tmp_path


@pytest.mark.parametrize("name", SETTINGS)
@pytest.mark.parametrize("multirun", [False, True])
def test_what_hydra_would_make_is_under_the_allow_list(
    name: str, multirun: bool, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if name == "several" and multirun:
        return
    points = ["--multirun", f"experiment=harmless,{name}"] if multirun else [f"experiment={name}"]
    assert main(["run", f"--config-dir={folder}", *points, f"output={folder / 'out'}"]) == 2
    said = capsys.readouterr().err
    assert "hydra." in said
    assert "expected" in said
    assert "Traceback" not in said
    assert not (folder / "imported").exists()
    assert not (folder / "out").exists()


def test_classes_of_allowed_packages_and_hydras_own_are_made(folder: Path) -> None:
    flags = [f"--config-dir={folder}"]
    check_started("run", [*flags, "experiment=callback", f"allow_targets=[{PACKAGE}]"])
    assert (folder / "imported").exists()
    for word in ("hydra/job_logging=default", "hydra/job_logging=stdout", "hydra/hydra_logging=default"):
        check_started("run", [word])


def test_a_word_of_the_command_line_is_looked_at_too(folder: Path) -> None:
    with pytest.raises(ConfigError, match=r"hydra\.callbacks\.one\._target_: found 'made_by_a_config\.Made'"):
        check_started("run", [f"+hydra.callbacks.one._target_={PACKAGE}.Made"])
    assert not (folder / "imported").exists()


def test_a_root_config_of_somebody_else_is_refused(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", f"--config-path={folder}"]) == 2
    assert "expected --config-dir=FOLDER" in capsys.readouterr().err
