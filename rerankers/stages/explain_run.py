"""The folder of a ``run`` as `explain` takes it: the stored policy, and what the method saw."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rerankers._base.errors import ConfigError
from rerankers.stages.aim import ready_target
from rerankers.stages.block import seen_by
from rerankers.stages.explain_model import model_parts
from rerankers.stages.explain_rebuild import fingerprint_of, job_of, read_config, row_policy, stored_row
from rerankers.stages.explain_sides import SERVED, Side, unknown_query
from rerankers.stages.ground import judging, prepare
from rerankers.stages.metadata import Stopwatch

if TYPE_CHECKING:
    from rerankers.stages.ground import Ground
    from rerankers.stages.run import RunJob
    from rerankers.values import Collection


@dataclass(frozen=True, eq=False)
class RunSource:
    """The folder of a ``run``.

    Attributes
    ----------
    name
        that tells it apart.
    folder
        of the job.
    """

    name: str
    folder: Path

    @cached_property
    def job(self) -> RunJob:
        """The job of its config."""
        return job_of(self.folder, read_config(self.folder))

    @cached_property
    def collection(self) -> Collection:
        """The collection of the job, unchanged since; `ConfigError` where it is another one now."""
        collection: Collection = self.job.collection.load()
        was = fingerprint_of(self.folder)
        if was is not None and was != collection.fingerprint:
            raise ConfigError(f"{self.folder}: results of another test collection than {collection.name} is now")
        return collection

    @cached_property
    def ground(self) -> Ground:
        """Candidates, groups and beliefs of the job."""
        return prepare(self.job, self.collection, Stopwatch())

    @cached_property
    def target(self) -> Any:
        """What the method aims at, None for one that aims at nothing."""
        return ready_target(
            self.job.target, self.job.method, self.job.collection, self.job.groups, self.ground.known.topics
        )

    @property
    def queries(self) -> list[str]:
        """The ids of its queries."""
        return [str(qid) for qid in self.ground.pool.topics.ids.names.to_pylist()]

    def sides(self, qid: str) -> list[Side]:
        """Return the system on a query."""
        pool, options = self.ground.pool, judging(self.job, self.ground.pool)
        found = stored_row(self.folder, qid)
        rows = np.flatnonzero(pool.candidates.query == pool.topics.ids.codes([qid])[0])
        if found is None or not len(rows):
            raise unknown_query(qid, self.queries if not len(rows) else [], str(self.folder))
        part = pool.part(int(rows[0]), int(rows[0]) + 1)
        shown = seen_by(self.job.method, pool.shown, pool.authors)
        block = part.block(shown, options, self.target)
        policy = row_policy(*found, block.candidates, pool.docs.take(block.candidates.doc), self.folder)
        stored = found[0]
        drawn = f"{stored.samples:,} rankings drawn with seed {stored.seed}" if stored.samples else SERVED
        text = pool.topics.text[int(pool.topics.ids.codes([qid])[0])]
        return [
            Side(
                *(self.name, self.job.name, qid, text, policy, part.judgments, pool.docs, pool.groups, options),
                *(block, self.job, drawn, model_parts(self.job, self.collection, self.ground, int(rows[0]))),
            )
        ]
