"""The command ``train``, and ``run`` with the model that it leaves."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
import yaml

from rerankers._base.streams import generator
from tests.cli.conftest import Run

WORDS = tuple("exposure ranking fairness group document query search index author target".split())  # noqa: SIM905
QUERIES = 24
TRAINING = ("model.yaml", "queries.parquet", "calibration.yaml", "validation.parquet")


def write_world(folder: Path, seed: int = 0) -> Path:
    """Write a jsonl collection with groups, and a first-stage run over it: texts tell something about relevance."""
    draw = generator(seed, "train command")
    folder.mkdir(parents=True)
    docs, run, qrels, queries, groups = [], [], [], [], ["docno,group"]
    for number in range(QUERIES):
        qid = f"q{number}"
        terms = draw.choice(WORDS, 2, replace=False)
        queries.append(f"{qid}\t{' '.join(terms)}")
        for place in range(int(draw.integers(1, 9))):
            docno = f"{qid}.{place}"
            hits = draw.random(2) < 0.5
            text = " ".join([*draw.choice(WORDS, 3), *terms[hits]])
            docs.append(json.dumps({"docno": docno, "title": text, "year": int(draw.integers(1990, 2020))}))
            run.append(f"{qid} Q0 {docno} {place + 1} {9.0 - place} first")
            qrels.append((qid, docno, int(draw.random() < 0.15 + 0.3 * hits.sum())))
            if draw.random() < 0.8:
                groups.append(f"{docno},{draw.choice(['a', 'b'])}")
    for name, lines in (
        ("docs.jsonl", docs),
        ("queries.tsv", queries),
        ("first.run", run),
        ("qrels.txt", [f"{qid} 0 {docno} {grade}" for qid, docno, grade in qrels]),
        ("kind_groups.csv", groups),
    ):
        (folder / name).write_text("\n".join(lines) + "\n")
    return folder


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_world(tmp_path_factory.mktemp("training") / "world")


@pytest.fixture(autouse=True)
def quick_reports(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave the report out, which takes most of the time, but for the test that looks at it."""
    if request.node.name != "test_files_and_their_agreement":
        monkeypatch.setattr("rerankers.stages.results.write_report", lambda folder, data: None)


def source(world: Path, *more: str) -> list[str]:
    return [
        *("collection=jsonl", f"collection.path={world}", "retriever=run_file", f"retriever.run={world / 'first.run'}"),
        *("measures.resamples=50", *more),
    ]


def training(world: Path, output: Path, *more: str, epochs: str = "model.epochs=6") -> list[str]:
    families = "features.families=[first_stage,lengths,overlap,metadata]"
    quick = ("model=linear", epochs, "objective=binary", "validation.folds=3", "calibration=platt")
    return ["train", *source(world, families, *quick, *more), f"output={output}"]


def test_files_and_their_agreement(command: Run, world: Path, tmp_path: Path) -> None:
    output = tmp_path / "model ü"
    code, out, err = command(*training(world, output))
    assert code == 0, err
    assert "deterministic" in out
    for name in (*TRAINING, "training.csv", "metadata.yaml", "config.yaml", "relevance.json", "report.html"):
        assert (output / name).stat().st_size > 0, name
    assert not [path.name for path in output.iterdir() if path.name.startswith(".")]
    card = yaml.safe_load((output / "model.yaml").read_text())
    assert (card["learner"], card["scores"], card["tier"], card["browsing"]) == ("neural", "log_odds", "metadata", None)
    assert "document.year" in card["feature_names"]
    table = pq.read_table(output / "validation.parquet")
    assert table.column_names == ["qid", "docno", "fold", "grade", "score", "probability"]
    assert set(table["fold"].to_pylist()) == {0, 1, 2}
    rows = list(csv.DictReader((output / "training.csv").read_text().splitlines()))
    assert {row["fit"] for row in rows} == {"fold-0", "fold-1", "fold-2", "final"}
    relevance = json.loads((output / "relevance.json").read_text())
    assert relevance["pairs"] == table.num_rows == card["counts"]["pairs"]
    assert {(row["attribute"], row["group"]) for row in relevance["reliability"]} == {
        ("all", "all"),
        *(("kind", group) for group in ("a", "b", "unknown")),
    }
    page = (output / "report.html").read_text()
    for said in ("training_curves.png", "reliability.png", "Relevance: probabilities"):
        assert said in page


