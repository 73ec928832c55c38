"""Checkpoints: a fit that was killed ends with the bits of one that was not; damaged ones never change a bit."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from neural_cases import Net, rows

from rerankers._base.errors import ConfigError
from rerankers.learning.learner import Fitted, Point
from rerankers.learning.neural import MLP, Attention, Linear, Training

ROWS, HELD = rows(), rows(seed=1)
SPECS = {
    "adam": MLP(epochs=6, hidden=[4], dropout=0.3),
    "sgd": Linear(epochs=6, optimizer="sgd", schedule="cosine", clip=0.05),
    "adamw": Attention(epochs=5, width=4, feed_forward=3, optimizer="adamw", weight_decay=0.1, dtype="float32"),
    "lbfgs": Linear(epochs=6, optimizer="lbfgs", queries_per_batch=None),
}


class StopError(Exception):
    pass


def fit(spec: Training, folder: Path | None = None, stop: int = 0, **options: object) -> Fitted:
    def progress(point: Point) -> None:
        if point.iteration == stop:
            raise StopError

    return spec.fit(ROWS, Net(noise=0.1), seed=5, checkpoint=folder, progress=progress, **options)


def same(one: Fitted, two: Fitted) -> None:
    np.testing.assert_array_equal(*(x.scorer.score(HELD.features, HELD.indptr) for x in (one, two)))
    weights = [x.scorer.network.state_dict() for x in (one, two)]
    assert all(np.array_equal(weights[0][name].numpy(), weights[1][name].numpy()) for name in weights[0])
    assert [point.values for point in one.curve] == [point.values for point in two.curve]
    assert one.iterations == two.iterations


@pytest.mark.parametrize("name", SPECS)
@pytest.mark.parametrize(("every", "held"), [(1, False), (2, True)])
def test_a_fit_that_was_stopped_ends_with_the_same_bits(name: str, every: int, held: bool, tmp_path: Path) -> None:
    spec = replace(SPECS[name], checkpoint_every=every)
    options = {"valid": HELD} if held else {}
    whole = fit(spec, **options)
    for stop in (2, 4):
        with pytest.raises(StopError):
            fit(spec, tmp_path, stop=stop, **options)
    resumed = fit(spec, tmp_path, **options)
    same(whole, resumed)
    assert resumed.counts.get("checkpoints_damaged", 0) == 0
    assert all(one.seconds < two.seconds for one, two in zip(resumed.curve, resumed.curve[1:], strict=False))
    same(whole, fit(spec, tmp_path, stop=1, **options))  # it was done: nothing is measured again
    assert len(list(tmp_path.iterdir())) == 4


def test_a_stalled_fit_stays_stopped(tmp_path: Path) -> None:
    spec = Linear(epochs=50, patience=2)
    options = {"valid": HELD, "monitor": lambda scores: 1.0}
    one = fit(spec, tmp_path, **options)
    assert (one.iterations, len(one.curve)) == (1, 3)
    same(one, fit(spec, tmp_path, **options))


def damage(path: Path, how: str) -> None:
    data = path.read_bytes()
    if how == "gone":
        path.unlink()
    elif how == "cut":
        path.write_bytes(data[: len(data) // 2])
    elif how == "empty":
        path.write_bytes(b"")
    else:
        place = len(data) - 2 if how == "late" else len(data) // 2
        path.write_bytes(data[:place] + bytes([data[place] ^ 4]) + data[place + 1 :])


@pytest.mark.parametrize(
    ("how", "ending"),
    [*product(("cut", "empty", "late", "middle"), (".json", ".safetensors")), ("gone", ".safetensors")],
)
def test_damaged_checkpoints_are_passed_over_and_counted(how: str, ending: str, tmp_path: Path) -> None:
    spec = SPECS["adam"]
    whole = fit(spec)
    with pytest.raises(StopError):
        fit(spec, tmp_path, stop=5)
    newer = max(tmp_path.glob(f"*{ending}"))
    damage(newer, how)
    (tmp_path / f".{'0' * 32}.epoch-00000009.json").write_text("half of")
    found = fit(spec, tmp_path)
    same(whole, found)
    assert found.counts["checkpoints_damaged"] == 1
    assert not list(tmp_path.glob(".*"))
    for path in tmp_path.glob(f"*{ending}"):
        damage(path, how)
    found = fit(spec, tmp_path)
    same(whole, found)
    assert found.counts["checkpoints_damaged"] == 2


def test_checkpoints_of_another_fit_are_refused(tmp_path: Path) -> None:
    spec = SPECS["sgd"]
    fit(spec, tmp_path)
    others = (
        lambda: fit(replace(spec, clip=0.06), tmp_path),
        lambda: fit(spec, tmp_path, valid=HELD),
        lambda: spec.fit(ROWS, Net(noise=0.1), seed=6, checkpoint=tmp_path),
        lambda: spec.fit(ROWS, Net(noise=0.2), seed=5, checkpoint=tmp_path),
        lambda: spec.fit(HELD, Net(noise=0.1), seed=5, checkpoint=tmp_path),
    )
    for other in others:
        with pytest.raises(ConfigError, match="found checkpoints of another fit"):
            other()


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("")
    with pytest.raises(ConfigError, match="cannot be written"):
        fit(SPECS["sgd"], path)


EPOCHS = 60


def long_fit(folder: Path | None) -> Fitted:
    """What the process that is killed does; it tells each epoch."""
    spec = replace(SPECS["adam"], epochs=EPOCHS, patience=None)
    tell = None if folder is None else lambda point: print(point.iteration, flush=True)
    return spec.fit(ROWS, Net(noise=0.1), seed=5, valid=HELD, checkpoint=folder, progress=tell)


SCRIPT = """
import sys
sys.path.insert(0, sys.argv[1])
from pathlib import Path
from test_neural_checkpoints import long_fit
long_fit(Path(sys.argv[2]))
"""


@pytest.mark.slow
def test_kill_at_any_moment_gives_the_same_bits(tmp_path: Path) -> None:
    """SIGKILL at a random moment of a process, another one each time; then what is left is gone on with."""
    words = [sys.executable, "-c", SCRIPT, str(Path(__file__).parent), str(tmp_path)]
    rng = np.random.default_rng(int.from_bytes(os.urandom(4)))
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        first = int(process.stdout.readline())
        time.sleep(float(rng.uniform(0.0, 0.2)))
        process.send_signal(signal.SIGKILL)
        rest = process.stdout.read().split()
    assert process.returncode == -signal.SIGKILL
    assert first == 1
    assert len(rest) < EPOCHS - 1
    resumed = long_fit(tmp_path)
    same(long_fit(None), resumed)
    assert resumed.counts.get("checkpoints_damaged", 0) == 0
