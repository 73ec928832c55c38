"""Sequence files, and the words of jobs that read them."""

from __future__ import annotations

from pathlib import Path

ORDER = ("q2", "q1", "q2", "q3", "q1", "q2", "q2", "q1", "q2")


def written(path: Path, *qids: str, sequences: int = 1) -> Path:
    path.write_text("".join(f"{number % sequences}.{number},{qid}\n" for number, qid in enumerate(qids)))
    return path


def words(tiny: Path, tiny_run: Path, *more: str) -> list[str]:
    base = ["run", "collection=jsonl", f"collection.path={tiny}", "retriever=run_file", f"retriever.run={tiny_run}"]
    return [*base, "measures.resamples=50", *more]