def test_training_queries_get_their_validation_scores(command: Run, world: Path, tmp_path: Path) -> None:
    model, output = tmp_path / "model", tmp_path / "run"
    assert command(*training(world, model))[0] == 0
    method = ("method=deterministic", f"method.model={model}", "samples=1")
    code, _, err = command("run", *source(world, *method), f"output={output}")
    assert code == 0, err
    ranked: dict[str, list[str]] = {}
    for row in pq.read_table(output / "run.parquet").to_pylist():
        ranked.setdefault(row["qid"], []).append(row["docno"])
    scored: dict[str, list[tuple[float, str]]] = {}
    for row in pq.read_table(model / "validation.parquet").to_pylist():
        scored.setdefault(row["qid"], []).append((-row["score"], row["docno"]))
    assert scored
    for qid, pairs in scored.items():
        assert ranked[qid] == [docno for _, docno in sorted(pairs)]
    found = json.loads((output / "measures.json").read_text())
    assert found["tier"] == "metadata"
    assert found["counts"]["estimates"]["training_queries_scored_by_models_that_did_not_see_them"] == QUERIES
    # the same pairs, the same scores: what training said of itself is what the run finds
    own, again = (json.loads((folder / "relevance.json").read_text()) for folder in (model, output))
    assert own["AUC_per_query"]["mean"] == again["AUC_per_query"]["mean"]


def test_labels_of_the_other_split_change_no_byte(command: Run, world: Path, tmp_path: Path) -> None:
    for name in ("one", "two"):
        folder = write_world(tmp_path / name)
        if name == "two":
            train = set(pq.read_table(tmp_path / "model one" / "queries.parquet")["qid"].to_pylist())
            assert 0 < len(train) < QUERIES
            lines = [line.split() for line in (folder / "qrels.txt").read_text().splitlines()]
            flipped = [[q, i, d, g if q in train else str(1 - int(g))] for q, i, d, g in lines]
            assert flipped != lines
            (folder / "qrels.txt").write_text("\n".join(" ".join(line) for line in flipped) + "\n")
        assert command(*training(folder, tmp_path / f"model {name}", "collection.split=train"))[0] == 0
    one, two = (sorted((tmp_path / f"model {name}").rglob("*")) for name in ("one", "two"))
    kept = ("final", "fold-0", "fold-1", "fold-2", *TRAINING, "measures.csv", "relevance.json")
    pairs = [(a, b) for a, b in zip(one, two, strict=True) if a.is_file()]
    same = [(a, b) for a, b in pairs if a.name in kept or a.parent.name in kept]
    assert len(same) > 12
    for a, b in same:
        if a.name != "model.yaml":
            assert a.read_bytes() == b.read_bytes(), a
    cards = [yaml.safe_load((tmp_path / f"model {name}" / "model.yaml").read_text()) for name in ("one", "two")]
    for card in cards:
        card["collection"] = "the folder's name"
    assert cards[0] == cards[1]


def test_a_model_for_one_fairness_is_refused_for_another(command: Run, world: Path, tmp_path: Path) -> None:
    model = tmp_path / "model"
    aims = ("objective=exact_exposure", "objective.fairness_weight=0.5", "browsing=rbp", "browsing.patience=0.8")
    assert command(*training(world, model, *aims))[0] == 0
    card = yaml.safe_load((model / "model.yaml").read_text())
    assert card["scores"] == "logit"
    assert card["groups"] == {"attribute": "kind", "groups": ["a", "b", "unknown"]}
    run = ("run", *source(world, f"method.model={model}", "samples=2"))
    for words, said in (
        ((), r"trained for rbp(patience=0.8), the job has gerr"),
        (
            ("browsing=rbp", "browsing.patience=0.8", "groups=none"),
            "trained for the groups of 'kind', the job has none",
        ),
    ):
        code, _, err = command(*run, *words, f"output={tmp_path / 'out'}")
        assert code == 2
        assert said in err
    code, _, err = command(*run, "browsing=rbp", "browsing.patience=0.8", f"output={tmp_path / 'out'}")
    assert code == 0, err


def test_a_model_on_another_collection(command: Run, world: Path, tmp_path: Path) -> None:
    model, other = tmp_path / "model", write_world(tmp_path / "other", seed=1)
    assert command(*training(world, model))[0] == 0
    code, _, err = command("run", *source(other, f"method.model={model}", "samples=2"), f"output={tmp_path / 'out'}")
    assert code == 0, err
    path = other / "docs.jsonl"
    path.write_text(path.read_text().replace('"year"', '"age"'))
    code, _, err = command("run", *source(other, f"method.model={model}", "samples=2"), f"output={tmp_path / 'out'}")
    assert code == 2
    assert "found features without document.year" in err


