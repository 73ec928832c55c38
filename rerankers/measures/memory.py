"""One run against its judgments, all in memory and in one block."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from rerankers._base.errors import ConfigError
from rerankers.exposure.browsing import GERR, BrowsingModel
from rerankers.measures.coverage import cover
from rerankers.measures.evaluation import Evaluation, Options
from rerankers.measures.inputs import group_alignment, highest_grade, qrels_table
from rerankers.measures.names import Measure, parse_many
from rerankers.measures.plan import default_measures
from rerankers.measures.table import measure_block
from rerankers.runs import read_run
from rerankers.values import Ids

if TYPE_CHECKING:
    from rerankers.values import GroupAlignment


def evaluate_in_memory(
    run: Any,
    qrels: str | Path | Mapping[Any, Mapping[Any, Any]],
    groups: Mapping[Any, Any] | None,
    preset: str | None,
    browsing: BrowsingModel | None,
    measures: str | Measure | Iterable[str | Measure] | None,
    universe: str,
    cutoff: int | None,
    missing_query: str,
) -> pa.Table:
    """Do what `rerankers.measures.evaluate` says."""
    if preset is not None:
        raise ConfigError(f"preset: found {preset!r}; expected None, no preset exists yet")
    judged = qrels_table(qrels)
    answered = read_run(run)
    docs = Ids.union(answered.docs, judged.docno)
    queries = _queries(answered.qids, judged.qid)
    judgments, _ = judged.bind(queries, docs)
    rankings = replace(answered.rankings, over=answered.rankings.over.recode(answered.docs.recoder(docs)))
    rankings, _ = cover(rankings, judgments, queries, missing_query, answered.name)
    aligned: dict[str, GroupAlignment] = {}
    if groups is not None:
        alignment, _ = group_alignment(groups, docs)
        aligned[alignment.attribute] = alignment
    options = Options(
        browsing=GERR() if browsing is None else browsing,
        universe=universe,
        cutoff=cutoff,
        max_grade=highest_grade(judged.grade),
    )
    evaluation = Evaluation(rankings, judgments, aligned, options)
    asked = default_measures(tuple(aligned)) if measures is None else parse_many(measures)
    return measure_block(evaluation, asked, queries.take(rankings.over.query), answered.name)


def _queries(ranked: tuple[str, ...], judged: pa.LargeStringArray) -> Ids:
    """Return the query ids of the run in its order, then the others of the judgments."""
    names = pa.concat_arrays([pa.array(ranked, pa.large_string()), judged])
    return Ids.of(pc.unique(names), "query id")
