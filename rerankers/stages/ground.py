"""What a job stands on: a loaded collection with first stage, groups and beliefs, coded over what occurs in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rerankers._base.errors import ConfigError
from rerankers._base.progress import busy
from rerankers.collections import FileGroups
from rerankers.ledger import AUTHORS, author_alignment
from rerankers.measures.evaluation import Options
from rerankers.stages.estimates import Estimates, model_estimates
from rerankers.stages.pool import Pool, make_pool
from rerankers.stages.results import check_max_grade

if TYPE_CHECKING:
    from rerankers.retrieval import Retrieved
    from rerankers.stages.metadata import Stopwatch
    from rerankers.stages.run import RunJob
    from rerankers.values import Collection, Counts, GroupAlignment


@dataclass(frozen=True, slots=True, eq=False)
class Ground:
    """A collection prepared for a job.

    Attributes
    ----------
    known
        the collection, with the documents that a run names besides its own.
    retrieved
        what the first stage found.
    groups
        counts of the groups.
    estimates
        of a model; None without one.
    pool
        everything over the documents that occur.
    """

    known: Collection
    retrieved: Retrieved
    groups: Counts
    estimates: Estimates | None
    pool: Pool


def prepare(job: RunJob, collection: Collection, watch: Stopwatch) -> Ground:
    """Retrieve for a collection, align its groups and estimate relevance, as a job says."""
    retrieved = job.retriever.retrieve(collection, job.cache)
    watch.lap("retrieval")
    # A run may name documents that the collection lacks: they are there, with unknown groups.
    known = collection.over(retrieved.docs)
    with busy("groups"):
        aligned = job.groups.align(known)
    predicted = (
        None if job.predicted is None else predicted_groups(job.predicted, list(aligned.alignments)).align(known)
    )
    pool = make_pool(
        known.docs,
        known.topics,
        retrieved.candidates,
        known.judgments,
        aligned.alignments,
        _authors(job.method, known),
        None if predicted is None else predicted.alignments,
        aligned.companions,
        job.cache,
    )
    watch.lap("groups")
    estimates = _estimates(job, known, retrieved, aligned.alignments)
    if estimates is not None:
        pool = pool.with_estimates(estimates.relevance)
        watch.lap("estimates")
    counts = aligned.counts if predicted is None else {**aligned.counts, **_of_predicted(predicted.counts)}
    return Ground(known, retrieved, counts, estimates, pool)


def predicted_groups(path: Path, attributes: Sequence[str]) -> FileGroups:
    """Return what reads predicted labels: a file without a column ``attribute`` is about the only one evaluated."""
    return FileGroups(str(path), attribute=attributes[0] if len(attributes) == 1 else None)


def _of_predicted(counts: Counts) -> dict[str, int]:
    return {f"predicted_{name}": number for name, number in counts.items()}


def _authors(method: Any, collection: Collection) -> GroupAlignment | None:
    """Return who wrote what, for a method that keeps accounts of authors; None for others."""
    if getattr(method, "entities", None) != AUTHORS:
        return None
    if collection.authors is None:
        name = collection.name
        raise ConfigError(f"method.entities: found {AUTHORS}; expected others, since {name} lists no authors")
    return author_alignment(collection.authors, len(collection.docs))


def _estimates(
    job: RunJob, collection: Collection, retrieved: Retrieved, groups: Mapping[str, GroupAlignment]
) -> Estimates | None:
    if job.model is None:
        return None
    return model_estimates(
        job.model, collection, retrieved.candidates, groups, job.groups, job.browsing, job.cache, job.allowed
    )


def judging(job: RunJob, pool: Pool) -> Options:
    """Return how a job judges the policies over a pool.

    Raises
    ------
    ConfigError
        for a browsing model whose highest grade is below the judged ones.
    """
    check_max_grade(job.browsing, pool.judgments)
    return Options(
        browsing=job.browsing,
        universe=job.universe,
        cutoff=job.measures.cutoff,
        samples=job.samples,
        seed=job.seed,
        force_draws=job.measures.exposure == "draws",
        max_grade=max(1, int(pool.judgments.grade.max(initial=0))),
        permutations=job.measures.permutations,
    )
