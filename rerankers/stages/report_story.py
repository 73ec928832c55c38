"""What was run, told in a paragraph, and what somebody needs to run it again."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any

from rerankers._base.fingerprint import file_fingerprint
from rerankers.stages.metadata import versions

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from rerankers.stages.evaluate import EvaluateJob, Judged
    from rerankers.stages.pool import Pool
    from rerankers.stages.run import RunJob
    from rerankers.stages.serve import Outcome
    from rerankers.values import Collection

_BROWSING = {
    "gerr": "a user looks at the first document, goes on to each next one with probability {patience}, and stops at a "
    "relevant one with probability {satisfaction}",
    "rbp": "a user looks at the first document and goes on to each next one with probability {patience}",
    "err": "a user looks at the first document and goes on with probability {patience} unless a document satisfies "
    "him, the likelier the higher its grade",
    "dcg": "attention falls with the logarithm of the rank, whatever the documents are",
    "topk_set": "a user sees the first {k} documents, all alike",
    "positions": "attention by rank is given",
}


def browsing_words(model: Any) -> str:
    """Return what a browsing model says of users; its text form for models that are not known here."""
    words = _BROWSING.get(getattr(model, "word", ""))
    if words is None or not is_dataclass(model):
        return f"users browse as {model} says"
    cutoff = getattr(model, "cutoff", None)
    told = words.format(**{one.name: f"{getattr(model, one.name)}" for one in fields(model)})
    return told if cutoff is None else f"{told}; nobody looks beyond rank {cutoff}"


def story_of_run(job: RunJob, collection: Collection, pool: Pool, outcome: Outcome | None) -> str:
    """Return what a run did."""
    judged = len(set(pool.judgments.query.tolist()))
    # a row of candidates can be asked never; the sentence is about what was retrieved
    candidates, queries = pool.candidates.nnz, len(pool.topics)
    shown = (
        f"drew {job.samples:,} rankings for each query (seed {job.seed})"
        if outcome is None
        else f"served {outcome.counts['impressions']:,} impressions in {outcome.counts['sequences']:,} sequences, one "
        f"ranking each (seed {job.seed})"
    )
    return (
        f"For {_many(queries, 'query', 'queries')} of the collection {collection.name} "
        f"({_many(len(collection.docs), 'document')}), the first stage found {_many(candidates, 'candidate')}. The "
        f"method {job.name} reranked them and {shown}. {_judged(pool.judgments.nnz, judged)} "
        f"Exposure is measured for users of whom this is assumed: {browsing_words(job.browsing)}. "
        f"{_groups(list(pool.groups))}"
    )


def story_of_evaluate(job: EvaluateJob, judged: Judged) -> str:
    """Return what an evaluation did."""
    queries = len(set(judged.judgments.query.tolist()))
    return (
        f"{_many(len(judged.runs), 'run')} ({', '.join(judged.runs)}) "
        f"{'was' if len(judged.runs) == 1 else 'were'} read and judged as published: nothing was ranked again. "
        f"{_judged(judged.judgments.nnz, queries)} Exposure is measured for users of whom this is assumed: "
        f"{browsing_words(job.browsing)}. {_groups(list(judged.groups))}"
    )


def record_of(command: str, seed: int, seconds: Mapping[str, float], inputs: Mapping[str, str]) -> dict[str, str]:
    """Return what repeats a job: command, seed, where the config is, inputs, times and versions."""
    laps = {stage: time for stage, time in seconds.items() if ":" not in stage}
    return {
        "command": command,
        "config": "config.yaml beside this page; all options stand in the appendix",
        "seed": str(seed),
        **inputs,
        "time": f"{sum(laps.values()):.1f} s until this page was drawn ("
        + ", ".join(f"{stage} {time:.1f}" for stage, time in laps.items() if time >= 0.05)
        + ")",
        "versions": ", ".join(f"{name} {number}" for name, number in versions().items()),
    }


def file_marks(paths: Sequence[Path]) -> dict[str, str]:
    """Return label -> fingerprint of input files; folders, whose files are named elsewhere, are left out."""
    files = [path for path in paths if path.is_file()]
    return {"input files": ", ".join(f"{path.name} {file_fingerprint(path)}" for path in files)} if files else {}


def _many(number: int, one: str, several: str = "") -> str:
    return f"{number:,} {one if number == 1 else several or one + 's'}"


def _judged(pairs: int, queries: int) -> str:
    if not pairs:
        return "There are no judgments, so that nothing could be measured against relevance."
    return f"{_many(pairs, 'judgment')} of {_many(queries, 'query', 'queries')} say what is relevant."


def _groups(names: Sequence[str]) -> str:
    if not names:
        return "No groups of documents were given: fairness is measured for single documents only."
    return f"Groups of documents are told apart by {', '.join(names)}."
