"""The systems of a meta-evaluation: stored policies or runs, each with judgments and groups under its own codes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from rerankers._base.errors import ConfigError, InputError, MissingError
from rerankers._base.own_files import own_mapping
from rerankers.collections.trec_samples import is_sample, read_sample
from rerankers.measures.evaluation import Evaluation, Options
from rerankers.runs import read_policy, read_run
from rerankers.stages.config_parts import build_part, need_parts
from rerankers.stages.sweeps import expanded
from rerankers.values import Ids, Rankings
from rerankers.values.companions import companion
from rerankers.values.groups import UNKNOWN_POLICIES
from rerankers.values.qrels import QrelsTable, read_qrels

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.collections import Aligned
    from rerankers.policies import Policy
    from rerankers.values import Collection, GroupAlignment

POLICY_FILE, CONFIG_FILE = "policy.parquet", "config.yaml"
BETWEEN = " | "
"""Stands between an attribute and what is done with its unknown documents, in names of alignments."""


@dataclass(frozen=True, slots=True, eq=False)
class Answers:
    """What one system answers.

    Attributes
    ----------
    name
        of the system.
    source
        a policy, or rankings, over rows whose query code is the index into ``qids``.
    qids, docs
        query ids; ids of the documents that occur.
    samples, seed
        of its published draws.
    """

    name: str
    source: Policy | Rankings
    qids: tuple[str, ...]
    docs: Ids
    samples: int
    seed: int


@dataclass(frozen=True, slots=True, eq=False)
class Ground:
    """Judgments and groups by name.

    Attributes
    ----------
    qrels
        judged pairs.
    docs
        sorted ids of all documents that occur.
    groups
        attribute and unknown policy -> resolved alignment over ``docs``.
    attributes
        the attributes.
    companions
        what documents carry besides, by the keys of ``groups`` (`rerankers.values.companions`).
    """

    qrels: QrelsTable
    docs: Ids
    groups: Mapping[str, GroupAlignment]
    attributes: tuple[str, ...]
    companions: Mapping[str, GroupAlignment]


def answers_of(paths: Sequence[Path], samples: int) -> list[Answers]:
    """Read systems: folders with a policy (or else a run), or run files.

    Parameters
    ----------
    samples
        most draws of a policy that measures of rankings look at.

    Raises
    ------
    ConfigError
        for fewer than two systems, or two of one name.
    """
    found = [_answers(path, samples) for path in paths]
    names = [one.name for one in found]
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated or len(found) < 2:
        what = f"two systems called {repeated[0]!r}" if repeated else f"{len(found)} system"
        raise ConfigError(f"results: found {what}; expected two systems or more, of different names")
    return found


def _answers(path: Path, samples: int) -> Answers:
    stored = path / POLICY_FILE
    if path.is_dir() and stored.is_file():
        policy = read_policy(stored)
        name = Path(path.absolute()).name
        drawn = min(policy.samples or samples, samples)
        return Answers(name, policy.policy, policy.qids, policy.docs, drawn, policy.seed)
    run = read_run(path)
    return Answers(run.name, run.rankings, run.qids, run.docs, samples, 0)


def ground_of_jobs(
    folders: Sequence[Path], answers: Sequence[Answers], attribute: Any, unknown: Sequence[str]
) -> Ground:
    """Return judgments and groups of the collection that all jobs share.

    Raises
    ------
    MissingError
        when a folder has no config.
    ConfigError
        when the jobs are of different collections.
    """
    configs = [_config(folder) for folder in folders]
    first = configs[0]
    for folder, config in zip(folders, configs, strict=True):
        if config["collection"] != first["collection"]:
            raise ConfigError(
                f"results: found another collection in {folder} than in {folders[0]}; expected the same one, or run "
                "files with qrels=FILE"
            )
    collection: Collection = build_part(first, "collection").load()
    known = collection.over(Ids.union(collection.docs, *(one.docs for one in answers)))
    groups = build_part(first, "groups")
    if attribute is not None and hasattr(groups, "attribute"):
        groups = replace(groups, attribute=attribute)
    judged = known.judgments
    qrels = QrelsTable(
        pa.array(known.topics.ids.take(judged.query[judged.row_index]), pa.large_string()),
        pa.array(known.docs.take(judged.doc), pa.large_string()),
        judged.grade.astype(np.int16),
        {},
    )
    aligned = {word: _with_unknown(groups, word).align(known) for word in unknown}
    return _ground(qrels, known.docs, aligned)


def ground_of_files(qrels: Path, groups: Any, answers: Sequence[Answers], unknown: Sequence[str]) -> Ground:
    """Return judgments and groups of files; ``groups`` aligns documents (`FileGroups`), None: no groups."""
    table = read_sample(qrels).qrels() if is_sample(qrels) else read_qrels(qrels)
    docs = Ids.union(table.docno, *(one.docs for one in answers))
    aligned = {} if groups is None else {
        word: _with_unknown(groups, word).align_documents(docs) for word in unknown
    }  # fmt: skip
    return _ground(table, docs, aligned)


@dataclass(frozen=True, slots=True, eq=False)
class System:
    """A system ready to be measured.

    Attributes
    ----------
    evaluation
        of all queries it answers; an alignment for every attribute and unknown policy.
    rows
        int64 (Q,), where the queries that all systems answer stand in it.
    """

    evaluation: Evaluation
    rows: NDArray[np.int64]


def systems_of(answers: Sequence[Answers], ground: Ground) -> tuple[dict[str, System], list[str]]:
    """Return the systems by name and the judged queries that all of them answer.

    Raises
    ------
    InputError
        when there is no such query.
    """
    answered = [set(one.qids) for one in answers]
    judged = dict.fromkeys(ground.qrels.qid.to_pylist())
    shared = [qid for qid in judged if all(qid in qids for qids in answered)]
    if not shared:
        raise InputError.one("results", "no judged query that all systems answer", "at least one")
    highest = max(1, int(ground.qrels.grade.max(initial=0)))
    return {one.name: _system(one, ground, shared, highest) for one in answers}, shared


def _system(one: Answers, ground: Ground, shared: Sequence[str], highest: int) -> System:
    names = one.docs.take(np.arange(len(one.docs)))
    mine = set(names)
    # Codes of the system's own documents stay what they are; judged ones that it lacks come after them.
    docs = Ids.of([*names, *(name for name in dict.fromkeys(ground.qrels.docno.to_pylist()) if name not in mine)])
    judgments, _ = ground.qrels.bind(Ids.of(one.qids), docs)
    groups, companions = (
        {name: alignment.recode(ground.docs, docs) for name, alignment in known.items()}
        for known in (ground.groups, ground.companions)
    )
    options = Options(samples=one.samples, seed=one.seed, max_grade=highest)
    place = {qid: row for row, qid in enumerate(one.qids)}
    rows = np.array([place[qid] for qid in shared], dtype=np.int64)
    return System(Evaluation(one.source, judgments, groups, options, companions), rows)


def _ground(qrels: QrelsTable, docs: Ids, aligned: Mapping[str, Aligned]) -> Ground:
    attributes = tuple(next(iter(aligned.values()), {}))
    groups = {
        f"{attribute}{BETWEEN}{word}": alignment
        for word, alignments in aligned.items()
        for attribute, alignment in alignments.items()
    }
    companions = {}
    for word, alignments in aligned.items():
        for key, alignment in alignments.companions.items():
            attribute, _, kind = key.rpartition(":")
            companions[companion(f"{attribute}{BETWEEN}{word}", kind)] = alignment
    return Ground(qrels, docs, groups, attributes, companions)


def _with_unknown(groups: Any, word: str) -> Any:
    if word not in UNKNOWN_POLICIES:
        raise ConfigError(f"grid.unknown: found {word!r}; expected words of {', '.join(UNKNOWN_POLICIES)}")
    return replace(groups, unknown=word) if hasattr(groups, "unknown") else groups


def _config(folder: Path) -> Mapping[str, Any]:
    path = folder / CONFIG_FILE
    if not path.is_file():
        raise MissingError(
            f"{path}: no such file; expected the results of fair-rerank run. Run files go with qrels: fair-rerank meta "
            "A B qrels=FILE groups=FILE"
        )
    config = own_mapping(path, "the config of a job, as it was written")
    need_parts(config, path, ("collection", "groups"))
    return config


def folders_of(results: Sequence[str]) -> list[Path]:
    """Return the folders or files named, those of sweeps replaced by the jobs in them."""
    return [Path(one) for one in expanded(Path(name) for name in results)]
