"""A ledger of very many entries: ``python benchmarks/large_ledger.py [--entries N …] [--store memory sqlite]``.

Serves queries of 100 documents once each, an account a query and an entry a document, in a process of its own a size;
then reads the ledger again and adds it to an empty one of nothing. Prints seconds, memory and exponents of growth.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from _timing import exponent

DOCUMENTS, ONE = 100, "--one"


def main() -> None:
    """Measure each size in a process of its own, or one size here."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--entries", type=int, nargs="*", default=[1_000_000, 10_000_000])
    parser.add_argument("--store", nargs="*", choices=("memory", "sqlite"), default=["memory", "sqlite"])
    parser.add_argument(ONE, action="store_true", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.one:
        print(*served(asked.entries[0], asked.store[0]))
        return
    for store in asked.store:
        found = []
        for entries in asked.entries:
            words = [sys.executable, __file__, ONE, "--entries", str(entries), "--store", store]
            done = subprocess.run(words, capture_output=True, text=True, check=True)
            serve, read, peak, size = map(float, done.stdout.split())
            found.append((serve, read, peak))
            print(
                f"{store}, {entries:,} entries: served in {serve:,.1f} s, read again in {read:,.1f} s, "
                f"peak {peak / 1000:.2f} GB, file {size / 1e6:,.0f} MB",
                flush=True,
            )
        if len(found) > 1:
            grown = [exponent(asked.entries, [one[part] for one in found]) for part in range(3)]
            print(f"{store}: exponents of serving {grown[0]:.2f}, reading {grown[1]:.2f}, memory {grown[2]:.2f}")


def served(entries: int, kind: str) -> tuple[float, float, float, float]:
    """Return seconds of serving and of reading again, the peak of this process in megabytes, bytes of the file."""
    from rerankers._base.streams import query_streams
    from rerankers.exposure import DCG
    from rerankers.ledger import Impressions, Memory, SQLite
    from rerankers.ledger.sqlite_file import open_ledger
    from rerankers.methods.fair_co import FairCo
    from rerankers.values import Block, Candidates

    queries = entries // DOCUMENTS
    belief = np.random.default_rng(0).beta(1, 2, entries)
    doc = (np.arange(queries)[:, None] * 7 + np.arange(DOCUMENTS) * 1009) % 1_000_003
    qids = tuple(map(str, range(queries)))
    columns = {"score": belief, "estimates": belief}
    over = Candidates(np.arange(queries), np.arange(queries + 1) * DOCUMENTS, doc.ravel(), columns)
    block = Block(over, query_streams(qids), browsing=DCG())
    asked = Impressions.repeated(over, 1, qids)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "ledger.sqlite"
        start = time.perf_counter()
        _, ledger = FairCo(target="relevance").serve(block, asked, Memory() if kind == "memory" else SQLite(str(path)))
        done = time.perf_counter()
        if len(ledger.served) != entries:
            raise SystemExit(f"{len(ledger.served)} entries")
        size = 0
        if kind == "sqlite":
            del ledger
            ledger, size = open_ledger(path), path.stat().st_size
        else:
            ledger.digest  # noqa: B018 - what a comparison of ledgers reads
        return done - start, time.perf_counter() - done, _peak(), size


def _peak() -> float:
    text = Path("/proc/self/status").read_text(encoding="ascii")
    return next(int(line.split()[1]) / 1000 for line in text.splitlines() if line.startswith("VmHWM"))


if __name__ == "__main__":
    main()
