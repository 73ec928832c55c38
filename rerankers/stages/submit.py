"""Write the submission of a track from a stored policy, and say what it loses."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rerankers._base.errors import ConfigError, InputError
from rerankers.runs import read_policy
from rerankers.runs.policy import StoredPolicy
from rerankers.stages.validate import known_keys, one_path, read_track_queries, whole
from rerankers.tracks.losses import Losses, losses, read_judgments
from rerankers.tracks.sequences import read_sequence
from rerankers.tracks.submit import Submission, submit
from rerankers.tracks.track import Track, track_of

KEYS = ("track", "run", "policy", "queries", "sequence", "qrels", "seed", "output")
POLICY = "policy.parquet"


def submit_from_config(config: Mapping[str, Any]) -> None:
    """Write the submission of a config of ``conf/submit.yaml``'s form.

    Raises
    ------
    FairRerankersError
        with the exit code of the command.
    """
    known_keys(config, KEYS)
    track = track_of(str(config["track"]))
    output = one_path(config, "output")
    if output is None or output.is_dir():
        raise ConfigError(f"output: found {output or 'nothing'}; expected the name of a file. Type: output=FILE")
    queries = read_track_queries(track, one_path(config, "queries"))
    place = one_path(config, "sequence")
    sequence = None if place is None else read_sequence(place)
    if sequence is not None and not track.has_sequence:
        raise ConfigError(f"sequence: found {place}; expected none, since {track.name} has no sequence")
    stored = read_policy(_policy_file(one_path(config, "run"), one_path(config, "policy")))
    chosen = whole(config, "seed", least=None)
    seed = stored.seed if chosen is None else chosen
    done = submit(track, stored.policy, stored.qids, stored.docs, output, queries=queries, sequence=sequence, seed=seed)
    for warning in done.warnings:
        print(f"warning: {warning}", file=sys.stderr)
    print(f"{output}: {done.rankings:,} rankings of {done.queries:,} queries for {track.name}, seed {seed}")
    if done.different:
        mean = sum(done.different) / len(done.different)
        print(f"different rankings a query: {mean:.1f} on average, at least {min(done.different):,}")
    qrels = one_path(config, "qrels")
    if qrels is not None:
        _show_losses(track, stored, done, qrels, seed)


def _policy_file(run: Path | None, policy: Path | None) -> Path:
    if run is None and policy is not None:
        return policy
    if run is None or policy is not None:
        found = "neither" if run is None else "both"
        raise ConfigError(f"run, policy: found {found}; expected run=DIR (of a job) or policy=FILE")
    if run.is_dir() and not (run / POLICY).is_file():
        raise InputError.one(str(run), f"a folder without {POLICY}", "a folder that `fair-rerank run` has written")
    return run / POLICY if run.is_dir() else run


def _show_losses(track: Track, stored: StoredPolicy, done: Submission, qrels: Path, seed: int) -> None:
    judgments = read_judgments(qrels, stored.qids, stored.docs)
    found = losses(stored.policy, done.schedules.parts, judgments, track, seed)
    if found is None:
        print(f"warning: {qrels} judges none of the queries: no loss to tell", file=sys.stderr)
        return
    print(_sentence(found))


def _sentence(found: Losses) -> str:
    how = "exact" if found.exact else "estimated from draws"
    return (
        f"expected-exposure loss of documents (EEL, lower is better; {found.browsing}; judged documents; mean over "
        f"{found.schedules:,} schedules):\n"
        f"  this file         {found.file:.6f}\n"
        f"  the policy        {found.policy:.6f} ({how})\n"
        f"  independent draws {found.independent:.6f} (what as many of them lose on average)"
    )
