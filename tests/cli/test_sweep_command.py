"""Sweeps of the command: what is run, told, left out and left behind. Points are cheap, but for those of one test."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from rerankers._base.errors import ConfigError, FairRerankersError
from rerankers._hydra import Call, hydra_command
from rerankers.stages import sweep_places
from rerankers.stages.output import claimed
from rerankers.stages.sweep_value import tuning_warnings

pytestmark = pytest.mark.slow

Run = Callable[..., tuple[int, str, str]]
QUICK = ("samples=3", "measures.names=[nDCG@10,EEL]", "measures.resamples=20", "measures.permutations=0")


@pytest.fixture
def ran() -> list[str]:
    """Return the folders of the points that have run, in their order."""
    return []


@pytest.fixture
def start(tmp_path: Path, capsys: pytest.CaptureFixture[str], ran: list[str]) -> Run:
    """Return a function that runs ``run`` with a job that measures nothing but its own options."""

    def job(call: Call) -> None:
        ran.append(call.output.name)
        samples, seed = call.config["samples"], call.config["seed"]
        if samples < 1:
            raise ConfigError(f"samples: found {samples}; expected more")
        if seed == 13:
            raise RuntimeError("out of order")
        if seed == 130:
            raise KeyboardInterrupt
        lines = Path(call.config["collection"]["path"]).read_text(encoding="utf-8")
        if not lines:
            raise FairRerankersError("nothing in it")
        means = {"nDCG@10": seed / 10, "EEL": samples / 100, "AP": None}
        runs = {call.choices["method"]: {"mean": means}, "anchor:random": {"mean": means}}
        with claimed(call.output.absolute()) as staging:
            (staging / "measures.json").write_text(json.dumps({"runs": runs}))
            (staging / "config.yaml").write_text(yaml.safe_dump(call.config))
            (staging / "metadata.yaml").write_text(f"{lines} {os.urandom(4).hex()} {call.words}")

    (tmp_path / "docs").write_text("docs")

    def run(*words: str) -> tuple[int, str, str]:
        capsys.readouterr()
        try:
            code = hydra_command("run", list(words), job)
        except FairRerankersError as error:
            captured = capsys.readouterr()
            return error.exit_code, captured.out, captured.err + str(error)
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


@pytest.fixture
def sweep(start: Run, tmp_path: Path) -> Run:
    """Return the same for sweeps, with a collection and a folder."""
    base = ("--multirun", "collection=jsonl", f"collection.path={tmp_path / 'docs'}", f"output={tmp_path / 'sweep'}")
    return lambda *words: start(*base, *words)


def table(folder: Path) -> list[dict[str, str]]:
    return list(csv.DictReader((folder / "sweep.csv").read_text(encoding="utf-8").splitlines()))


@pytest.mark.slow
def test_one_line_a_point_one_table_and_what_to_type_next(
    command: Run, tiny: Path, tiny_run: Path, tmp_path: Path
) -> None:
    base = ["run", "--multirun", "collection=jsonl", f"collection.path={tiny}", "retriever=run_file"]
    words = [*base, f"retriever.run={tiny_run}", f"output={tmp_path / 'sweep'}", *QUICK, "method=uniform,plackett_luce"]
    code, out, err = command(*words)
    assert code == 0, err
    lines = out.splitlines()
    assert lines[0].startswith("0 method=uniform: nDCG@10 ")
    assert lines[1].startswith("1 method=plackett_luce: ")
    assert "anchor:" not in out
    assert "report:" not in out
    head = next(line for line in lines if line.startswith("point"))
    assert "nDCG@10 ↑" in head
    assert "EEL ↓" in head
    assert lines[-1] == f"compare: fair-rerank compare {tmp_path / 'sweep'}"
    rows = table(tmp_path / "sweep")
    assert [(row["point"], row["method"], row["state"]) for row in rows] == [
        ("0", "uniform", "done"),
        ("1", "plackett_luce", "done"),
    ]
    for row in rows:
        means = json.loads((tmp_path / "sweep" / row["point"] / "measures.json").read_text())["runs"][row["method"]]
        assert float(row["EEL"]) == means["mean"]["EEL"]
    names = sorted(path.name for path in (tmp_path / "sweep").iterdir())
    assert names == ["0", "1", "sweep.csv"]
    assert "was there already" in command(*words, "resume=true")[1]


def test_typed_again_only_what_is_left_runs(sweep: Run, tmp_path: Path, ran: list[str]) -> None:
    assert sweep("seed=1,2")[0] == 0
    assert ran == ["0", "1"]
    before = (tmp_path / "sweep" / "1" / "metadata.yaml").read_bytes()
    (tmp_path / "sweep" / "0" / "metadata.yaml").unlink()  # as a job that is killed while it moves its files
    code, out, _ = sweep("seed=1,2")
    assert (code, ran) == (0, ["0", "1", "0"])
    assert "1 seed=2: was there already" in out
    assert [row["state"] for row in table(tmp_path / "sweep")] == ["done", "was there"]
    assert (tmp_path / "sweep" / "1" / "metadata.yaml").read_bytes() == before
    (tmp_path / "docs").write_text("dogs")
    assert sweep("seed=1,2")[0] == 0
    assert ran[3:] == ["0", "1"], "an edited input is run again"
    assert sweep("seed=1,2", "resume=false")[0] == 0
    assert ran[5:] == ["0", "1"]


def test_a_longer_grid_runs_only_its_new_points(sweep: Run, tmp_path: Path, ran: list[str]) -> None:
    assert sweep("method=uniform,plackett_luce", "seed=1")[0] == 0
    code, out, err = sweep("method=uniform,plackett_luce", "seed=1,2")
    assert code == 0, err
    assert ran[2:] == ["1", "3"]
    assert "2 method=plackett_luce seed=1: was there already" in out
    for number, method, seed in (
        (0, "uniform", 1),
        (1, "uniform", 2),
        (2, "plackett_luce", 1),
        (3, "plackett_luce", 2),
    ):
        folder = tmp_path / "sweep" / str(number)
        config = yaml.safe_load((folder / "config.yaml").read_text())
        assert (config["seed"], config["output"]) == (seed, str(tmp_path / "sweep"))
        assert "resume" not in config
        assert method in json.loads((folder / "measures.json").read_text())["runs"]


def test_failing_points_are_all_named_and_the_others_stay(sweep: Run, tmp_path: Path) -> None:
    code, out, err = sweep("samples=0,2,-1", "seed=1,13")
    assert code == 2
    assert "0 samples=0 seed=1: failed: samples: found 0" in out
    assert "fair-rerank run: 0 samples=0 seed=1: samples: found 0" in err
    assert "fair-rerank run: 5 samples=-1 seed=13: samples: found -1" in err
    assert "fair-rerank run: 3 samples=2 seed=13: unexpected RuntimeError: out of order" in err
    assert "Traceback" not in out + err
    rows = table(tmp_path / "sweep")
    assert [row["state"] for row in rows] == ["failed", "failed", "done", "failed", "failed", "failed"]
    assert [row["exit_code"] for row in rows] == ["2", "2", "0", "1", "2", "2"]
    assert "found 0" in rows[0]["error"]
    assert rows[0]["EEL"] == ""
    assert rows[2]["EEL"] == "0.02"


def test_a_failing_point_does_not_keep_results_of_another_input(sweep: Run, tmp_path: Path) -> None:
    assert sweep("seed=1,2")[0] == 0
    (tmp_path / "docs").write_text("")
    code, out, err = sweep("seed=1,2")
    assert code == 1, err
    assert "put aside" in out
    assert not (tmp_path / "sweep" / "0" / "measures.json").exists()
    assert len(list((tmp_path / "sweep" / "earlier").glob("*/measures.json"))) == 2
    (tmp_path / "docs").write_text("docs")
    assert sweep("seed=1,2")[1].count("was there already") == 2
    assert not (tmp_path / "sweep" / "earlier").exists()


def test_all_that_is_wrong_is_told_before_any_point_runs(sweep: Run, tmp_path: Path) -> None:
    code, _, err = sweep("method=plackett_luce,kl_tlit", "target=merit,meritt")
    assert code == 2
    assert "Did you mean method=kl_tilt?" in err
    assert "Did you mean target=merit?" in err
    assert not (tmp_path / "sweep").exists()
    code, _, err = sweep("method=kl_tlit,uniform", "target=meritt")
    assert code == 2
    assert "Did you mean method=kl_tilt?" in err
    assert "Did you mean target=merit?" in err
    assert "Did you mean seed?" in sweep("method=kl_tilt,uniform", "sede=range(3)")[2]


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("--mutlirun", "seed=1,2"), 2, "Did you mean --multirun?"),
        (("multirun", "seed=1"), 2, "Did you mean --multirun?"),
        (("seed=1,2",), 2, "To run each of them add --multirun"),
        (("seed", "=", "1"), 2, "expected an override, key=value"),
        (("--multirun", "seed=1,2", "hydra/launcher=jobli"), 2, "Did you mean hydra/launcher=joblib?"),
        (("--multirun", "seed=1,2", "hydra/launcher=submitit_slrum"), 2, "Did you mean hydra/launcher=submitit_slurm?"),
        (("--multirun", "seed=interval(0,1)"), 2, "hydra/sweeper=optuna"),
        (("--multirun", "output=a${seed}", "seed=1,2"), 2, "output: found a1 and a2"),
        (("--multirun", "seed=1,2", "resume=maybe"), 2, "resume: found 'maybe'"),
        (("--multirun", "seed=1,2", "optimise=nDGC"), 2, "optimise: "),
        (("--multirun", "seed=1,2", "hydra.sweep.subdir=same"), 2, "hydra.sweep.subdir"),
    ],
)
def test_slips_say_what_was_meant(
    start: Run, words: tuple[str, ...], code: int, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    found, out, err = start(*words)
    assert (found, said in err) == (code, True), err
    assert "Traceback" not in out + err


@pytest.mark.parametrize(
    ("word", "extra"),
    [
        ("hydra/launcher=ray", "ray"),
        ("hydra/launcher=submitit_local", "slurm"),
        ("hydra/launcher=submitit_slurm", "slurm"),
        ("hydra/launcher=joblib", "joblib"),
        ("hydra/sweeper=optuna", "sweep"),
    ],
)
def test_what_is_not_installed_says_what_to_type(
    start: Run, word: str, extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rerankers._sweep_words.importlib.util.find_spec", lambda name: None)
    code, _, err = start("--multirun", word, "seed=1,2")
    assert code == 3
    assert err.rstrip().endswith(f"Type: pip install 'fair-rerankers[{extra}]'")


def test_paths_are_swept_and_names_with_commas_are_not(start: Run, tmp_path: Path) -> None:
    for name in ("one", "two", "both, of them"):
        (tmp_path / name).write_text("docs")
    base = ("--multirun", "collection=jsonl", f"output={tmp_path / 'sweep'}")
    assert start(*base, f"collection.path={tmp_path / 'one'},{tmp_path / 'two'}")[0] == 0
    assert len(table(tmp_path / "sweep")) == 2
    assert start(*base, f"collection.path={tmp_path / 'both, of them'}")[0] == 0
    assert len(table(tmp_path / "sweep")) == 1


def test_a_folder_is_swept_by_one_at_a_time(sweep: Run, tmp_path: Path) -> None:
    with sweep_places.sweep_lock(tmp_path / "sweep"):
        code, _, err = sweep("seed=1,2")
    assert code == 2
    assert "another sweep is running there" in err


def test_ctrl_c_tells_what_is_done(start: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    base = ("collection=jsonl", f"collection.path={tmp_path / 'docs'}", f"output={tmp_path / 'sweep'}")
    with pytest.raises(KeyboardInterrupt):  # the command makes exit code 130 of it
        start("--multirun", *base, "seed=1,130,3")
    assert "2 of 3 points have not run; the same command runs them" in capsys.readouterr().err
    assert [row["state"] for row in table(tmp_path / "sweep")] == ["done", "not run", "not run"]
    assert start("--multirun", *base, "seed=1,2,3")[1].count("was there already") == 1


def test_a_single_job_resumes_when_asked(start: Run, tmp_path: Path, ran: list[str]) -> None:
    words = ["collection=jsonl", f"collection.path={tmp_path / 'docs'}", f"output={tmp_path / 'one'}", "resume=true"]
    assert start(*words)[0] == 0
    code, out, _ = start(*words)
    assert (code, ran) == (0, ["one"])
    assert "was there already" in out
    assert "was there already" not in start(*words, "seed=9")[1]


def test_what_is_optimised_must_have_a_mean(sweep: Run, tmp_path: Path) -> None:
    code, out, err = sweep("seed=1,2", "samples=3,5", "optimise=[nDCG@10,EEL]")
    assert code == 0, err
    best = [line for line in out.splitlines() if line.startswith("best: ")]
    assert best == ["best: 2 seed=2 samples=3: nDCG@10 0.2, EEL 0.03"]
    code, _, err = sweep("seed=1,2", "optimise=AP")
    assert code == 2
    assert err.count("optimise: AP has no mean here (its value is None)") == 2
    code, _, err = sweep("seed=1,2", "optimise=[EEL,RR]")
    assert "optimise: RR was not measured; expected one of nDCG@10, EEL, AP" in err


def test_results_that_are_tuned_on_say_so() -> None:
    (text,) = tuning_warnings({"optimise": ["EEL"], "collection": {"split": None}})
    assert text.startswith("tuned on evaluation queries")
    assert "collection.split=train" in text
    assert tuning_warnings({"optimise": ["EEL"], "collection": {"split": "train"}}) == []
    assert tuning_warnings({"optimise": None, "collection": {"split": None}}) == []
