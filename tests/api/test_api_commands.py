"""The other commands from Python: judging, comparing, checking, sweeping; from threads and inside a Hydra program."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import rerankers as fr
from rerankers.api.parts import parts_of
from rerankers.cli import main

pytestmark = pytest.mark.slow

QUICK: dict[str, Any] = {"measures": {"resamples": 20, "permutations": 5, "names": ["EEL", "group_EEL", "nDCG@5"]}}


@pytest.mark.slow
def test_evaluate_gives_the_bits_of_the_command(
    by_command: Path, files: Path, parts: dict[str, Any], tmp_path: Path
) -> None:
    quick = ["measures.resamples=20", "measures.permutations=5", "measures=[EEL,group_EEL,nDCG@5]"]
    words = [f"run={by_command}", f"qrels={files / 'qrels.txt'}", f"groups={files / 'groups.csv'}", *quick]
    assert main(["evaluate", *words, f"output={tmp_path / 'a'}"]) == 0
    result = fr.evaluate(
        run=fr.Result.read(by_command),
        qrels=files / "qrels.txt",
        groups=files / "groups.csv",
        output=tmp_path / "b",
        **QUICK,
    )
    assert (tmp_path / "b" / "measures.json").read_bytes() == (tmp_path / "a" / "measures.json").read_bytes()
    rankings = fr.Result.read(by_command).rankings
    listed: dict[str, list[list[str]]] = {}
    for row in rankings.to_pylist():
        listed.setdefault(row["qid"], [[] for _ in range(4)])[row["sample"]].append(row["docno"])
    frame = rankings.rename_columns(
        {"qid": "query_id", "docno": "doc_id"} | {n: n for n in ("sample", "rank", "score")}
    )
    tuples = [_Judged(qid, docno, grade) for qid, grades in parts["qrels"].items() for docno, grade in grades.items()]
    again = fr.evaluate(run={"out": frame, "listed": listed}, qrels=tuples, groups=parts["groups"], **QUICK)
    assert again.systems == ["out", "listed"]
    assert again.means["out"] == again.means["listed"] == result.means["out"]


def test_names_of_runs(by_command: Path, parts: dict[str, Any], tmp_path: Path) -> None:
    listed = {"q": [["a", "b"]]}
    words = parts_of("evaluate", (), {"run": [listed, by_command, "x.run"]}, tmp_path).words
    assert words == [f"run=['{tmp_path}/run0/run.arrow','{by_command}','x.run']"]
    words = parts_of("evaluate", (), {"run": {"mine": listed, "out": by_command}}, tmp_path).words
    assert words == [f"run=['{tmp_path}/mine/run.arrow','{by_command}']"]
    with pytest.raises(fr.ConfigError, match="without slashes"):
        parts_of("evaluate", (), {"run": {"a/b": listed}}, tmp_path)


class _Judged:
    def __init__(self, query_id: str, doc_id: str, relevance: int) -> None:
        self.query_id, self.doc_id, self.relevance = query_id, doc_id, relevance


def test_compare(by_python: fr.Result, tmp_path: Path) -> None:
    parts = parts_of("compare", (), {"results": [by_python, "b c"], "pairs": "all"}, tmp_path)
    assert parts.words == [f"results=['{by_python.folder}','b c']", "pairs=all"]
    outcome = fr.compare([by_python])
    assert isinstance(outcome.content("comparison.csv"), pa.Table)
    assert "kl_tilt" in outcome.text
    assert outcome.text in outcome._repr_html_() or "&" in outcome._repr_html_()


def test_validate(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    queries, run = tmp_path / "queries.jsonl", tmp_path / "run.jsonl"
    queries.write_text('{"qid": 1, "query": "a", "documents": [{"doc_id": "x"}, {"doc_id": "y"}]}\n')
    sequence = tmp_path / "sequence.csv"
    sequence.write_text("0.0,1\n")
    run.write_text('{"q_num": "0.0", "qid": 1, "ranking": ["x", "y"]}\n')
    given = {"track": "2020-rerank", "queries": queries, "sequence": sequence}
    good = fr.validate(run=run, **given)
    assert good
    assert "valid" in good.text
    run.write_text('{"q_num": "0.0", "qid": 1, "ranking": ["x", "x"]}\n')
    bad = fr.validate(run=run, **given)
    assert not bad
    assert any(problem.line == 1 for problem in bad.problems)
    assert all(str(problem) in bad.text for problem in bad.problems)
    assert capfd.readouterr() == ("", "")
    with pytest.raises(fr.MissingError):
        fr.validate(run=tmp_path / "none.jsonl", **given)


def test_any_command(tmp_path: Path) -> None:
    outcome = fr.command(
        "choose",
        definition="merit",
        unit="groups",
        labels="given",
        utility_floor=0.9,
        output=tmp_path / "mine",
        name="fair",
    )
    assert (tmp_path / "mine" / "experiment" / "fair.yaml").is_file()
    assert outcome.folder is None
    assert "--config-dir" in outcome.text


def test_threads_hear_only_themselves(files: Path, parts: dict[str, Any], capfd: pytest.CaptureFixture[str]) -> None:
    found: dict[int, fr.Result] = {}

    def judge(number: int) -> None:
        sys.stdout.write(f"thread {number}\n")
        found[number] = fr.evaluate(run={f"r{number}": parts["candidates"]}, qrels=files / "qrels.txt", **_CHEAP)

    threads = [threading.Thread(target=judge, args=(number,)) for number in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(capfd.readouterr().out.split("\n")) == ["", "thread 0", "thread 1"]
    assert [found[number].systems for number in range(2)] == [["r0"], ["r1"]]
    assert all(found[number].text.count("report:") == 1 for number in range(2))
    assert len({found[number]["EEL"] for number in range(2)}) == 1


_CHEAP: dict[str, Any] = {"measures": {"resamples": 20, "names": ["EEL"]}}


def test_verbose_prints_what_is_kept(files: Path, parts: dict[str, Any], capfd: pytest.CaptureFixture[str]) -> None:
    result = fr.evaluate(run={"mine": parts["candidates"]}, qrels=files / "qrels.txt", verbose=True, **_CHEAP)
    assert capfd.readouterr().out == result.text
    assert "mine" in result.text


APP = """
import hydra, os
from hydra.core.global_hydra import GlobalHydra
from hydra.core.hydra_config import HydraConfig
import rerankers as fr

