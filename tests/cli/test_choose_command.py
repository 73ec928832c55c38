"""``fair-rerank choose``: questions, refusals that say what is possible, and experiments that run."""

from __future__ import annotations

import contextlib
import itertools
import json
import shlex
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from hydra import compose, initialize_config_dir
from omegaconf import OmegaConf

from rerankers import cli
from rerankers._base.errors import ConfigError
from rerankers._conf import conf_folder
from rerankers.stages import from_config
from rerankers.stages.choice_answers import QUESTIONS, Answers
from rerankers.stages.choice_recipes import RECIPES, recipe_of
from rerankers.stages.choose import command as command_line
from rerankers.stages.choose import write
from rerankers.stages.definitions import definition_of, name_of_method
from rerankers.stages.fit_spec import NoFit
from rerankers.stages.run import RunJob
from tests.cli.conftest import Run
from tests.cli.test_train_command import write_world

EXAMPLE_SHARES = {"a": 0.6, "b": 0.4}


def combinations() -> list[dict[str, Any]]:
    """Return every combination of answers, in the words of the command."""
    axes: dict[str, list[Any]] = {
        "definition": list(QUESTIONS["definition"][1]),
        "unit": [None, *QUESTIONS["unit"][1]],
        "labels": [None, *QUESTIONS["labels"][1]],
        "judgments": list(QUESTIONS["judgments"][1]),
        "sequence": [False, True],
        "utility_floor": [None, 0.5],
        "proportional_to": list(QUESTIONS["proportional_to"][1]),
    }
    return [dict(zip(axes, values, strict=True)) for values in itertools.product(*axes.values())]


def fitting(folder: Path) -> list[Answers]:
    """Return the combinations that are accepted, completed; most files of labels are left out."""
    labels = folder / "labels.csv"
    labels.write_text("docno,group\nx,a\n")
    found: dict[str, Answers] = {}
    for one in combinations():
        if one["labels"] == "predicted":
            one["groups"] = str(labels)
        if one["proportional_to"] == "population":
            one["shares"] = EXAMPLE_SHARES
        with contextlib.suppress(ConfigError):
            full = Answers(**one).completed()
            of_file = full.definition == "merit" and not full.sequence and full.labels  # the others as given ones
            recipe = recipe_of(full)
            found.setdefault(repr((recipe, full.judgments, of_file or full.labels == "none")), full)
    return list(found.values())


