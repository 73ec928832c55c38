"""What candidates of a job are judged by: axes, documents' vectors, judgments, and the means held out of selection."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from rerankers._base.errors import ConfigError
from rerankers.queries.axes import crossed, make_axes
from rerankers.queries.distributions import unresolved
from rerankers.queries.generators.base import Context
from rerankers.queries.scoring import Scorer
from rerankers.queries.searching import Searcher

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from rerankers.llm.base import Session
    from rerankers.queries.axes import Axis
    from rerankers.stages.recommend_job import RecommendJob
    from rerankers.values import Collection
    from rerankers.values.collection import Counts

    Judged = Mapping[str, tuple[NDArray[np.int32], NDArray[np.int16]]]

NO_GROUPS = (
    "no attribute has groups: queries are told apart by relevance alone, and nothing is said of balance; name labels "
    "by groups=FILE, or groups=[NAMES] of a collection that has them"
)


@dataclass(frozen=True, slots=True, eq=False)
class Ground:
    """What a job stands on.

    Attributes
    ----------
    context
        of the generators, with the searcher.
    scorer, held_out
        objectives as they select, and as they evaluate.
    judged
        topic -> judged documents and grades.
    counts
        of the groups.
    warnings
        for the reader.
    """

    context: Context
    scorer: Scorer
    held_out: Scorer
    held_out_searcher: Searcher
    judged: Judged
    counts: Counts
    warnings: tuple[str, ...]


def ground_of(job: RecommendJob, collection: Collection, session: Session | None) -> Ground:
    """Return what a job stands on.

    Raises
    ------
    FairRerankersError
        for axes without labels, targets that do not fit, a retriever that cannot search.
    """
    searcher = Searcher(job.retriever, collection, job.cache, job.search_depth)
    other = job.held_out.changed(job.retriever)
    apart = searcher if other == job.retriever else Searcher(other, collection, job.cache, job.search_depth)
    context = Context(collection, searcher, job.cache, session)
    axes, counts, warnings = _axes(job, collection, job.targets)
    held = axes if job.held_out.targets is None else _axes(job, collection, job.held_out.targets)[0]
    vectors = _vectors(job, collection, context)
    judged = judged_documents(collection)
    options = job.scoring
    if job.held_out.browsing is not None:
        options = replace(options, weights=job.held_out.browsing, patience=job.held_out.patience)
    return Ground(
        context,
        Scorer(searcher, axes, job.scoring, vectors, judged),
        Scorer(apart, held, options, vectors, judged),
        apart,
        judged,
        counts,
        tuple(warnings),
    )


def judged_documents(collection: Collection) -> Judged:
    """Return topic -> (int32 (j,), int16 (j,)): judged documents and their grades."""
    given = collection.judgments
    ids = collection.topics.ids.take(given.query)
    return {qid: (given.doc[given.row(row)], given.grade[given.row(row)]) for row, qid in enumerate(ids)}


def _axes(job: RecommendJob, collection: Collection, targets: Any) -> tuple[list[Axis], Counts, list[str]]:
    aligned = job.groups.align(collection)
    alignments = {name: unresolved(one) for name, one in aligned.items()}
    alignments |= {name: crossed(name, alignments) for name in job.crossed}
    warnings = []
    if not job.groups_asked:
        for name in [name for name, one in alignments.items() if not one.weight.any()]:
            warnings.append(f"groups {name!r}: no document has a label; there is no axis for it")
            del alignments[name]
    if not alignments:
        if job.scoring.form == "paper":
            raise ConfigError("form: found paper without groups; expected groups, whose distributions it compares")
        warnings.append(NO_GROUPS)
    axes = make_axes(alignments, collection, targets if alignments else "uniform", job.unknown, job.closeness)
    return axes, aligned.counts, warnings


def _vectors(job: RecommendJob, collection: Collection, context: Context) -> Any:
    has_texts = collection.documents is not None and bool(collection.documents.fields)
    if has_texts or job.scoring.relevance == "cosine":
        return context.terms.weighted
    return None
