"""The same job under other versions of Python and numpy: ``python scripts/same_bits.py FOLDER [--against OTHER]``.

Runs several methods over generated queries into FOLDER, twice, and says whether both gave the same bits; with
``--against``, whether numbers are those of another version's folder to a relative 1e-12. Needs no Java and no torch.
"""

from __future__ import annotations

import argparse
import platform
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from rerankers._base.streams import generator
from rerankers.api import run
from rerankers.collections import Generated, write_jsonl

FILES = ("run.parquet", "policy.parquet", "measures.parquet")
METHODS = {
    "plackett_luce": [],
    "kl_tilt": ["target=uniform"],
    "pareto_optimal": ["target=uniform"],
    "fair_co": ["method.impressions=5"],
}
CLOSE = 1e-12


def main() -> int:
    """Run and compare; 0 where everything is as it should be."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--against", type=Path)
    asked = parser.parse_args()
    for part in ("first", "again"):
        written(asked.folder / part)
    names = [f"{method}/{file}" for method in METHODS for file in FILES]
    other = [name for name in names if not _equal(asked.folder, name)]
    version = f"Python {platform.python_version()}, numpy {np.__version__}"
    print(f"{version}: {len(names) - len(other)} of {len(names)} files of the same bits twice")
    for name in other:
        print(f"  other bits: {name}")
    if asked.against is None:
        return int(bool(other))
    apart = {name: farthest(asked.against / "first" / name, asked.folder / "first" / name) for name in names}
    print(f"{version}: largest relative difference from {asked.against}: {max(apart.values()):.1e}")
    for name, value in apart.items():
        if not value <= CLOSE:
            print(f"  {name}: {value:.1e}")
    return int(bool(other) or not max(apart.values()) <= CLOSE)


def written(folder: Path) -> None:
    """Run every method over generated queries, whose candidates are drawn rather than retrieved."""
    collection = Generated(documents=400, topics=20).load()
    write_jsonl(collection, folder / "world")
    rng = generator(0, "candidates of another version")
    lines = []
    for qid in collection.topics.ids.names.to_pylist():
        docs = collection.docs.names.take(pa.array(rng.permutation(len(collection.docs))[:60])).to_pylist()
        lines += [f"{qid} Q0 {doc} {rank} {(60 - rank) / 10:.1f} drawn\n" for rank, doc in enumerate(docs, 1)]
    (folder / "drawn.run").write_text("".join(lines), encoding="utf-8")
    for method, words in METHODS.items():
        given = [f"collection.path={folder / 'world'}", f"retriever.run={folder / 'drawn.run'}", *words]
        usual = ["collection=jsonl", "groups=collection", "retriever=run_file", "samples=20", f"method={method}"]
        few = ["measures.resamples=50", "measures.permutations=20", "measures.fronts=false"]
        run(*usual, *given, *few, f"paths.cache={folder / 'cache'}", output=folder / method)


def _equal(folder: Path, name: str) -> bool:
    return (folder / "first" / name).read_bytes() == (folder / "again" / name).read_bytes()


def farthest(one: Path, other: Path) -> float:
    """Return the largest relative difference of two tables' numbers; infinite where anything else differs."""
    tables = [pq.read_table(path) for path in (one, other)]
    if tables[0].schema.names != tables[1].schema.names or len(tables[0]) != len(tables[1]):
        return np.inf
    return max(_apart(*(table[name].combine_chunks() for table in tables)) for name in tables[0].schema.names)


def _apart(one: pa.Array, other: pa.Array) -> float:
    while pa.types.is_list(one.type) or pa.types.is_large_list(one.type):
        if not one.value_lengths().equals(other.value_lengths()):
            return np.inf
        one, other = one.flatten(), other.flatten()
    if not pa.types.is_floating(one.type):
        return 0.0 if one.equals(other) else np.inf
    left, right = (column.to_numpy(zero_copy_only=False) for column in (one, other))
    if not np.array_equal(np.isfinite(left), np.isfinite(right)):
        return np.inf
    held = np.isfinite(left) & (left != right)
    scale = np.maximum(np.abs(left[held]), np.abs(right[held]))
    return float(np.max(np.abs(left[held] - right[held]) / np.maximum(scale, 1e-300), initial=0.0))


if __name__ == "__main__":
    sys.exit(main())
