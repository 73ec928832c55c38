"""A job of very many queries: ``python benchmarks/million_queries.py FOLDER [--queries N] [--method NAME …]``.

Generates a collection and a run file of N queries with 100 candidates each (3.7 GB of text for a million), reranks
them with 100 draws a query by each method, and prints seconds, processor time and peak memory of all processes
together. What is generated is kept and used again. Memory may be capped from outside (a control group of 4 GB, say):
the peak that is printed counts what processes own, not files that they map.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

CANDIDATES, DOCUMENTS, CHUNK = 100, 200_003, 10_000  # a prime number of documents: strides never meet twice
GROUPS = ("north", "south", "east", "west")
OPTIONS = {"plackett_luce": [], "kl_tilt": ["target=uniform", "method.strength=0.5"]}


def main() -> None:
    """Generate, run and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--queries", type=int, default=1_000_000)
    parser.add_argument("--method", nargs="*", default=list(OPTIONS))
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
    docs = _names("d", np.arange(DOCUMENTS))
    _write(world / "docs.jsonl", [_joined('{"docno":"', docs, '"}\n')])
    group = pa.array(GROUPS, pa.large_string()).take(pa.array(rng.integers(0, len(GROUPS), DOCUMENTS)))
    _write(
        world / "region_groups.csv", [pa.array(["docno,group\n"], pa.large_string()), _joined(docs, ",", group, "\n")]
    )
    chunks = [(start, min(start + CHUNK, queries)) for start in range(0, queries, CHUNK)]
    _write(world / "queries.tsv", (_joined(_names("q", np.arange(*chunk)), "\tx\n") for chunk in chunks))
    partial = world / ".first.run"
    with partial.open("wb") as run, (world / "qrels.txt").open("wb") as qrels:
        for start, stop in chunks:
            lines, judged = _chunk(docs, start, stop, rng)
            _append(run, lines)
            _append(qrels, judged)
    partial.rename(world / "first.run")


def _chunk(docs: pa.Array, start: int, stop: int, rng: np.random.Generator) -> tuple[pa.Array, pa.Array]:
    """Return the lines of the run and of the judgments of some queries: a tenth of the candidates is relevant."""
    shape = (stop - start, CANDIDATES)
    first, stride = rng.integers(0, DOCUMENTS, (shape[0], 1)), rng.integers(1, DOCUMENTS, (shape[0], 1))
    doc = ((first + stride * np.arange(CANDIDATES)) % DOCUMENTS).ravel()
    score = np.round(np.sort(rng.normal(size=shape), axis=1)[:, ::-1], 4).ravel()
    qid = _names("q", np.arange(start, stop)).take(pa.array(np.repeat(np.arange(shape[0]), CANDIDATES)))
    docno = docs.take(pa.array(doc))
    rank = pa.array(np.tile(np.arange(1, CANDIDATES + 1), shape[0])).cast(pa.large_string())
    lines = _joined(qid, " Q0 ", docno, " ", rank, " ", pa.array(score).cast(pa.large_string()), " first\n")
    relevant = rng.random(doc.size) < 0.1
    judged = np.flatnonzero(relevant | (rng.random(doc.size) < 0.2))
    grade = pa.array(relevant[judged].astype(np.int8)).cast(pa.large_string())
    return lines, _joined(qid.take(pa.array(judged)), " 0 ", docno.take(pa.array(judged)), " ", grade, "\n")


def _names(letter: str, numbers: np.ndarray) -> pa.Array:
    text = pc.utf8_lpad(pa.array(numbers).cast(pa.large_string()), 7, "0")
    return _joined(letter, text)


def _joined(*parts: pa.Array | str) -> pa.Array:
    scalars = [pa.scalar(part, pa.large_string()) if isinstance(part, str) else part for part in parts]
    return pc.binary_join_element_wise(*scalars, pa.scalar("", pa.large_string()))


def _append(stream: object, lines: pa.Array) -> None:
    ends = np.frombuffer(lines.buffers()[1], dtype=np.int64)
    stream.write(memoryview(lines.buffers()[2])[ends[0] : ends[len(lines)]])  # type: ignore[attr-defined]


def _write(path: Path, parts: Iterator[pa.Array] | list[pa.Array]) -> None:
    with path.open("wb") as stream:
        for part in parts:
            _append(stream, part)


def measured(world: Path, method: str, samples: int, workers: int) -> str:
    """Run one method and return a line of what it took."""
    output = world.parent / f"{world.name}-{method}"
    words = [
        *("run", "collection=jsonl", f"collection.path={world}", "retriever=run_file"),
        *(f"retriever.run={world / 'first.run'}", f"method={method}", f"samples={samples}"),
        *("execution=joblib", f"execution.workers={workers}", f"output={output}", f"paths.cache={world.parent}/cache"),
        *OPTIONS.get(method, []),
    ]
    start, peak = time.perf_counter(), 0.0
    with (world.parent / f"{world.name}-{method}.txt").open("wb") as said:
        job = subprocess.Popen([sys.executable, "-m", "rerankers", *words], stdout=said, stderr=subprocess.STDOUT)
        while job.poll() is None:
            peak = max(peak, sum(map(_own, _tree(job.pid))))
            time.sleep(1.0)
    took = resource.getrusage(resource.RUSAGE_CHILDREN)
    state = "done" if job.returncode == 0 else f"failed ({job.returncode}), see {said.name}"
    return (
        f"{method}: {state}, {time.perf_counter() - start:,.0f} s, peak {peak / 1000:.2f} GB; processors so far "
        f"{took.ru_utime + took.ru_stime:,.0f} s"
    )


def _tree(pid: int) -> list[int]:
    """Return a process and all below it (Linux)."""
    below: dict[int, list[int]] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = int(path.read_text().rpartition(")")[2].split()[1])
        except OSError:  # it has ended
            continue
        below.setdefault(parent, []).append(int(path.parent.name))
    found = [pid]
    for one in found:
        found += below.get(one, [])
    return found


def _own(pid: int) -> float:
    """Return the megabytes that a process has for itself: mapped files can be dropped, and are not counted."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0.0
    return sum(int(line.split()[1]) / 1000 for line in lines if line.startswith(("Anonymous:", "SwapPss:")))


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    main()