def test_features_that_define_the_groups_raise_the_tier(command: Run, world: Path, tmp_path: Path) -> None:
    folder = write_world(tmp_path / "authors")
    docs = [
        json.loads(line) | {"author_ids": [f"u{number % 7}"]}
        for number, line in enumerate((folder / "docs.jsonl").read_text().splitlines())
    ]
    (folder / "docs.jsonl").write_text("".join(json.dumps(doc) + "\n" for doc in docs))
    (folder / "authors.csv").write_text("author_id,papers\n" + "".join(f"u{n},{n}\n" for n in range(7)))
    groups = ("groups=author_field", "groups.attribute=busy", "groups.field=papers", "groups.at_least=3")
    families = ("features.families=[first_stage,authors]", *groups)
    for exclude, tier in (("[]", "given_groups"), ("['author.papers*']", "metadata")):
        output = tmp_path / f"model {tier}"
        code, _, err = command(*training(folder, output, *families, f"features.exclude={exclude}"))
        assert code == 0, err
        assert json.loads((output / "measures.json").read_text())["tier"] == tier


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("objective.fairness_weight=-1",), "objective.fairness_weight: found -1"),
        (("objective.fairness_weight=0.1", "groups=none"), "groups: found the attributes none; expected one"),
        (("objective.unfairness=both", "objective.fairness_weight=1"), "objective.unfairness"),
        (("validation.folds=1",), "validation.folds: found 1"),
        (("validation=null",), "validation: found None; expected its options"),
        (("validation.folds=99",), "at most as many folds as topics"),
        (("validation.monitor=nDGC@10",), "validation.monitor"),
        (("validation.path=elsewhere", "collection=generated"), "validation.path"),
        (("objective=lambdarnk",), "objective"),
        (("model.epoch=3",), "model.epoch"),
        (("features.families=[bm26]",), "features.families"),
    ],
)
def test_what_is_refused(command: Run, world: Path, tmp_path: Path, words: tuple[str, ...], said: str) -> None:
    given = list(training(world, tmp_path / "out", *words))
    if "collection=generated" in words:
        given = ["train", *words, f"output={tmp_path / 'out'}"]
        said = "validation.path: found elsewhere; expected null"
    code, _, err = command(*given)
    assert code in (1, 2), err
    assert said in err


def test_no_query_can_be_learnt_from(command: Run, tmp_path: Path) -> None:
    folder = write_world(tmp_path / "world")
    (folder / "first.run").write_text("q1 Q0 q1.0 1 1.0 first\n")
    (folder / "qrels.txt").write_text("q2 0 q2.0 1\n")
    code, _, err = command(*training(folder, tmp_path / "out"))
    assert code == 1
    assert "24 queries, 1 with candidates, 1 with judgments" in err


@pytest.mark.slow
@pytest.mark.parametrize("model", ["model=mlp model.epochs=400", "model=lightgbm model.iterations=600"])
def test_a_killed_job_ends_with_the_same_bits(world: Path, tmp_path: Path, model: str) -> None:
    environment = os.environ | {"FAIR_RERANK_CACHE": str(tmp_path / "cache")}
    patience = "model.patience=null"

    def start(output: Path) -> subprocess.Popen[bytes]:
        kind, length = model.split()
        words = training(world, output, kind, patience, "validation.folds=2", epochs=length)
        run = [sys.executable, "-m", "rerankers", *words]
        return subprocess.Popen(run, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    killed = start(tmp_path / "killed")
    deadline = time.monotonic() + 120
    while not _checkpoints(tmp_path / "cache") and time.monotonic() < deadline and killed.poll() is None:
        time.sleep(0.02)
    time.sleep(0.2)
    killed.send_signal(signal.SIGKILL)
    assert killed.wait() == -signal.SIGKILL
    assert not (tmp_path / "killed" / "model.yaml").exists()
    assert _checkpoints(tmp_path / "cache")
    again = start(tmp_path / "killed")
    assert again.wait() == 0
    environment["FAIR_RERANK_CACHE"] = str(tmp_path / "other cache")
    whole = start(tmp_path / "whole")
    assert whole.wait() == 0
    cards = [yaml.safe_load((tmp_path / name / "model.yaml").read_text()) for name in ("killed", "whole")]
    assert cards[0] == cards[1]  # the fingerprints of all other files are in it
    assert not _checkpoints(tmp_path / "cache"), "a finished job leaves no checkpoints"


def _checkpoints(cache: Path) -> list[Path]:
    return [path for path in (cache / "checkpoints-1").glob("*/*/*") if path.is_file()]


def test_lambda_sweep_is_a_multirun(command: Run, world: Path, tmp_path: Path) -> None:
    weights: list[Any] = [0.0, 5.0]
    words = training(
        world, tmp_path / "sweep", "objective=pl_utility", "--multirun", "objective.fairness_weight=0.0,5.0"
    )
    code, _, err = command(*words)
    assert code == 0, err
    scores = []
    for number, weight in enumerate(weights):
        folder = tmp_path / "sweep" / str(number)
        assert yaml.safe_load((folder / "config.yaml").read_text())["objective"]["fairness_weight"] == weight
        scores.append(np.array(pq.read_table(folder / "validation.parquet")["score"]))
    assert not np.array_equal(*scores)


def letor(path: Path, draw: np.random.Generator, queries: int = 8) -> Path:
    """Write queries without text: what makes them known is their features."""
    lines = [
        f"{int(draw.random() < 0.4)} qid:{query} 1:{draw.random()} 2:{draw.random()}"
        for query in range(queries)
        for _ in range(5)
    ]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + "\n")
    return path


