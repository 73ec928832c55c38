"""A job from Python is the job of the command: the same bits, nothing printed, nothing changed around it."""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
import yaml

import rerankers as fr
from rerankers._compose import compose_call
from rerankers._conf import build
from rerankers.collections import Jsonl
from rerankers.exposure import RBP
from rerankers.methods import PlackettLuce, Uniform

SMALL: dict[str, Any] = {"samples": 2, "measures": {"resamples": 20, "permutations": 5}}


def test_the_same_bits_as_the_command(by_command: Path, by_python: fr.Result) -> None:
    for name in ("run.parquet", "policy.parquet", "measures.json", "measures.csv", "measures.parquet"):
        assert (by_python.folder / name).read_bytes() == (by_command / name).read_bytes(), name
    mine, theirs = (yaml.safe_load((folder / "config.yaml").read_text()) for folder in (by_python.folder, by_command))
    assert mine | {"output": ""} == theirs | {"output": ""}
    assert by_python.metadata["implementation"]["executable"]["cmd"] == by_python.repeated


def test_what_is_in_memory_gives_the_same_numbers(by_python: fr.Result, parts: dict[str, Any], tmp_path: Path) -> None:
    collection = {name: parts[name] for name in ("docs", "queries", "qrels", "groups")}
    result = fr.run(
        {"method": "kl_tilt", "measures.resamples": 20},
        collection=collection,
        candidates=parts["candidates"],
        target={"A": 0.5, "B": 0.4, "unknown": 0.1},
        samples=4,
        seed=3,
        measures={"permutations": 5},
        output=tmp_path / "out",
    )
    assert result.rankings.equals(by_python.rankings)
    assert result.means == by_python.means
    assert sorted(path.name for path in (tmp_path / "out" / "inputs").iterdir()) == ["candidates.parquet", "collection"]


@pytest.mark.slow
def test_the_line_that_repeats_a_job(files: Path, parts: dict[str, Any], tmp_path: Path) -> None:
    collection = {name: parts[name] for name in ("docs", "queries", "qrels")}
    candidates, output = parts["candidates"], tmp_path / "out"
    result = fr.run("method=uniform", collection=collection, candidates=candidates, output=output, **SMALL)
    words = shlex.split(result.repeated)
    assert words[:2] == ["fair-rerank", "run"]
    again = fr.run(*(word for word in words[2:] if not word.startswith("output=")), output=tmp_path / "again")
    assert again.means == result.means
    assert again.rankings.equals(result.rankings)


def test_nothing_around_changes(words: list[str], capfd: pytest.CaptureFixture[str]) -> None:
    from hydra.core.global_hydra import GlobalHydra

    before = (os.getcwd(), sys.stdout, sys.stderr, list(sys.argv), GlobalHydra.instance().is_initialized())
    compose_call("run", words)
    with pytest.raises(fr.ConfigError, match=r"Did you mean method\.temperature\?"):
        fr.run("method=kl_tilt", {"method.temprature": 1})
    after = (os.getcwd(), sys.stdout, sys.stderr, list(sys.argv), GlobalHydra.instance().is_initialized())
    assert after == before
    assert capfd.readouterr() == ("", "")


def test_a_temporary_folder_goes_with_its_result(
    files: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    result = fr.run(
        collection=Jsonl(str(files)), candidates=files / "first.run", method=Uniform(), browsing=RBP(0.9), **_jsonl()
    )
    folder = result.folder
    kept = result.save(tmp_path / "kept")
    assert capfd.readouterr() == ("", "")
    assert "report:" in result.text
    assert result.systems == ["uniform"]
    assert result.options["browsing"] == str(RBP(0.9))
    assert result.config["browsing"] == {"_target_": "rerankers.exposure.browsing.RBP", "patience": 0.9, "cutoff": None}
    del result
    assert not folder.exists()
    assert fr.Result.read(kept).systems == ["uniform"]


def _jsonl() -> dict[str, Any]:
    return SMALL | {"groups": "none"}


class Reversed:
    """A method of the caller's own: the first stage upside down."""

    tier = "blind"

    def policy(self, block: Any) -> Any:
        return PlackettLuce(temperature=0.1).policy(block)


def test_a_method_of_ones_own(files: Path) -> None:
    result = fr.run(
        collection=Jsonl(str(files)).load(),
        candidates=str(files / "first.run"),
        method=Reversed(),
        groups="none",
        **SMALL,
    )
    assert result.systems == ["reversed"]
    assert result.config["method"]["_target_"] == "rerankers.api.held.Held"
    assert "method=<" in result.repeated
    node = {key: value for key, value in result.config["method"].items() if key != "model"}
    with pytest.raises(fr.ConfigError, match="object of another Python session"):
        build(node, where="method")
    for options, message in (
        ({"method.temperature": 1}, "set it in the object"),
        ({"resume": True}, "nobody can tell"),
    ):
        with pytest.raises(fr.ConfigError, match=message):
            fr.run(options, method=Reversed(), collection=Jsonl(str(files)), candidates=str(files / "first.run"))


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        ({"metod": "uniform"}, fr.ConfigError, "metod: no such option"),
        ({"method": object()}, fr.ConfigError, "an object with policy"),
        ({"samples": object()}, fr.ConfigError, "samples: found object"),
        ({"config_dir": "nowhere"}, fr.ConfigError, "no such folder"),
        ({"collection": {"docs": {"docno": ["a"]}}}, fr.ConfigError, "expected docs and queries"),
        ({"groups": 5}, fr.InputError, "groups: found a int"),
        ({"candidates": {"q": [["a"], ["b"]]}}, fr.InputError, "one ranking a query"),
    ],
)
def test_mistakes_are_told(call: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        fr.run(**call)


def test_words_that_set_nothing() -> None:
    with pytest.raises(fr.ConfigError, match="sets nothing"):
        fr.run("samples")
    with pytest.raises(fr.ConfigError, match="found a int"):
        fr.run(5)  # type: ignore[arg-type]
    with pytest.raises(fr.ConfigError, match="command: found 'ruun'"):
        fr.command("ruun")


def test_rankings_are_those_of_the_file(by_python: fr.Result) -> None:
    assert by_python.rankings.equals(pq.read_table(by_python.folder / "run.parquet"))