@hydra.main(version_base="1.2", config_path=".", config_name="app")
def app(config):
    state = lambda: (HydraConfig.get().job.name, GlobalHydra.instance().hydra, hydra.version.getbase(), os.getcwd())
    before = state()
    try:
        fr.run("method=nonsense")
    except fr.ConfigError as error:
        assert "nonsense" in str(error)
    else:
        raise SystemExit("no error")
    from rerankers._compose import compose_call
    assert compose_call("run", ["method=uniform"]).choices["method"] == "uniform"
    assert state() == before, (state(), before)
    print("as it was")

app()
"""


def test_inside_another_hydra_program(tmp_path: Path) -> None:
    (tmp_path / "app.yaml").write_text("hydra:\n  run:\n    dir: .\n  output_subdir: null\n")
    (tmp_path / "app.py").write_text(APP)
    done = subprocess.run([sys.executable, "app.py"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "as it was"


def test_sweeps_refuse_objects(tmp_path: Path, parts: dict[str, Any]) -> None:
    from rerankers.api.sweep import _choice, _with_inputs
    from rerankers.methods import Uniform

    with pytest.raises(fr.ConfigError, match="Call run in a loop"):
        fr.sweep(method=Uniform(), output=tmp_path / "s")
    with pytest.raises(fr.ConfigError, match="command: found 'compare'"):
        fr.sweep(command="compare")
    assert _choice("seed", range(3)) == "0,1,2"
    assert _choice("method", ["uniform", "kl_tilt"]) == "uniform,kl_tilt"
    assert _choice("x", [None, True, 0.5]) == "null,true,0.5"
    one = _with_inputs("run", (), {"candidates": parts["candidates"]}, tmp_path)
    other = {qid: dict(list(scores.items())[1:]) for qid, scores in parts["candidates"].items()}
    two = _with_inputs("run", (), {"candidates": other}, tmp_path)
    same = _with_inputs("run", (), {"candidates": parts["candidates"]}, tmp_path)
    assert one.words == same.words
    assert one.words != two.words  # other inputs have other names, so that a sweep that is resumed takes notice


@pytest.mark.slow
def test_sweep(words: list[str], tmp_path: Path) -> None:
    sweep = fr.sweep(*words, method=["kl_tilt", "kl_greedy"], seed=range(2), output=tmp_path / "s")
    assert len(sweep) == 4
    assert [one.systems for one in sweep] == [["kl_tilt"], ["kl_tilt"], ["kl_greedy"], ["kl_greedy"]]
    assert [one.options["seed"] for one in sweep] == [0, 1, 0, 1]
    assert fr.Sweep.read(tmp_path / "s")[1].means == sweep[1].means
    with pytest.raises(fr.ConfigError, match="no such option"):
        fr.sweep(*words, {"method.nonsense": 1}, seed=range(2))
