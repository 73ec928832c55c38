"""Fifty queries, a hundred rankings each of a hundred judged documents: expected exposure against expeval.

expeval reads the run and the judgments as text. Ours reads the same two files, or the run in its own forms; or the
policy, whose exposure needs no draws. All contenders end with disparity, relevance and difference a query.
"""

from __future__ import annotations

import contextlib
import io
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pyarrow as pa
from _numpy_peers import expeval_values
from _peers import EXPEVAL
from _settings import Settings
from _timing import Result, Work, interleaved

from rerankers._base.streams import query_streams
from rerankers.exposure import GERR
from rerankers.measures import evaluate, parse_many
from rerankers.measures.evaluation import Evaluation, Options
from rerankers.measures.table import measure_block
from rerankers.policies import PlackettLuce, zscore
from rerankers.runs import read_policy, write_policy, write_run
from rerankers.values import Ids, Judgments, Ragged
from rerankers.values.qrels import read_qrels

QUERIES, DRAWS, DOCUMENTS = 50, 100, 100
MEASURES = "EED EER EEL"
PATIENCE = UTILITY = 0.5


@dataclass(frozen=True, slots=True)
class World:
    """A policy with its draws and judgments, in memory and in a folder."""

    policy: PlackettLuce
    judgments: Judgments
    qids: tuple[str, ...]
    docs: Ids
    folder: Path

    def path(self, name: str) -> Path:
        """Return the path of one of the files."""
        return self.folder / name

    @property
    def qrels(self) -> Path:
        """The judgments as text."""
        return self.folder / "qrels.txt"


def results(settings: Settings) -> Iterator[Result]:
    """Hold each of our ways against the published code where it is at hand, else against the same in Python."""
    with tempfile.TemporaryDirectory() as folder:
        world = make_world(settings.generator("evaluation"), Path(folder))
        peer_name, peer = "the same in plain Python, written for the comparison", _plain(world)
        if settings.peers.has(EXPEVAL):
            peer_name, peer = settings.peers.label(EXPEVAL) + ", called in process", _published(settings, world)
        check = expeval_values(world.qrels, world.path("run.trec"), PATIENCE, UTILITY)
        if settings.peers.has(EXPEVAL):
            _same_as_printed(check, str(peer()))
        ways = _ways(world)
        theirs, *ours = interleaved([peer, *(way for way, _, _ in ways.values())], settings.repetitions)
        for (name, (way, demanded, drawn)), mine in zip(ways.items(), ours, strict=True):
            yield Result(
                f"{QUERIES} queries x {DRAWS} draws x {DOCUMENTS} documents, {name}",
                mine,
                theirs,
                peer_name,
                demanded,
                _agreement(way(), check, drawn),
            )


def make_world(
    rng: np.random.Generator, folder: Path, queries: int = QUERIES, draws: int = DRAWS, documents: int = DOCUMENTS
) -> World:
    """Draw scores and grades, and write the run, the policy and the judgments in every form."""
    qids = tuple(f"q{number}" for number in range(queries))
    docs = Ids.of([f"doc-{number:06d}" for number in range(queries * documents)], "docno")
    over = Ragged(
        np.arange(queries, dtype=np.int32),
        np.arange(queries + 1, dtype=np.int64) * documents,
        np.arange(queries * documents, dtype=np.int32),
    )
    grade = rng.choice(np.array([0, 1, 2], dtype=np.int16), size=over.nnz, p=(0.85, 0.1, 0.05))
    logit = zscore(over.indptr, rng.normal(size=over.nnz) + grade)
    policy = PlackettLuce(over, logit, query_streams(qids))
    judgments = Judgments(over.query, over.indptr, over.doc, {"grade": grade})
    world = World(policy, judgments, qids, docs, folder)
    rankings = policy.sample(draws, seed=0)
    for name in ("run.trec", "run.parquet", "run.arrow"):
        write_run(world.path(name), rankings, qids, docs)
    write_policy(world.path("policy.parquet"), policy, qids, docs, seed=0, samples=draws)
    names = zip(np.repeat(qids, documents), docs.take(over.doc), grade, strict=True)
    world.qrels.write_text("".join(f"{qid} 0 {docno} {value}\n" for qid, docno, value in names))
    return world


