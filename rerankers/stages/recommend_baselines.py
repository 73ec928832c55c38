"""What a search engine gives for the original query without telling: feedback terms that are added with weights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from rerankers.queries.generators.rm3 import weighted_query
from rerankers.queries.looks import ListLook
from rerankers.stages.recommend_others import OF_EVALUATION, judge_of

if TYPE_CHECKING:
    from rerankers.queries.generators.base import Query
    from rerankers.stages.recommend_ground import Ground
    from rerankers.stages.recommend_job import RecommendJob

    Texts = Mapping[str, tuple[str, str]]

RM3: Final = "rm3 (weighted)"


def expanded(queries: Sequence[Query], ground: Ground) -> Texts:
    """Return query id -> the weighted query for selection and for evaluation; all are searched. Empty without texts."""
    if ground.scorer.vectors is None:
        return {}
    terms, searchers = ground.context.terms, (ground.context.searcher, ground.held_out_searcher)
    made = [[weighted_query(terms, one.text, stage.hits(one.text)) for one in queries] for stage in searchers]
    for searcher, texts in zip(searchers, made, strict=True):
        searcher.search(texts)
    return {query.id: pair for query, *pair in zip(queries, *made, strict=True)}  # type: ignore[misc]


def baselines(query: Query, texts: Texts, job: RecommendJob, ground: Ground) -> list[dict[str, Any]]:
    """Return where the documents of the weighted query stand: as rerankings are told, with an ``evaluation``."""
    if query.id not in texts:
        return []
    first, second = texts[query.id]
    sides = (
        (first, ground.scorer, ground.context.searcher),
        (second, ground.held_out, ground.held_out_searcher),
    )
    told, apart = (
        judge_of(query, job, scorer, searcher, ground).score(ListLook(searcher.hits(text).docs[: job.pool]))
        for text, scorer, searcher in sides
    )
    evaluation = {key: apart[key] for key in OF_EVALUATION}
    return [{"name": RM3, "axis": None, "needs_click": False, **told, "evaluation": evaluation}]