@pytest.mark.slow
def test_every_accepted_combination_composes_and_builds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The words that are printed build a job that stands for the definition that was asked for."""
    jobs: list[RunJob] = []
    monkeypatch.setattr(from_config, "run", lambda job, folder: jobs.append(job))
    monkeypatch.setattr(from_config, "show", lambda *_: None)
    home, reached = tmp_path / "my configs", set()
    chosen = [replace(one, output=str(home), name=f"fair-{place}") for place, one in enumerate(fitting(tmp_path))]
    assert len(chosen) > 30
    said = [write(one) for one in chosen]
    with initialize_config_dir(str(conf_folder()), version_base="1.3"):
        for answered, words in zip(chosen, said, strict=True):
            typed = shlex.split(command_line(answered))
            assert typed[:4] == ["fair-rerank", "run", "--config-dir", str(home)]
            own = [f"hydra.searchpath=['file://{home}']", "paths.cache=cache", "output=out"]
            config = OmegaConf.to_container(compose("run", overrides=[*typed[4:], *own]), resolve=True)
            method = yaml.safe_load((home / "experiment" / f"{answered.name}.yaml").read_text())["defaults"][3]
            from_config.run_from_config(config, tmp_path, typed[4:], method["override /method"])  # type: ignore[arg-type]
            check_job(jobs[-1], answered, words)
            reached.add((answered.definition, answered.unit))
    assert reached == set(RECIPES)


def check_job(job: RunJob, answered: Answers, words: str) -> None:
    assert job.name == name_of_method(job.method)
    found = definition_of(job.method, job.target, job.fit, [answered.attribute] if answered.attribute else [])
    assert found.name == answered.definition
    assert found.sentence.split(".")[0] in words
    assert (answered.labels == "none") == (type(job.groups).__name__ == "NoGroups")
    assert isinstance(job.fit, NoFit) or answered.judgments == "train"
    assert callable(getattr(job.method, "serve", None)) == answered.sequence
    assert (job.rounds > 1) == (answered.sequence and answered.unit == "groups")
    assert (answered.unit == "groups") == (job.method.tier == "given_groups")


def test_without_a_word_the_questions_are_asked(command: Run) -> None:
    code, out, err = command("choose")
    assert (code, err) == (0, "")
    for key, (question, possible) in QUESTIONS.items():
        assert f"{key}: {question}" in out
        assert all(f"  {key}={answer} " in out and meaning in out for answer, meaning in possible.items())
    assert max(len(line) for line in out.splitlines()) <= 130


def test_help_and_wrong_words(command: Run, tmp_path: Path) -> None:
    code, out, _ = command("choose", "--help")
    assert code == 0
    assert "utility_floor: null" in out
    for words, expected in (
        (["definition=fairness"], "merit"),
        (["unit=groups"], "definition"),
        (["definition=merit", "utilityfloor=0.9"], "utility_floor"),
        (["definition=merit", "collection=cranfield"], "jsonl"),
        (["definition=merit", "retriever=bm52"], "bm25"),
    ):
        code, _, err = command("choose", *words, f"output={tmp_path}")
        assert code == 2, words
        assert expected in err
    assert not list(tmp_path.rglob("*.yaml"))


def test_a_folder_that_cannot_be_written(command: Run, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    code, _, err = command("choose", "definition=merit", f"output={tmp_path / 'file'}")
    assert code == 2
    assert "file" in err


def test_what_is_there_is_not_written_over(command: Run, tmp_path: Path) -> None:
    code, _, err = command("choose", "definition=merit", f"output={tmp_path}", "name=cacm")
    assert code == 2
    assert "an experiment of the package" in err
    words = ["choose", "definition=merit", f"output={tmp_path}", "name=mine"]
    assert command(*words)[0] == 0
    assert command(*words, "utility_floor=0.9")[0] == 0  # its own
    path = tmp_path / "experiment" / "mine.yaml"
    assert "floor: 0.9" in path.read_text()
    path.write_text("# @package _global_\nsamples: 3\n")
    code, _, err = command(*words)
    assert code == 2
    assert "not of fair-rerank choose" in err
    assert "samples: 3" in path.read_text()


def test_the_experiment_explains_itself(command: Run, tmp_path: Path) -> None:
    words = ["unit=groups", "collection=jsonl", "utility_floor=0.9", "judgments=train", "attribute=kind"]
    code, out, err = command("choose", "definition=merit", *words, f"output={tmp_path}", "name=mine")
    assert code == 0, err
    text = (tmp_path / "experiment" / "mine.yaml").read_text()
    assert text.startswith("# @package _global_\n# Written by fair-rerank choose.\n# Fairness: merit.")
    assert "# Information tier: given_groups" in text
    assert "judged training queries" in text
    assert max(len(line) for line in text.splitlines() if "fair-rerank run" not in line) <= 120
    asked = f"fair-rerank run --config-dir {tmp_path} experiment=mine collection.path=PATH"
    assert f"use: {asked}" in out
    assert f"#   {asked}" in text
    assert "fair-rerank train collection=jsonl collection.path=PATH collection.split=train" in out
    values = yaml.safe_load(text)
    assert {"override /fit": "grid"} in values["defaults"]
    assert values["fit"]["keep"] == 0.9
    assert values["collection"] == {"split": "eval"}
    assert values["groups"] == {"attribute": "kind"}


def test_no_model_is_suggested_on_the_queries_that_are_evaluated(command: Run, tmp_path: Path) -> None:
    _, out, _ = command("choose", "definition=merit", f"output={tmp_path}")
    assert "fair-rerank train" not in out
    assert "judgments=train" in out


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a jsonl collection with a first-stage run."""
    return write_world(tmp_path_factory.mktemp("choose") / "world", seed=3)


@pytest.mark.slow
@pytest.mark.parametrize(
    "words",
    [
        ["definition=merit", "labels=given", "utility_floor=0.9"],
        ["definition=parity", "judgments=train", "utility_floor=0.5"],
        ["definition=worst_off", "judgments=train", "utility_floor=0.8"],
        ["definition=merit", "unit=groups", "sequence=true"],
    ],
    ids=lambda words: "-".join(word.partition("=")[2] for word in words),
)
def test_experiments_run(command: Run, world: Path, tmp_path: Path, words: list[str]) -> None:
    place = [f"output={tmp_path}", "collection=jsonl", "retriever=run_file", "attribute=kind"]
    code, out, err = command("choose", *words, *place)
    assert code == 0, err
    said = next(line for line in out.splitlines() if line.startswith("use: "))
    assert "collection.path=PATH retriever.run=RUN" in said
    folder = tmp_path / "out"
    quick = ["rounds=3"] if "sequence=true" in words else ["samples=5"]
    code, _, err = command(
        *("run", "--config-dir", str(tmp_path), "experiment=fair", f"collection.path={world}"),
        *(f"retriever.run={world}/first.run", f"output={folder}", "measures.resamples=50", *quick),
        "measures.permutations=0",
    )
    assert code == 0, err
    assert json.loads((folder / "measures.json").read_text())["runs"]
    fairness = yaml.safe_load((folder / "metadata.yaml").read_text())["method"]["fairness"]
    asked = words[0].partition("=")[2]
    assert fairness.startswith({"parity": "parity.", "worst_off": "the worst off."}.get(asked, "merit."))
    assert "fairness" in (folder / "report.html").read_text()


def test_the_command_is_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["--help"]) == 0
    assert "choose" in capsys.readouterr().out
    assert "choose" in cli.STAGES
