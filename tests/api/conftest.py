"""A small collection in memory and on disk, and the results of one job by the command and by Python."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rerankers.cli import main

SMALL = {"samples": 4, "measures.resamples": 20, "measures.permutations": 5}
"""Options that keep a job short."""
WORDS = [f"{key}={value}" for key, value in SMALL.items()]


@pytest.fixture(scope="session")
def parts() -> dict[str, Any]:
    """Return documents, queries, judgments and groups as a caller has them, and candidates with scores."""
    rng = np.random.default_rng(5)
    docnos = [f"d{number:02d}" for number in range(24)]
    candidates = {
        f"q{query}": {docnos[at]: float(rng.normal()) for at in rng.permutation(24)[:12]} for query in range(3)
    }
    return {
        "docs": {"docno": docnos, "text": [f"text of {docno}" for docno in docnos]},
        "queries": {qid: f"about {qid}" for qid in candidates},
        "qrels": {qid: {docno: int(at % 3 == 0) for at, docno in enumerate(docnos)} for qid in candidates},
        "groups": {docno: None if at % 7 == 6 else "A" if at % 2 else "B" for at, docno in enumerate(docnos)},
        "candidates": candidates,
    }


@pytest.fixture(scope="session")
def files(parts: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the same collection, with its candidates in ``first.run``."""
    folder = tmp_path_factory.mktemp("collection")
    docs = zip(parts["docs"]["docno"], parts["docs"]["text"], strict=True)
    (folder / "docs.jsonl").write_text("".join(f'{{"docno": "{docno}", "text": "{text}"}}\n' for docno, text in docs))
    queries = parts["queries"].items()
    (folder / "queries.jsonl").write_text("".join(f'{{"qid": "{qid}", "query": "{text}"}}\n' for qid, text in queries))
    judged = [(qid, *pair) for qid, grades in parts["qrels"].items() for pair in grades.items()]
    (folder / "qrels.txt").write_text("".join(f"{qid} 0 {docno} {grade}\n" for qid, docno, grade in judged))
    labels = parts["groups"].items()
    (folder / "groups.csv").write_text("docno,group\n" + "".join(f"{docno},{group or ''}\n" for docno, group in labels))
    lines = [
        f"{qid} Q0 {docno} {rank} {score!r} first\n"
        for qid, scores in parts["candidates"].items()
        for rank, (docno, score) in enumerate(sorted(scores.items(), key=lambda pair: -pair[1]), start=1)
    ]
    (folder / "first.run").write_text("".join(lines))
    return folder


@pytest.fixture(scope="session")
def words(files: Path) -> list[str]:
    """Return the words of one job on these files."""
    target = "target.shares={A:0.5,B:0.4,unknown:0.1}"
    place = [f"collection.path={files}", f"retriever.run={files / 'first.run'}"]
    return ["collection=jsonl", "retriever=run_file", *place, "method=kl_tilt", "target=population", target, *WORDS]


@pytest.fixture(scope="session")
def by_command(words: list[str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder that the command left."""
    folder = tmp_path_factory.mktemp("command") / "out"
    assert main(["run", *words, "seed=3", f"output={folder}"]) == 0
    return folder


@pytest.fixture(scope="session")
def by_python(words: list[str], tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Return the result of the same job by Python."""
    import rerankers as fr

    folder = tmp_path_factory.mktemp("python") / "out"
    return fr.run(*words, seed=3, output=folder)
