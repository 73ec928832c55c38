"""``fit=``: options chosen on the training queries, which are all that choosing looks at."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.cli.test_train_command import write_world

QUICK = ("samples=5", "measures.resamples=50")


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a jsonl collection with a first-stage run."""
    folder = tmp_path_factory.mktemp("fit") / "world"
    write_world(folder, seed=3)
    return folder


def fit_words(world: Path, output: Path, *more: str) -> list[str]:
    return [
        *("run", "collection=jsonl", f"collection.path={world}", "collection.split=eval"),
        *("retriever=run_file", f"retriever.run={world}/first.run", f"output={output}", *QUICK, *more),
    ]


def rows(output: Path) -> list[dict[str, str]]:
    return list(csv.DictReader((output / "fit.csv").read_text().splitlines()))


@pytest.mark.slow
def test_the_chosen_value_is_the_best_of_a_sweep_on_training_queries(command: Run, world: Path, tmp_path: Path) -> None:
    values = [0.3, 1.0, 3.0]
    words = ["groups=none", "fit=grid", f"fit.options={{temperature:{values}}}".replace(" ", "")]
    code, out, err = command(*fit_words(world, tmp_path / "fitted", *words))
    assert code == 0, err
    assert "fitted: method.temperature=" in out
    assert "among 3 tried" in out
    losses = []
    for value in values:
        train = [*fit_words(world, tmp_path / f"t{value}", "groups=none", f"method.temperature={value}")]
        train[3] = "collection.split=train"
        assert command(*train)[0] == 0
        found = json.loads((tmp_path / f"t{value}" / "measures.json").read_text())
        losses.append(found["runs"]["plackett_luce"]["mean"]["EEL"])
    tried = rows(tmp_path / "fitted")
    assert [float(row["EEL"]) for row in tried] == pytest.approx(losses, abs=1e-12)
    kept = [float(row["temperature"]) for row in tried if row["kept"] == "1"]
    assert kept == [values[losses.index(min(losses))]]
    code, _, _ = command(*fit_words(world, tmp_path / "plain", "groups=none", f"method.temperature={kept[0]}"))
    assert (tmp_path / "plain" / "run.parquet").read_bytes() == (tmp_path / "fitted" / "run.parquet").read_bytes()


def test_evaluation_judgments_do_not_choose(command: Run, world: Path, tmp_path: Path) -> None:
    """Grades of the other split turned round: the same value is chosen, from the same numbers."""
    words = ["groups=none", "fit=search", "fit.digits=2"]
    assert command(*fit_words(world, tmp_path / "one", *words))[0] == 0
    ranked = json.loads((tmp_path / "one" / "measures.json").read_text())["runs"]["plackett_luce"]["per_query"]
    other = tmp_path / "other"
    other.mkdir()
    for path in world.iterdir():
        if path.name != "qrels.txt":
            (other / path.name).write_bytes(path.read_bytes())
    lines = []
    for line in (world / "qrels.txt").read_text().splitlines():
        qid, zero, docno, grade = line.split()
        lines.append(f"{qid} {zero} {docno} {1 - int(grade) if qid in ranked else grade}")
    (other / "qrels.txt").write_text("\n".join(lines) + "\n")
    assert command(*fit_words(other, tmp_path / "two", *words))[0] == 0
    assert (tmp_path / "one" / "fit.csv").read_bytes() == (tmp_path / "two" / "fit.csv").read_bytes()
    assert (tmp_path / "one" / "run.parquet").read_bytes() == (tmp_path / "two" / "run.parquet").read_bytes()
    assert (tmp_path / "one" / "measures.csv").read_bytes() != (tmp_path / "two" / "measures.csv").read_bytes()


@pytest.mark.slow
def test_workers_do_not_matter(command: Run, world: Path, tmp_path: Path) -> None:
    words = ["groups=none", "fit=search", "fit.digits=1"]
    assert command(*fit_words(world, tmp_path / "one", *words))[0] == 0
    two = ["execution=joblib", "execution.workers=2", "execution.block=7"]
    assert command(*fit_words(world, tmp_path / "two", *words, *two))[0] == 0
    assert (tmp_path / "one" / "fit.csv").read_bytes() == (tmp_path / "two" / "fit.csv").read_bytes()


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["fit=search", "collection.split=null"], "expected collection.split=eval"),
        (["fit=search", "method=fair_co"], "whose rankings depend on a sequence"),
        (["fit=search", "fit.parameter=heat"], "heat"),
        (["fit=search", "method=uniform"], "temperature"),
        (["fit=search", "fit.measure=utility", "fit.level=9"], "it goes from"),
        (["fit=grid"], "fit.options: found null"),
        (["fit=search", "fit.measure=EED"], "less or more is better"),
    ],
)
def test_what_is_refused(command: Run, world: Path, tmp_path: Path, more: list[str], message: str) -> None:
    code, _, err = command(*fit_words(world, tmp_path / "out", *more))
    assert code in (1, 2)
    assert message in err
    assert not (tmp_path / "out" / "measures.json").exists()
