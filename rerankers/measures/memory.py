"""One run against its judgments, all in memory and in one block."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

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
    from numpy.typing import NDArray

    from rerankers.values import GroupAlignment


def evaluate_in_memory(
    run: Any,
    qrels: str | Path | Mapping[Any, Mapping[Any, Any]],
    groups: Mapping[Any, Any] | None,
    preset: str | None,
    browsing: BrowsingModel | None,
    measures: str | Measure | Iterable[Any] | None,
    universe: str,
    cutoff: int | None,
    missing_query: str,
) -> pa.Table:
    """Do what `rerankers.measures.evaluate` says."""
    if preset is not None:
        given = {"browsing": browsing, "measures": measures, "cutoff": cutoff, "universe": universe}
        _check_alone(preset, {**given, "missing_query": missing_query})
        # The rules of the tracks lie in a layer above, and are looked up when they are asked for.
        table: pa.Table = import_module("rerankers.tracks.memory").evaluate(run, qrels, groups, preset)
        return table
    judged = qrels_table(qrels)
    answered = read_run(run)
    queries, query = _queries(answered.qids, judged.qids)
    docs, doc = _documents(answered.docs, judged.docno)
    judgments, _ = judged.bind_coded(len(queries), query, doc)
    rankings = answered.rankings
    if docs is not answered.docs:
        rankings = replace(rankings, over=rankings.over.recode(answered.docs.recoder(docs)))
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
    asked = default_measures(tuple(aligned)) if measures is None else _of_queries(parse_many(measures))
    names = queries.names.to_pylist()
    return measure_block(evaluation, asked, [names[code] for code in rankings.over.query], answered.name)


def _of_queries(measures: tuple[Measure, ...]) -> tuple[Measure, ...]:
    """Refuse measures that no query has a value of."""
    for measure in measures:
        if measure.part == "systematic":
            raise ConfigError(
                f"measures: found {measure}, a number of a whole run; expected measures of queries. "
                "It is in measures.json of fair-rerank evaluate"
            )
    return measures


def _check_alone(preset: str, given: Mapping[str, Any]) -> None:
    for name, value in given.items():
        if value not in (None, {"universe": "union", "missing_query": "error"}.get(name)):
            raise ConfigError(f"{name}: found {value}, although preset={preset} says it; leave it out")


def _queries(ranked: Sequence[str], judged: pa.LargeStringArray) -> tuple[Ids, NDArray[np.int32]]:
    """Return the query ids of the run, then those that only the judgments have, and the code of each judged one."""
    names = judged.to_pylist()
    code = {name: place for place, name in enumerate(dict.fromkeys([*ranked, *names]))}
    return Ids(pa.array(list(code), pa.large_string())), np.array([code[name] for name in names], dtype=np.int32)


def _documents(ranked: Ids, judged: pa.LargeStringArray) -> tuple[Ids, NDArray[np.int32]]:
    """Return the sorted ids of all documents, those of the run if these are all, and the code of each judged one."""
    code = ranked.codes(judged)
    if np.all(code >= 0):
        return ranked, code
    docs = Ids.union(ranked, judged)
    return docs, docs.codes(judged)