def of_letor(path: Path, *more: str) -> list[str]:
    given = ("collection=letor", f"collection.path={path}", "retriever=candidates", "retriever.by=none", "groups=none")
    return [*given, "measures.resamples=20", *more]


LINEAR = ("model=linear", "model.epochs=2", "objective=binary")


def test_queries_without_text_are_known_by_their_features(command: Run, tmp_path: Path) -> None:
    draw = np.random.default_rng(0)
    path, model = letor(tmp_path / "d.txt", draw), tmp_path / "model"
    assert command("train", *of_letor(path, *LINEAR, "validation.folds=0"), f"output={model}")[0] == 0
    lines = path.read_text().splitlines()
    other = tmp_path / "renamed.txt"
    other.write_text("\n".join(line.replace("qid:3", "qid:77") for line in reversed(lines[5:])) + "\n")
    code, _, err = command("run", *of_letor(other, f"method.model={model}", "samples=1"), f"output={tmp_path / 'out'}")
    assert code == 2
    assert "7 of the 7 queries were trained on" in err
    new = letor(tmp_path / "new.txt", draw)
    code, _, err = command("run", *of_letor(new, f"method.model={model}", "samples=1"), f"output={tmp_path / 'out'}")
    assert code == 0, err


def test_early_stopping_must_not_look_at_training_queries(command: Run, tmp_path: Path) -> None:
    draw = np.random.default_rng(1)
    folder = tmp_path / "folder"
    path = letor(folder / "train.txt", draw)
    (folder / "vali.txt").write_text("\n".join(path.read_text().splitlines()[:10]) + "\n")
    words = of_letor(folder, *LINEAR, "collection.split=train", "validation.split=vali", "validation.folds=0")
    code, _, err = command("train", *words, f"output={tmp_path / 'out'}")
    assert code == 2
    assert "found 2 training queries among the 2 that early stopping looks at" in err
    letor(folder / "vali.txt", draw, 3)
    code, _, err = command("train", *words, f"output={tmp_path / 'out'}")
    assert code == 0, err


def test_another_model_in_the_folder_leaves_nothing(command: Run, tmp_path: Path) -> None:
    path = letor(tmp_path / "d.txt", np.random.default_rng(2))
    output = tmp_path / "model"
    assert command("train", *of_letor(path, *LINEAR, "validation.folds=2"), f"output={output}")[0] == 0
    (output / "mine.txt").write_text("of the user")
    assert (output / "fold-1").is_dir()
    assert (output / "relevance.json").is_file()
    assert command("train", *of_letor(path, *LINEAR, "validation.folds=0"), f"output={output}")[0] == 0
    assert not list(output.glob("fold-*"))
    assert not (output / "relevance.json").exists()
    assert (output / "mine.txt").read_text() == "of the user"


def test_a_feature_number_that_nobody_has(command: Run, tmp_path: Path) -> None:
    path = letor(tmp_path / "d.txt", np.random.default_rng(3))
    path.write_text(path.read_text().replace(" 2:", " 2000000000:", 1))
    code, _, err = command("train", *of_letor(path, *LINEAR), f"output={tmp_path / 'out'}")
    assert code == 1
    assert "a feature number of 2,000,000,000; expected at most 10,000" in err


def test_help(command: Run) -> None:
    code, out, err = command("train", "--help")
    assert code == 0, err
    assert "objective.fairness_weight" in out
    assert "fair-rerank run method.model=model" in out
