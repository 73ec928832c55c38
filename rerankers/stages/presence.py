"""The joint journey: texts are labelled, lists reranked, and presence is held against utility in one picture."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rerankers._base.errors import ConfigError, InputError, choose
from rerankers._base.progress import steps
from rerankers.execution import block_bounds
from rerankers.labels.base import NEUTRAL
from rerankers.labels.groups import LabellerGroups
from rerankers.measures.evaluation import Options
from rerankers.measures.names import parse_many
from rerankers.measures.table import concat
from rerankers.measures.universe import UNIVERSES
from rerankers.methods.targets import Population
from rerankers.stages.block_sums import add_counts
from rerankers.stages.pool import make_pool
from rerankers.stages.presence_account import Values, choice_of_labels, judged_note, missing_notes, rows_of
from rerankers.stages.presence_labels import crossed, labellings
from rerankers.stages.presence_measures import Presence
from rerankers.stages.presence_systems import Grid, PresenceBlock, Sides
from rerankers.stages.presence_text import NO_GROUP
from rerankers.stages.results import check_max_grade
from rerankers.values.groups import UNKNOWN

if TYPE_CHECKING:
    import pyarrow as pa

    from rerankers.execution import Executor
    from rerankers.exposure.browsing import BrowsingModel
    from rerankers.methods.targets import Target
    from rerankers.retrieval import Retriever
    from rerankers.stages.presence_labels import Labellings
    from rerankers.values import GroupAlignment

OF_BOOTSTRAP = ("seed", "confidence", "resamples")


@dataclass(frozen=True, slots=True)
class PresenceJob:
    """The parts of a ``presence``, already built from the config; see ``conf/presence.yaml`` for what each is.

    Raises
    ------
    ConfigError
        for numbers out of range.
    """

    collection: Any
    retriever: Retriever
    groups: Any
    target: Target
    browsing: BrowsingModel
    execution: Executor
    cache: Path
    grid: Grid = field(default_factory=Grid)
    given: str | None = "gender"
    cutoff: int = 10
    alpha: float = 0.5
    neutral_share: float = 0.8
    measures: Sequence[str] = ()
    samples: int = 100
    universe: str = "union"
    seed: int = 0
    confidence: float = 0.95
    resamples: int = 2000

    def __post_init__(self) -> None:
        choose("universe", self.universe, UNIVERSES)
        parse_many(list(self.measures))
        for name in ("cutoff", "samples", "resamples"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name}: found {getattr(self, name)}; expected at least 1")
        for name in ("alpha", "neutral_share"):
            if not 0 <= getattr(self, name) <= 1:
                raise ConfigError(f"{name}: found {getattr(self, name)}; expected a number from 0 to 1")
        if not 0 < self.confidence < 1:
            raise ConfigError(f"confidence: found {self.confidence}; expected a number between 0 and 1")


def presence(job: PresenceJob) -> tuple[dict[str, Any], pa.Table]:
    """Return what ``presence.json`` says, and the result table of all systems.

    Returns
    -------
    found, table
        ``collection``, ``test collection``, ``queries``, ``options``, ``counts``, ``attributes`` (whose labels),
        ``labels`` (documents by given and by the labeller's label), ``keys`` (of each attribute's measures),
        ``systems`` (`rerankers.stages.presence_account.rows_of`), ``choice`` (`choice_of_labels`) and ``notes``,
        sentences.

    Raises
    ------
    FairRerankersError
        for anything that is wrong with config, input or machine.
    """
    collection = job.collection.load()
    retrieved = job.retriever.retrieve(collection, job.cache)
    known = collection.over(retrieved.docs)
    labels = labellings(job.groups, known, job.given)
    pool = make_pool(
        known.docs,
        known.topics,
        retrieved.candidates,
        known.judgments,
        labels.groups,
        companions=labels.companions,
    )
    if not pool.candidates.nnz:
        raise InputError.one(collection.name, "no query with candidates", "candidates of at least one query")
    check_max_grade(job.browsing, pool.judgments)
    asked = Presence.of(labels, pool.companions, job.cutoff, job.alpha, job.measures)
    sides = _sides(labels)
    systems = job.grid.systems(labels.labelled, sides is not None)
    task = PresenceBlock(
        systems=systems,
        queries=pool.topics.ids,
        measures=asked.measures,
        options=Options(
            browsing=job.browsing,
            universe=job.universe,
            samples=job.samples,
            seed=job.seed,
            max_grade=max(1, int(pool.judgments.grade.max(initial=0))),
        ),
        groups=pool.groups,
        companions=pool.companions,
        target=_target(job, labels),
        sides=sides or Sides(labels.labelled, NEUTRAL, NEUTRAL, NEUTRAL),
        cutoff=job.cutoff,
        alpha=job.alpha,
    )
    bounds = block_bounds(pool.candidates.lengths * job.samples, 1, job.execution.block)
    parts = (pool.part(start, stop) for start, stop in bounds)
    blocks = list(steps(job.execution.map(task, parts, pool.named), "rerankings", "block", len(bounds)))
    made = dict.fromkeys(name for tables, _ in blocks for name in tables)
    table = concat(tables[name] for name in made for tables, _ in blocks)
    values = Values.of(table)
    bootstrap = {"seed": job.seed, "resamples": job.resamples, "level": job.confidence}
    rows = rows_of(values, systems, **bootstrap)
    names = list(dict.fromkeys(name for _, counts in blocks for name in counts))
    found = {
        "collection": collection.name,
        "test collection": {"name": collection.name, "fingerprint": collection.fingerprint},
        "queries": len(values.queries),
        "options": _options(job, task.target),
        "attributes": {"labelled": labels.labelled, "given": labels.given},
        "labels": _labels(pool.groups, labels),
        "keys": asked.keys,
        "counts": {
            "collection": dict(collection.counts),
            "retrieval": dict(retrieved.counts),
            "groups": dict(labels.counts),
            **{name: add_counts(counts.get(name, {}) for _, counts in blocks) for name in names},
        },
        "systems": rows,
        "choice": [] if labels.given is None else choice_of_labels(rows, asked.pairs),
        "notes": [
            *_neutral_note(pool.groups[labels.labelled]),
            *asked.left_out,
            *missing_notes(table, asked.shown, len(values.queries)),
            *judged_note(rows, asked.keys[""]["Judged"], job.cutoff),
        ],
    }
    return found, table


def _sides(labels: Labellings) -> Sides | None:
    """Return the two groups beside the neutral one; None where there are more or fewer."""
    others = [name for name in labels.groups[labels.labelled].groups if name not in (NEUTRAL, UNKNOWN)]
    return Sides(labels.labelled, NEUTRAL, *others) if len(others) == 2 else None


def _target(job: PresenceJob, labels: Labellings) -> Target:
    """Return what is aimed at; a population without shares is ``neutral_share`` and the rest in equal parts."""
    target = job.target
    if not isinstance(target, Population) or target.shares is not None or target.path is not None:
        return target
    others = [name for name in labels.groups[labels.labelled].groups if name not in (NEUTRAL, UNKNOWN)]
    if not others:
        raise ConfigError(f"target: found the group {NEUTRAL} alone; expected labels of other groups too")
    rest = round((1.0 - job.neutral_share) / len(others), 12)
    return Population(shares={NEUTRAL: job.neutral_share, **dict.fromkeys(others, rest)})


def _neutral_note(labels: GroupAlignment) -> list[str]:
    """Return a sentence where no text is of any group."""
    others = [place for place, name in enumerate(labels.groups) if name not in (NEUTRAL, UNKNOWN)]
    if np.isin(labels.group, others).any():
        return []
    return [NO_GROUP]


def _labels(groups: Mapping[str, Any], labels: Labellings) -> dict[str, Any]:
    """Return how many of the pool's documents have each label, by source and by both."""
    counted = {
        attribute: dict(zip(one.groups, np.bincount(one.group, minlength=len(one.groups)).tolist(), strict=True))
        for attribute, one in groups.items()
    }
    both = None if labels.given is None else crossed(groups, labels.labelled, labels.given)
    return {"documents": counted, "given_by_labelled": both}


def _options(job: PresenceJob, target: Target) -> dict[str, Any]:
    plain = ("given", "cutoff", "alpha", "neutral_share", "samples", "universe", *OF_BOOTSTRAP)
    grid = {
        key: value if isinstance(value, float) else list(value) for key, value in dataclasses.asdict(job.grid).items()
    }
    words = {"browsing": str(job.browsing), "target": _target_words(target), "groups": _groups_words(job.groups)}
    return json.loads(json.dumps({**words, **{key: getattr(job, key) for key in plain}, **grid}))  # type: ignore[no-any-return]


def _target_words(target: Target) -> str:
    """Return shares that are stated as words, other targets as they print."""
    if isinstance(target, Population) and target.shares is not None:
        return ", ".join(f"{group} {share:g}" for group, share in target.shares.items())
    return str(target)


def _groups_words(groups: Any) -> str:
    """Return where labels come from, as words."""
    if isinstance(groups, LabellerGroups):
        return groups.labeller if isinstance(groups.labeller, str) else json.dumps(groups.labeller, default=str)
    return str(getattr(groups, "path", groups))
