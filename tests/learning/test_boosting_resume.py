"""Checkpoints of boosted trees: killed at any moment, the same fit ends with the same bits."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from boosting_cases import ByLightGBM, Noisy, Softmax, rows

from rerankers._base.errors import ConfigError
from rerankers.learning.boosting import LightGBM
from rerankers.learning.learner import Fitted, Point

PLAIN = LightGBM(iterations=14, learning_rate=0.2, leaves=6, min_rows=5, checkpoint_every=3, record_every=4)
DRAWN = replace(PLAIN, feature_fraction=0.5, query_fraction=0.6)
FEATURES = replace(PLAIN, feature_fraction=0.5)
CASES = {
    "own": (PLAIN, Softmax()),
    "estimated": (PLAIN, Noisy()),
    "own, drawn": (DRAWN, Softmax()),
    "own, members": (replace(DRAWN, members=2), Noisy()),
    "lambdarank": (PLAIN, ByLightGBM()),
    "binary": (PLAIN, ByLightGBM(parameters={"objective": "binary"})),
    "lambdarank, queries": (replace(PLAIN, query_fraction=0.5), ByLightGBM()),
    "lambdarank, features": (FEATURES, ByLightGBM()),
    "rank_xendcg": (PLAIN, ByLightGBM(parameters={"objective": "rank_xendcg"})),
    "own, drawn at nodes": (replace(PLAIN, parameters={"feature_fraction_bynode": 0.5}), Softmax()),
    "own, extra trees": (replace(PLAIN, parameters={"extra_trees": True}), Softmax()),
}
REPEATED = ("lambdarank, features", "rank_xendcg", "own, drawn at nodes", "own, extra trees")


class StopError(Exception):
    """What ends a fit from outside."""


def fit_once(options: LightGBM, objective: Any, folder: Path | None, **more: Any) -> Fitted:
    return options.fit(rows(1), objective, valid=rows(2), seed=11, checkpoint=folder, **more)


def stop_at(iteration: int, error: type[BaseException] = StopError) -> Any:
    def progress(point: Point) -> None:
        if point.iteration >= iteration:
            raise error

    return progress


def result(fit: Fitted) -> Any:
    return fit.scorer.texts, fit.iterations, [(point.iteration, point.values) for point in fit.curve]


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("stopped", [[4], [1, 9, 13]], ids=str)
def test_a_stopped_fit_ends_with_the_same_bits(case: str, stopped: list[int], tmp_path: Path) -> None:
    options, objective = CASES[case]
    options = replace(options, checkpoint_every=1 if case in ("own, drawn", "binary") else 3)
    expected = fit_once(options, objective, None)
    for iteration in stopped:
        with pytest.raises(StopError):
            fit_once(options, objective, tmp_path, progress=stop_at(iteration))
    fit = fit_once(options, objective, tmp_path)
    assert result(fit) == result(expected)
    assert ("iterations_repeated" in fit.counts) == (case in REPEATED and stopped != [1])
    again = fit_once(options, objective, tmp_path, progress=stop_at(0))
    assert result(again) == result(expected)  # nothing was left to do


def test_an_interruption_leaves_a_checkpoint_of_all_that_was_done(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        fit_once(DRAWN, Softmax(), tmp_path, progress=stop_at(8, KeyboardInterrupt))
    assert [path.name for path in sorted(tmp_path.glob("state-*"))][-1] == "state-00000008.json"
    assert result(fit_once(DRAWN, Softmax(), tmp_path)) == result(fit_once(DRAWN, Softmax(), None))


def test_an_interruption_inside_the_objective_leaves_whole_iterations(tmp_path: Path) -> None:
    class Broken(Softmax):
        def bind(self, given: Any, seed: int = 0) -> Any:
            exact = super().bind(given, seed)

            def loss(scores: Any, step: int = 0) -> Any:
                if step == 5 and marker.exists():
                    raise KeyboardInterrupt
                return exact(scores, step)

            return loss

    marker = tmp_path / "marker"
    marker.touch()
    with pytest.raises(KeyboardInterrupt):
        fit_once(PLAIN, Broken(), tmp_path / "fit")
    assert sorted(path.name for path in (tmp_path / "fit").glob("state-*"))[-1] == "state-00000004.json"
    marker.unlink()
    assert result(fit_once(PLAIN, Broken(), tmp_path / "fit")) == result(fit_once(PLAIN, Softmax(), None))


def test_early_stopping_goes_on_where_it_was(tmp_path: Path) -> None:
    options = replace(PLAIN, iterations=300, patience=6, learning_rate=0.4)
    expected = fit_once(options, Softmax(), None)
    assert expected.iterations < len(expected.curve) < 300
    with pytest.raises(StopError):
        fit_once(options, Softmax(), tmp_path, progress=stop_at(expected.iterations + 4))
    assert result(fit_once(options, Softmax(), tmp_path)) == result(expected)


SCRIPT = """
import sys
import time
from pathlib import Path
from boosting_cases import Softmax, rows
from rerankers.learning.boosting import LightGBM

