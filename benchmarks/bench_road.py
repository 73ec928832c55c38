"""Hold reranking against retrieval, in the same run: the fair part should cost no more than the search before it.

    python benchmarks/bench_road.py [FOLDER of a jsonl collection]

Without a folder it takes the generated collection. The index is built before anything is timed. "first" is the first
search of the process, with Java still compiling its code, which is what a job does; "warm" the best of five.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import perf_counter

import numpy as np

from rerankers.collections import Generated, Jsonl
from rerankers.measures.evaluation import Evaluation, Options
from rerankers.measures.names import parse_many
from rerankers.measures.table import measure_block
from rerankers.policies import PlackettLuce, zscore
from rerankers.retrieval import BM25
from rerankers.stages.pool import make_pool

DRAWS, K = 100, 1000
MEASURES = "EEL EED EER EET utility"


def best_of(function: Callable[[], object], times: int = 5) -> tuple[float, float]:
    """Return (seconds of the first call, seconds of the fastest)."""
    seconds = []
    for _ in range(times):
        start = perf_counter()
        function()
        seconds.append(perf_counter() - start)
    return seconds[0], min(seconds)


def main() -> None:
    collection = (Jsonl(sys.argv[1]) if len(sys.argv) > 1 else Generated()).load()
    with tempfile.TemporaryDirectory() as folder:
        bm25 = BM25(k=K)
        retrieved = bm25.retrieve(collection, Path(folder))
        documents = collection.documents
        assert documents is not None
        with bm25._open(documents, bm25._index_folder(documents, Path(folder)), {}) as index:
            warm = best_of(lambda: index.search(collection.topics.text, K).docnos)[1]
    first = retrieved.seconds["search"]
    pool = make_pool(collection.docs, collection.topics, retrieved.candidates, collection.judgments, {})
    part = pool.part(0, len(pool.candidates))
    logit = zscore(part.candidates.indptr, part.candidates.score)
    policy = PlackettLuce(part.candidates, logit, part.stream)
    names = parse_many(MEASURES)
    qids = pool.topics.ids.take(np.arange(len(pool.candidates)))

    def draw_and_measure(force_draws: bool) -> None:
        evaluation = Evaluation(policy, part.judgments, {}, Options(samples=DRAWS, force_draws=force_draws))
        evaluation.draws  # noqa: B018  (what a job publishes, also where measures need no draws)
        measure_block(evaluation, names, qids, "plackett_luce")

    pairs = part.candidates.nnz
    print(f"{collection.name}: {len(qids)} queries, {pairs:,} candidates (k={K}), {pairs * DRAWS:,} drawn items")
    print(f"BM25 search                      first {first:.3f} s   warm {warm:.3f} s")
    for words, force in (("exact exposure", False), ("exposure from draws", True)):
        seconds = best_of(lambda force=force: draw_and_measure(force))
        print(
            f"{DRAWS} draws + {words:<20} first {seconds[0]:.3f} s   warm {seconds[1]:.3f} s"
            f"   ratio to the search: first {seconds[0] / first:.2f}, warm {seconds[1] / warm:.2f}"
        )


if __name__ == "__main__":
    main()