def _ways(world: World) -> dict[str, tuple[Callable[[], pa.Table], float, bool]]:
    """Return name -> (our way, the ratio demanded, whether it judges the very draws that the peer does)."""

    def file(name: str) -> Callable[[], pa.Table]:
        return lambda: evaluate(world.path(name), world.qrels, browsing=GERR(PATIENCE, UTILITY), measures=MEASURES)

    return {
        "from the policy in memory": (lambda: _of_policy(world.policy, world.judgments, world.qids), 200.0, False),
        "from the policy's file": (lambda: _of_policy_file(world), 200.0, False),
        "from an Arrow IPC file": (file("run.arrow"), 200.0, True),
        "from run.parquet": (file("run.parquet"), 100.0, True),
        "from text, fully validated": (file("run.trec"), 8.0, True),
    }


def _of_policy(policy: PlackettLuce, judgments: Judgments, qids: tuple[str, ...]) -> pa.Table:
    evaluation = Evaluation(policy, judgments, {}, Options(browsing=GERR(PATIENCE, UTILITY)))
    return measure_block(evaluation, parse_many(MEASURES), qids, "policy")


def _of_policy_file(world: World) -> pa.Table:
    stored, judged = read_policy(world.path("policy.parquet")), read_qrels(world.qrels)
    docs = Ids.union(stored.docs, judged.docno)
    judgments, _ = judged.bind(Ids.of(stored.qids, "query id"), docs)
    over = stored.policy.over.recode(stored.docs.recoder(docs))
    return _of_policy(replace(stored.policy, over=over), judgments, stored.qids)


def _plain(world: World) -> Work:
    return lambda: expeval_values(world.qrels, world.path("run.trec"), PATIENCE, UTILITY)


def _published(settings: Settings, world: World) -> Work:
    """Return a call of the published command's main function; starting Python is not counted."""
    (module,) = settings.peers.load(EXPEVAL, "expeval")
    words = ["expeval", "-C", "-U", "-u", "gerr", "-p", str(PATIENCE), "-r", str(UTILITY)]

    def work() -> str:
        told, sys.argv = sys.argv, [*words, str(world.qrels), str(world.path("run.trec"))]
        printed = io.StringIO()
        try:
            with contextlib.redirect_stdout(printed):
                module.main()
        finally:
            sys.argv = told
        return printed.getvalue()

    return work


def _agreement(table: pa.Table, check: dict[str, tuple[float, float, float]], drawn: bool) -> str:
    """Say how far our values are from the peer's, which are plug-in values of the draws.

    Raises
    ------
    AssertionError
        when values of the same draws are not the same.
    """
    rows = zip(*(table[column].to_pylist() for column in ("unit", "measure", "value")), strict=True)
    found = {(unit, measure): value for unit, measure, value in rows}
    order = ("EED", "EER", "EEL")
    apart = {
        name: max(abs(found[qid, name] - values[place]) for qid, values in check.items())
        for place, name in enumerate(order)
    }
    if drawn:
        assert max(apart.values()) < 1e-9, apart
        return f"values equal to the peer's within {max(apart.values()):.0e}"
    bias = np.mean([check[qid][0] - found[qid, "EED"] for qid in check])
    return (
        "exact exposure instead of draws; the draws' EED is larger by "
        f"{bias:.4f} on the mean (plug-in bias), EER differs by at most {apart['EER']:.3f}"
    )


def _same_as_printed(check: dict[str, tuple[float, float, float]], printed: str) -> None:
    """Raise `AssertionError` unless the published command printed these values: six decimals, a line a value."""
    place = {"disparity": 0, "relevance": 1, "difference": 2}
    lines = [line.split("\t") for line in printed.splitlines()]
    assert len(lines) == len(place) * len(check)
    assert all(abs(check[qid][place[name]] - float(value)) < 1e-6 for name, qid, value in lines)