options = LightGBM(
    iterations=60, learning_rate=0.2, leaves=6, min_rows=5, checkpoint_every=1, record_every=4, patience=None,
    feature_fraction=0.5, query_fraction=0.6,
)

def slowly(point):
    print(point.iteration, flush=True)
    time.sleep(0.003)

options.fit(rows(1), Softmax(), valid=rows(2), seed=11, checkpoint=Path(sys.argv[1]), progress=slowly)
"""


def test_killed_at_any_moment_the_same_fit_ends_with_the_same_bits(tmp_path: Path) -> None:
    options = replace(DRAWN, checkpoint_every=1, iterations=60, patience=None)
    path = os.pathsep.join([str(Path(__file__).parent), *filter(None, sys.path)])
    with subprocess.Popen(
        [sys.executable, "-c", SCRIPT, str(tmp_path)],
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": path},
    ) as process:
        assert process.stdout is not None
        assert [int(process.stdout.readline()) for _ in range(7)] == [1, 2, 3, 4, 5, 6, 7]
        time.sleep(random.random() * 0.02)  # between any two steps of an iteration or of a checkpoint
        process.send_signal(signal.SIGKILL)
    assert process.returncode == -signal.SIGKILL
    left = sorted(tmp_path.glob("state-*"))
    assert left
    assert left[-1].name < "state-00000060.json"
    seen: list[Point] = []
    fit = fit_once(options, Softmax(), tmp_path, progress=seen.append)
    assert result(fit) == result(fit_once(options, Softmax(), None))
    assert seen[0].iteration > 6  # it began where it was killed
    assert "iterations_repeated" not in fit.counts


def spoiled(path: Path, how: str) -> None:
    data = path.read_bytes()
    if how == "cut":
        path.write_bytes(data[: len(data) // 2])
    elif how == "bit":
        middle = len(data) // 2
        path.write_bytes(data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :])
    elif how == "bytes":
        path.write_bytes(b"\\xff\\x00" * 20)
    else:
        path.unlink()


@pytest.mark.parametrize("how", ["cut", "bit", "bytes", "gone"])
@pytest.mark.parametrize("kind", ["state", "trees"])
def test_damaged_checkpoints_are_passed_over_and_counted(how: str, kind: str, tmp_path: Path) -> None:
    options = replace(PLAIN, iterations=8)
    with pytest.raises(StopError):
        fit_once(options, Softmax(), tmp_path, progress=stop_at(7))
    spoiled(sorted(tmp_path.glob(f"{kind}-*"))[-1], how)
    expected = result(fit_once(options, Softmax(), None))
    fit = fit_once(options, Softmax(), tmp_path)
    assert result(fit) == expected
    assert fit.counts.get("checkpoints_damaged", 0) == (0 if (kind, how) == ("state", "gone") else 1)


def test_all_checkpoints_damaged_start_over(tmp_path: Path) -> None:
    fit_once(PLAIN, Softmax(), tmp_path)
    for state in tmp_path.glob("state-*"):
        spoiled(state, "bit")
    fit = fit_once(PLAIN, Softmax(), tmp_path)
    assert fit.counts["checkpoints_damaged"] == 2
    assert result(fit) == result(fit_once(PLAIN, Softmax(), None))


def test_checkpoints_of_another_fit_are_refused(tmp_path: Path) -> None:
    fit_once(PLAIN, Softmax(), tmp_path)
    with pytest.raises(ConfigError, match="checkpoints of another fit"):
        fit_once(PLAIN, Softmax(scale=2.0), tmp_path)


def test_trees_that_come_out_otherwise_are_not_built_upon(tmp_path: Path) -> None:
    """A checkpoint that another machine could have written: whole, but of trees that are not grown here."""
    from rerankers._base.fingerprint import fingerprint

    with pytest.raises(StopError):
        fit_once(PLAIN, Softmax(), tmp_path, progress=stop_at(7))
    state = sorted(tmp_path.glob("state-*"))[-1]
    trees = sorted(tmp_path.glob("trees-*"))[-1]
    text = trees.read_text()
    place = text.rindex("leaf_value=") + len("leaf_value=")
    digit = "1" if text[place + 4] != "1" else "2"
    text = text[: place + 4] + digit + text[place + 5 :]
    trees.write_text(text)
    body = json.loads(state.read_text())
    body.pop("digest")
    body["digests"] = [fingerprint(text)]
    state.write_text(json.dumps({**body, "digest": fingerprint(body)}))
    fit = fit_once(PLAIN, Softmax(), tmp_path)
    assert fit.counts["iterations_repeated"] == 6
    assert result(fit) == result(fit_once(PLAIN, Softmax(), None))


def test_only_two_checkpoints_are_kept(tmp_path: Path) -> None:
    (tmp_path / ".0123.trees-00000001-0.txt").touch()  # what a kill left behind
    fit_once(PLAIN, Softmax(), tmp_path)
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == ["state-00000012.json", "state-00000014.json", "trees-00000012-0.txt", "trees-00000014-0.txt"]


def test_a_folder_that_cannot_be_written_says_so(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ConfigError, match="cannot be written"):
        fit_once(PLAIN, Softmax(), tmp_path / "file")
