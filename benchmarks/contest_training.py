"""Training on expected exposure: exact gradients against PL-Rank-3 with a thousand draws, as loss against seconds.

``python benchmarks/contest_training.py --curves FILE`` writes the curves; in ``benchmarks/run.py`` it is a contest like
the others. The data are read from the folder of FAIR_RERANK_SHARED, or from ``shared`` beside the checkout.
"""

# ruff: noqa: E402  (the number of threads must be set before numpy is imported)

from __future__ import annotations

import argparse
import csv
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from time import process_time

for variable in ("OMP", "MKL", "OPENBLAS", "NUMBA"):
    os.environ.setdefault(f"{variable}_NUM_THREADS", "1")

import numpy as np
from _numpy_peers import pl_rank_3
from _peers import Peers
from _settings import Settings
from _timing import NotRun, Result, Seconds

from rerankers._base.streams import generator
from rerankers.exposure import RBP
from rerankers.exposure.closed_form.plackett_luce import plackett_luce_exposure
from rerankers.exposure.rows import row_sums
from rerankers.exposure.targets import equal_exposure
from rerankers.learning.neural import MLP, Linear, Training
from rerankers.learning.objectives.base import Bound, Loss, Objective
from rerankers.learning.objectives.exact_exposure import ExactExposure
from rerankers.learning.rows import LearningRows

BROWSING = RBP(0.9)
DRAWS, DEMANDED, EPOCHS = 1000, 3.0, 25
SCORERS: dict[str, Training] = {
    "linear": Linear(learning_rate=0.003, epochs=EPOCHS, patience=None, device="cpu"),
    "mlp": MLP(learning_rate=0.001, epochs=EPOCHS, patience=None, device="cpu"),
}
SHARED = Path(os.environ.get("FAIR_RERANK_SHARED", Path(__file__).resolve().parents[2] / "shared"))
LEVELS = (0.5, 0.9, 1.0)  # shares of the fall of the loss that times are taken at


@dataclass(frozen=True, slots=True)
class NumpyPLRank3:
    """The same loss by PL-Rank-3 in numpy, from `_numpy_peers`; derivatives by exposure are exact, for nothing."""

    seed: int

    def bind(self, rows: LearningRows, seed: int = 0) -> Bound:
        """Return the loss of rows; its draws differ from call to call."""
        model = BROWSING.bind(rows.grade, rows.indptr)
        target, random = equal_exposure(rows.indptr, rows.grade, model), generator(seed, "numpy", self.seed)

        def loss(scores: np.ndarray, step: int = 0) -> Loss:
            gap = plackett_luce_exposure(rows.indptr, scores, model) - target
            slope = np.empty(len(scores))
            for row in range(len(rows)):
                place = rows.over.row(row)
                position = BROWSING.patience ** np.arange(place.stop - place.start)
                slope[place] = pl_rank_3(position, 2 * gap[place], scores[place], DRAWS, random)
            return Loss(row_sums(gap * gap, rows.indptr), slope, np.ones(len(slope)))

        return loss


@dataclass(slots=True)
class Course:
    """A training run: seconds and validation loss of every epoch, what validation took left out.

    Seconds are those of the processor: one thread computes, and a busy machine does not count.

    Attributes
    ----------
    seconds, losses
        one number an epoch, and in front what there was before the first: 0 seconds and the loss of the start.
    """

    seconds: list[float] = field(default_factory=list)
    losses: list[float] = field(default_factory=list)

    def reached(self, level: float) -> float:
        """Return the seconds to the first epoch whose loss is at most ``level``; infinity if there is none."""
        return next((s for s, loss in zip(self.seconds, self.losses, strict=True) if loss <= level), float("inf"))


@dataclass(frozen=True, slots=True)
class OnTraining:
    """An objective that costs nothing on the validation rows, where the monitor looks instead."""

    inner: Objective
    valid: LearningRows

    def bind(self, rows: LearningRows, seed: int = 0) -> Bound:
        """Return the loss of training rows, and nothing for the validation rows."""
        if rows.qids != self.valid.qids:
            return self.inner.bind(rows, seed)
        nothing = Loss(np.zeros(len(rows)), np.zeros(rows.over.nnz), np.zeros(rows.over.nnz))
        return lambda scores, step=0: nothing


def train(spec: Training, objective: Objective, train: LearningRows, valid: LearningRows, seed: int) -> Course:
    """Train once, and return the course: the same weights to start from and the same batches for every objective."""
    exact = ExactExposure(browsing=BROWSING).bind(valid)
    course, aside = Course([0.0], [float(exact(np.zeros(valid.over.nnz)).value.mean())]), [0.0]

    def monitor(scores: np.ndarray) -> float:
        now = process_time()
        course.seconds.append(now - begin - aside[0])
        course.losses.append(float(exact(scores).value.mean()))
        aside[0] += process_time() - now
        return course.losses[-1]

    begin = process_time()
    spec.fit(train, OnTraining(objective, valid), valid=valid, monitor=monitor, seed=seed)
    return course


