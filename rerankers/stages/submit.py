"""Write the submission of a track from a stored policy, and say what it loses."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rerankers._base.errors import ConfigError, InputError
from rerankers.runs import read_policy
from rerankers.stages.validate import known_keys, one_path, read_track_queries, read_track_sequence, whole
from rerankers.tracks.losses import Losses, losses, read_judgments, read_loss_groups
from rerankers.tracks.submit import submit
from rerankers.tracks.track import track_of

if TYPE_CHECKING:
    from rerankers.tracks.groups2020 import PairGroups
    from rerankers.tracks.schedules import Schedules

KEYS = ("track", "run", "policy", "queries", "sequence", "qrels", "groups", "seed", "output")
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
    qrels, grouping = one_path(config, "qrels"), _grouping(config["groups"])
    groups_file = None if grouping is None else grouping[0]
    inputs = {name: one_path(config, name) for name in ("run", "policy", "queries", "sequence", "qrels")}
    _spare(output, {**inputs, "groups": groups_file})
    queries = read_track_queries(track, inputs["queries"])
    sequence = read_track_sequence(track, inputs["sequence"])
    if grouping is not None and qrels is None:
        raise ConfigError("qrels: found nothing; expected judgments, which the loss of groups needs. Type: qrels=FILE")
    stored = read_policy(_policy_file(inputs["run"], inputs["policy"]))
    chosen = whole(config, "seed", least=None)
    seed = stored.seed if chosen is None else chosen
    judged = None if qrels is None else read_judgments(qrels, stored.qids, stored.docs, track)
    groups = None
    if judged is not None and grouping is not None:
        groups = read_loss_groups(grouping[0], judged[1], judged[0], grouping[1])
    lost: list[Losses] = []

    def tell(schedules: Schedules) -> None:
        if judged is not None:
            alignment = None if groups is None else groups.alignment
            lost.extend(losses(stored.policy, schedules.parts, judged[0], track, seed, alignment))

    done = submit(
        track,
        stored.policy,
        stored.qids,
        stored.docs,
        output,
        queries=queries,
        sequence=sequence,
        seed=seed,
        served=stored.samples == 0,
        before=tell,
    )
    for warning in done.warnings:
        print(f"warning: {warning}", file=sys.stderr)
    print(f"{output}: {done.rankings:,} rankings of {done.queries:,} queries for {track.name}, seed {seed}")
    if done.different:
        mean = sum(done.different) / len(done.different)
        print(f"different rankings a query: {mean:.1f} on average, at least {min(done.different):,}")
    if judged is not None:
        _show_losses(lost, "relevant" if (judged[0].grade > 0).all() else "judged", groups)


def _spare(output: Path, inputs: Mapping[str, Path | None]) -> None:
    """Raise `ConfigError` where writing the output would overwrite what the command reads, or what a run wrote."""
    if not output.exists():
        return
    for name, path in inputs.items():
        if path is None:
            continue
        files: Iterable[Path] = path.iterdir() if path.is_dir() else [path]
        if any(file.exists() and file.samefile(output) for file in files):
            where = f"a file of {name}={path}" if path.is_dir() else f"the file of {name}"
            raise ConfigError(
                f"output: found {output}, {where}; expected a file of its own. Choose another output=FILE"
            )


def _policy_file(run: Path | None, policy: Path | None) -> Path:
    if run is None and policy is not None:
        return policy
    if run is None or policy is not None:
        found = "neither" if run is None else "both"
        raise ConfigError(f"run, policy: found {found}; expected run=DIR (of a job) or policy=FILE")
    if run.is_dir() and not (run / POLICY).is_file():
        raise InputError.one(str(run), f"a folder without {POLICY}", "a folder that `fair-rerank run` has written")
    return run / POLICY if run.is_dir() else run


def _grouping(node: Any) -> tuple[Path, str | None] | None:
    """Return file and attribute of the groups; None where there are none."""
    if not isinstance(node, Mapping):
        raise ConfigError(f"groups: found {node!r}; expected options. Type: groups=FILE")
    known_keys(node, ("path", "attribute"))
    path, attribute = one_path(node, "path"), node["attribute"]
    if attribute is not None and not isinstance(attribute, str):
        raise ConfigError(f"groups.attribute: found {attribute!r}; expected one name")
    return None if path is None else (path, attribute)


def _show_losses(found: list[Losses], counted: str, groups: PairGroups | None) -> None:
    if not found:
        print("warning: qrels judge none of the queries: no loss to tell", file=sys.stderr)
        return
    for one in found:
        print(_sentence(one, counted))
    if groups is not None:
        reach = groups.counts
        print(f"  a group is known for {reach['pairs_with_group']:,} of {reach['pairs']:,} judged pairs")


def _sentence(found: Losses, counted: str) -> str:
    how = "exact" if found.exact else "estimated from draws"
    whose = "documents" if found.attribute is None else f"groups by {found.attribute}"
    return (
        f"expected-exposure loss of {whose} (EEL, lower is better; {found.browsing}; {counted} documents; mean over "
        f"{found.schedules:,} schedules):\n"
        f"  this file         {found.file:.6f}\n"
        f"  the policy        {found.policy:.6f} ({how})\n"
        f"  independent draws {found.independent:.6f} (what as many of them lose on average)"
    )
