"""Files cannot widen what runs: packages, variables and programs are allowed by who types the command."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from rerankers import cli
from rerankers._base.errors import ConfigError
from rerankers._targets import locate, named_by
from rerankers.api import run

FEW = ["collection.documents=200", "collection.topics=4", "samples=3", "measures.resamples=10"]
FEW += ["measures.permutations=5", "measures.fronts=false"]
METHOD = """
from dataclasses import dataclass
from pathlib import Path
from rerankers.methods.plackett_luce import PlackettLuce

@dataclass(frozen=True, slots=True)
class Mine(PlackettLuce):
    def __post_init__(self):
        Path("it_ran").touch()
"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with a package of the user's own, and config files that allow it by themselves."""
    package = tmp_path / "lib" / "mine_of_test"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(METHOD)
    monkeypatch.syspath_prepend(str(tmp_path / "lib"))
    monkeypatch.setenv("FAIR_RERANK_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    for group, option, text in (
        (
            "experiment",
            "odd",
            "# @package _global_\nallow_targets: [mine_of_test]\nmethod:\n  _target_: mine_of_test.Mine\n",
        ),
        ("method", "mine", "_target_: mine_of_test.Mine\n"),
        (
            "hydra/launcher",
            "odd",
            "_target_: hydra._internal.core_plugins.basic_launcher.BasicLauncher\nsetup: [touch it_ran]\n",
        ),
        ("experiment", "variables", "# @package _global_\nhydra:\n  job:\n    env_set: {LD_PRELOAD: x.so}\n"),
        ("experiment", "further", "# @package _global_\nhydra:\n  searchpath: [pkg://mine_of_test]\n"),
        (
            "experiment",
            "callback",
            "# @package _global_\nhydra:\n  callbacks:\n    one: {_target_: mine_of_test.Mine}\n",
        ),
    ):
        (tmp_path / "conf" / group).mkdir(parents=True, exist_ok=True)
        (tmp_path / "conf" / group / f"{option}.yaml").write_text(text)
    return tmp_path


def typed(place: Path, *words: str) -> int:
    return cli.main(["run", f"--config-dir={place / 'conf'}", *words, *FEW, f"output={place / 'out'}"])


@pytest.mark.parametrize(
    "words",
    [
        [],
        pytest.param(["--multirun", "seed=1,2"], marks=pytest.mark.slow),
        pytest.param(["--multirun", "experiment=odd,odd"], marks=pytest.mark.slow),
    ],
)
def test_a_file_cannot_allow_a_package(words: list[str], place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = words if any("experiment" in word for word in words) else [*words, "experiment=odd"]
    assert typed(place, *given) == 2
    said = capsys.readouterr().err
    assert "whose package a config file allows" in said
    assert "allow_targets=[mine_of_test]" in said
    assert not (place / "it_ran").exists()
    with pytest.raises(ConfigError, match="whose package a config file allows"):
        run("experiment=odd", *FEW, config_dir=place / "conf", output=place / "out")
    assert not (place / "it_ran").exists()


@pytest.mark.slow
def test_who_types_the_command_can(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert typed(place, "method=mine", "allow_targets=[mine_of_test]") == 0, capsys.readouterr().err
    assert (place / "it_ran").exists()
    (place / "it_ran").unlink()
    assert typed(place, "experiment=odd", "allow_targets=mine_of_test") == 0
    run("method=mine", "allow_targets=[mine_of_test]", *FEW, config_dir=place / "conf", output=place / "again")


@pytest.mark.slow
def test_results_from_elsewhere_cannot_either(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert typed(place, "method=mine", "allow_targets=[mine_of_test]") == 0
    (place / "it_ran").unlink()
    shutil.copytree(place / "out", place / "theirs")
    capsys.readouterr()
    assert cli.main(["explain", str(place / "theirs"), "query=1"]) == 2
    assert "whose package a config file allows" in capsys.readouterr().err
    assert not (place / "it_ran").exists()
    assert cli.main(["explain", str(place / "theirs"), "query=1", "allow_targets=[mine_of_test]"]) == 0, (
        capsys.readouterr().err
    )
    assert (place / "it_ran").exists()


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["experiment=variables"], "hydra.job.env_set: found"),
        (["experiment=further"], "Overriding hydra.searchpath is only supported from the primary config"),
        (["--multirun", "hydra/launcher=odd", "seed=1,2"], "hydra.launcher.setup: found"),
    ],
)
def test_a_file_cannot_set_variables_or_programs(
    words: list[str], says: str, place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert typed(place, *words) == 2
    assert says in capsys.readouterr().err
    assert not (place / "it_ran").exists()


def test_a_file_cannot_name_a_callback(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert typed(place, "experiment=callback") == 2
    assert "expected a class of the packages rerankers" in capsys.readouterr().err
    assert not (place / "it_ran").exists()


def test_without_a_command_code_says_itself_what_is_allowed(place: Path) -> None:
    assert locate("mine_of_test.Mine", ["mine_of_test"], "method").__name__ == "Mine"
    with named_by(["allow_targets=[other, mine_of_test.sub]"]), pytest.raises(ConfigError, match="you to allow it"):
        locate("mine_of_test.Mine", ["mine_of_test"], "method")
    with named_by(["+allow_targets=[a],[mine_of_test]"]):
        assert locate("mine_of_test.Mine", ["mine_of_test"], "method").__name__ == "Mine"
    assert locate("mine_of_test.Mine", ["mine_of_test"], "method").__name__ == "Mine"
