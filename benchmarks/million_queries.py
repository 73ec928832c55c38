"""A job of very many queries: ``python benchmarks/million_queries.py FOLDER [--queries N] [--method NAME …]``.

Generates a collection and a run file of N queries with 100 candidates each (3.7 GB of text for a million), reranks
them with 100 draws a query by each method, and prints seconds, processor time and peak memory of all processes
together. What is generated is kept and used again. Memory may be capped from outside (a control group of 4 GB, say):
the peak that is printed counts what processes own, not files that they map.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

import numpy as np
import pyarrow as pa
from _columns import append, joined, numbered, write
from _job import run

CANDIDATES, DOCUMENTS, CHUNK = 100, 200_003, 10_000  # a prime number of documents: strides never meet twice
GROUPS = ("north", "south", "east", "west")
METHODS = ("plackett_luce", "kl_tilt")
OPTIONS = {
    "plackett_luce": ["method=plackett_luce"],
    "kl_tilt": ["method=kl_tilt", "target=uniform", "method.strength=0.5"],
    # An account a query: as many entries in the ledger as pairs.
    "memory": ["method=fair_co", "method.impressions=2", "ledger=memory"],
    "sqlite": ["method=fair_co", "method.impressions=2", "ledger=sqlite"],
}


def main() -> None:
    """Generate, run and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--queries", type=int, default=1_000_000)
    parser.add_argument("--method", nargs="*", choices=list(OPTIONS), default=list(METHODS))
    parser.add_argument("--samples", type=int, default=100)
    parser.add_argument("--workers", type=int, default=2)
    asked = parser.parse_args()
    world = asked.folder / f"world-{asked.queries}"
    if not (world / "first.run").exists():
        generate(world, asked.queries)
    print(f"{asked.queries:,} queries, {CANDIDATES} candidates each, {asked.samples} draws, {asked.workers} workers")
    for method in asked.method:
        print(measured(world, method, asked.samples, asked.workers))


def generate(world: Path, queries: int) -> None:
    """Write documents, groups, queries, judgments and, last, the run."""
    world.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(0)
    docs = numbered("d", np.arange(DOCUMENTS))
    write(world / "docs.jsonl", [joined('{"docno":"', docs, '"}\n')])
    group = pa.array(GROUPS, pa.large_string()).take(pa.array(rng.integers(0, len(GROUPS), DOCUMENTS)))
    write(world / "region_groups.csv", [pa.array(["docno,group\n"], pa.large_string()), joined(docs, ",", group, "\n")])
    chunks = [(start, min(start + CHUNK, queries)) for start in range(0, queries, CHUNK)]
    write(world / "queries.tsv", (joined(numbered("q", np.arange(*chunk)), "\tx\n") for chunk in chunks))
    partial = world / ".first.run"
    with partial.open("wb") as lines, (world / "qrels.txt").open("wb") as qrels:
        for start, stop in chunks:
            candidates, judged = _chunk(docs, start, stop, rng)
            append(lines, candidates)
            append(qrels, judged)
    partial.rename(world / "first.run")


def _chunk(docs: pa.Array, start: int, stop: int, rng: np.random.Generator) -> tuple[pa.Array, pa.Array]:
    """Return the lines of the run and of the judgments of some queries: a tenth of the candidates is relevant."""
    shape = (stop - start, CANDIDATES)
    first, stride = rng.integers(0, DOCUMENTS, (shape[0], 1)), rng.integers(1, DOCUMENTS, (shape[0], 1))
    doc = ((first + stride * np.arange(CANDIDATES)) % DOCUMENTS).ravel()
    score = np.round(np.sort(rng.normal(size=shape), axis=1)[:, ::-1], 4).ravel()
    qid = numbered("q", np.arange(start, stop)).take(pa.array(np.repeat(np.arange(shape[0]), CANDIDATES)))
    docno = docs.take(pa.array(doc))
    rank = pa.array(np.tile(np.arange(1, CANDIDATES + 1), shape[0])).cast(pa.large_string())
    lines = joined(qid, " Q0 ", docno, " ", rank, " ", pa.array(score).cast(pa.large_string()), " first\n")
    relevant = rng.random(doc.size) < 0.1
    judged = np.flatnonzero(relevant | (rng.random(doc.size) < 0.2))
    grade = pa.array(relevant[judged].astype(np.int8)).cast(pa.large_string())
    return lines, joined(qid.take(pa.array(judged)), " 0 ", docno.take(pa.array(judged)), " ", grade, "\n")


def measured(world: Path, method: str, samples: int, workers: int) -> str:
    """Run one method and return a line of what it took."""
    output = world.parent / f"{world.name}-{method}"
    words = [
        *("run", "collection=jsonl", f"collection.path={world}", "retriever=run_file"),
        *(f"retriever.run={world / 'first.run'}", f"samples={samples}"),
        *("execution=joblib", f"execution.workers={workers}", f"paths.cache={world.parent}/cache"),
        *OPTIONS[method],
    ]
    if method == "sqlite":
        words.append(f"ledger.path={output}.sqlite")
    return f"{method}: {run(words, output, world.parent / f'{world.name}-{method}.txt')}"


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    main()