def results(settings: Settings, keep: Callable[..., None] = lambda *facts: None) -> Iterator[Result | NotRun]:
    """Hold the contest on both data sets; ``keep(data, scorer, gradient, course)`` is given every course."""
    numpy_peer = "PL-Rank-3 in numpy, written for the comparison, exact derivatives by exposure for nothing"
    ours, fewer = "exact", (10, 100)
    for name, load in DATA.items():
        try:
            data = load(settings.generator("training", name))
        except FileNotFoundError as error:
            yield NotRun(f"training on {name}", f"no {Path(str(error.filename)).name}; set FAIR_RERANK_SHARED")
            continue
        for scorer, spec in SCORERS.items():
            gradients: dict[str, Objective] = {ours: ExactExposure(browsing=BROWSING)}
            for draws in (*fewer, DRAWS):
                estimated = ExactExposure(browsing=BROWSING, gradient="pl_rank_3", draws=draws)
                gradients[f"PL-Rank-3 of this package, {draws:,} full rankings a query and step"] = estimated
            gradients[f"{numpy_peer}, {DRAWS:,} full rankings"] = NumpyPLRank3(settings.seed)
            courses: dict[str, Course] = {}
            for label, objective in gradients.items():
                warm = Linear(epochs=1, device="cpu")  # what is compiled once is not counted
                train(warm, objective, data[0].take(np.arange(2)), data[1].take(np.arange(2)), settings.seed)
                courses[label] = train(spec, objective, *data, settings.seed)
                keep(name, scorer, label, courses[label])
            for label in [label for label in courses if label != ours]:
                yield _compared(f"{name}, {scorer}", courses[ours], courses[label], label)


def _compared(where: str, ours: Course, peer: Course, label: str) -> Result | NotRun:
    """Compare the seconds to the best validation loss that both reach."""
    start, level = ours.losses[0], max(min(ours.losses), min(peer.losses))
    if level >= start:
        return NotRun(
            f"training on {where} against {label}", "the validation loss did not fall below that of the start"
        )
    levels = [start - share * (start - level) for share in LEVELS]
    ratios = ", ".join(
        f"{peer.reached(at) / ours.reached(at):.3g} at {share:.0%}" for share, at in zip(LEVELS, levels, strict=True)
    )
    return Result(
        f"training to equal validation EE-L, {where}, RBP(.9)",
        Seconds((ours.reached(level),)),
        Seconds((peer.reached(level),)),
        label,
        DEMANDED if f" {DRAWS:,} " in label else None,
        f"EE-L from {start:.5f} to {level:.5f}; best of ours {min(ours.losses):.5f}, of the peer "
        f"{min(peer.losses):.5f}; times by share of the fall: {ratios}; one run, "
        f"{ours.seconds[-1] / (len(ours.seconds) - 1) * 1e3:.3g} against "
        f"{peer.seconds[-1] / (len(peer.seconds) - 1) * 1e3:.3g} ms an epoch",
    )


def lambdarank(random: np.random.Generator) -> tuple[LearningRows, LearningRows]:
    """Return LightGBM's example for ranking: its training queries, and its test queries for validation."""
    folder = SHARED / "data" / "lambdarank-example"
    train, valid = (_svmlight(folder / f"rank.{part}", part) for part in ("train", "test"))
    return train, valid


def _svmlight(path: Path, part: str) -> LearningRows:
    sizes = np.loadtxt(path.with_name(path.name + ".query"), dtype=np.int64)
    lines = [line.split() for line in path.read_text().splitlines()]
    features = np.zeros((len(lines), 301))
    for pair, (_, *entries) in enumerate(lines):
        for column, value in (entry.split(":") for entry in entries):
            features[pair, int(column)] = float(value)
    grade = np.array([float(line[0]) for line in lines])
    qids = [f"{part}{number}" for number in range(len(sizes))]
    return LearningRows.of(np.concatenate([[0], np.cumsum(sizes)]), features, grade, qids=qids)


def trec_2020(random: np.random.Generator) -> tuple[LearningRows, LearningRows]:
    """Return the training queries of TREC Fair Ranking 2020, a quarter of them for validation."""
    with (SHARED / "data" / "trec-fair-2020" / "feature_matrix_sayed_train.csv").open(newline="") as stream:
        records = list(csv.DictReader(stream))
    records.sort(key=lambda record: int(record["qid"]))
    names = [name for name in records[0] if name not in ("sid", "q_num", "qid", "doc_id", "relevance")]
    features = np.array([[float(record[name] or "nan") for name in names] for record in records])
    grade = np.array([float(record["relevance"]) for record in records])
    qids, sizes = np.unique([int(record["qid"]) for record in records], return_counts=True)
    bounds = np.concatenate([[0], np.cumsum(sizes)])
    rows = LearningRows.of(bounds, features, grade, qids=[str(qid) for qid in qids], names=names)
    order = random.permutation(len(rows))
    held = len(rows) // 4
    return rows.take(np.sort(order[held:])), rows.take(np.sort(order[:held]))


DATA = {"lambdarank example": lambdarank, "TREC Fair 2020": trec_2020}


def main() -> int:
    """Hold this contest alone, write its curves, and return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--curves", type=Path, metavar="FILE", help="write data, scorer, gradient, seconds, loss as CSV"
    )
    parser.add_argument("--seed", type=int, default=0, help="of weights, batches, draws and the split (0)")
    options = parser.parse_args()
    lines: list[list[object]] = []

    def keep(data: str, scorer: str, gradient: str, course: Course) -> None:
        for epoch, (seconds, loss) in enumerate(zip(course.seconds, course.losses, strict=True)):
            lines.append([data, scorer, gradient, epoch, f"{seconds:.4f}", f"{loss:.8f}"])

    missed = False
    for found in results(Settings(Peers(None), 1, options.seed), keep):
        if isinstance(found, NotRun):
            print(f"{found.contest}: not run, {found.reason}")
            continue
        missed |= found.missed
        print(f"{found.contest}: {found.ratio:.3g} times {found.verdict}\n  {found.peer_name}\n  {found.notes}")
    if options.curves is not None:
        with options.curves.open("w", newline="", encoding="utf-8") as stream:
            csv.writer(stream).writerows([["data", "scorer", "gradient", "epoch", "seconds", "validation_EEL"], *lines])
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
