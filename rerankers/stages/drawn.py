"""The rankings that a job published, judged anew: how much a value owes to its finite draws and to single labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rerankers._base.own_files import own_mapping
from rerankers._conf import build
from rerankers.collections import FileGroups
from rerankers.collections.annotation_groups import AnnotationGroups
from rerankers.collections.annotations import annotation_form
from rerankers.collections.trec_samples import is_sample, read_sample
from rerankers.exposure.estimators import estimate, estimate_groups
from rerankers.measures.coverage import cover
from rerankers.measures.evaluation import Evaluation, Options
from rerankers.measures.placebo import Bilinear
from rerankers.measures.placebo_variance import shuffled_variance
from rerankers.runs import PARQUET_FILE, read_run
from rerankers.stages.config_parts import build_part, need_parts, texts
from rerankers.values import GroupAlignment, Ids, Judgments, Ragged, Rankings, outer_join
from rerankers.values.qrels import read_qrels
from rerankers.values.table import reading

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.runs import Run

    Floats = NDArray[np.float64]

UTILITY, EEL = "utility", "EEL"


@dataclass(frozen=True, slots=True, eq=False)
class Drawn:
    """What the published rankings of one system say about noise.

    Attributes
    ----------
    units
        query ids, B of them.
    from_file
        whether the job judged a file of rankings, which are then the policy, and not the policy behind them.
    draws
        int64 (B,), rankings a query.
    by_draws
        measure -> float64 (B,), the variance of a query's estimate from so many draws; NaN from fewer than three (two
        for utility).
    by_labels
        measure of groups -> float64 (B,), the variance of a query's value under labels shuffled among its documents.
    """

    units: tuple[str, ...]
    from_file: bool
    draws: NDArray[np.int64]
    by_draws: Mapping[str, Floats]
    by_labels: Mapping[str, Floats]


@dataclass(frozen=True, slots=True, eq=False)
class _World:
    """Judgments and groups under the codes of some queries and documents."""

    queries: Ids
    docs: Ids
    judgments: Judgments
    groups: Mapping[str, GroupAlignment]
    missing: str


def drawn_of(folder: Path) -> tuple[dict[str, Drawn], str]:
    """Return system -> what its published rankings say, and why there is nothing where it is empty.

    Judgments and groups are read again from where the job's config says that they are.

    Raises
    ------
    FairRerankersError
        for files that are damaged or no longer there.
    """
    path = folder / "config.yaml"
    if not path.is_file():
        return {}, "there is no config.yaml"
    config = own_mapping(path, "the config that a job writes")
    if config.get("preset") is not None:
        return {}, "a preset judged them by rules of its own; evaluate the same files without preset"
    if config.get("universe") != "union":
        return {}, "only judged documents counted; use universe=union"
    if "qrels" in config:
        _need(config, path, (), ("run", "missing_query"))
        need_parts(config["groups"], path, (), ("path",))
        runs = [read_run(Path(one)) for one in texts(config["run"])]
        world = _of_evaluate(config, runs)
    elif "collection" in config and (folder / PARQUET_FILE).is_file():
        _need(config, path, ("collection",), ())
        runs = [read_run(folder)]
        world = _of_run(config, runs[0])
        runs = [replace(runs[0], name=_only_system(folder, runs[0].name))]
    else:
        return {}, f"there is no {PARQUET_FILE}"
    return {run.name: _drawn(run, world, config) for run in runs}, ""


def _need(config: Mapping[str, Any], path: Path, parts: Sequence[str], others: Sequence[str]) -> None:
    """Raise `InputError` unless a config has what rankings are judged by, and what else its command has."""
    need_parts(config, path, ("browsing", "measures", "groups", *parts), others)
    need_parts(config["measures"], path, (), ("cutoff",))


def _only_system(folder: Path, name: str) -> str:
    """Return the name under which a job that published one run measured it."""
    import pyarrow.parquet as pq

    path = folder / "measures.parquet"
    with reading(path):
        systems = pq.read_table(path, columns=["system"])["system"].unique().to_pylist()
    return next((system for system in systems if not system.startswith("anchor:")), name)


def _of_evaluate(config: Mapping[str, Any], runs: list[Run]) -> _World:
    qrels = Path(str(config["qrels"]))
    table = read_sample(qrels).qrels() if is_sample(qrels) else read_qrels(qrels)
    queries = Ids.of(list(dict.fromkeys([*table.qid.to_pylist(), *(qid for run in runs for qid in run.qids)])))
    docs = Ids.union(table.docno, *(run.docs for run in runs))
    judgments, _ = table.bind(queries, docs)
    node = config["groups"]
    groups: Mapping[str, GroupAlignment] = {}
    if node["path"]:
        kind = FileGroups if annotation_form(node["path"]) is None else AnnotationGroups
        part = build({"_target_": f"{kind.__module__}.{kind.__qualname__}", **node}, where="groups")
        groups = part.align_documents(docs).alignments
    return _World(queries, docs, judgments, groups, str(config["missing_query"]))


def _of_run(config: Mapping[str, Any], run: Run) -> _World:
    loaded = build_part(config, "collection").load()
    known = loaded.over(Ids.union(loaded.docs.names, run.docs))
    groups = build_part(config, "groups").align(known).alignments
    return _World(known.topics.ids, known.docs, known.judgments, groups, "skip")


def _drawn(run: Run, world: _World, config: Mapping[str, Any]) -> Drawn:
    own, over = run.rankings, run.rankings.over
    query = world.queries.codes(run.qids)[over.query]
    coded = replace(own, over=Ragged(query, over.indptr, run.docs.recoder(world.docs)[over.doc]))
    coded, _ = cover(coded, world.judgments, world.queries, world.missing, run.name)
    coded = coded.take(np.argsort(coded.over.query, kind="stable"))
    judged = np.isin(coded.over.query, world.judgments.query[world.judgments.lengths > 0])
    coded = coded.take(np.flatnonzero(judged))
    judgments = world.judgments.take(np.flatnonzero(np.isin(world.judgments.query, coded.over.query)))
    options = Options(
        browsing=build(config["browsing"], where="browsing"),
        cutoff=config["measures"]["cutoff"],
        max_grade=max(1, int(world.judgments.grade.max(initial=0))),
    )
    evaluation = Evaluation(coded, judgments, world.groups, options)
    return Drawn(
        tuple(world.queries.take(evaluation.over.query)),
        "qrels" in config,
        coded.counts,
        _by_draws(coded, evaluation),
        _by_labels(evaluation),
    )


def _by_draws(rankings: Rankings, evaluation: Evaluation) -> dict[str, Floats]:
    """Return the variances of estimates from draws; rows are those of the universe, unranked documents included."""
    universe, model = evaluation.universe, evaluation.options.model
    join = outer_join(rankings.over, universe.own)
    item = join.left[rankings.flat] - join.over.indptr[rankings.row_of_ranking][rankings.ranking_of_item]
    spread = replace(rankings, over=join.over, item=item.astype(np.int32))
    bound = model.bind(universe.union_grade, join.over.indptr)
    target, satisfaction = evaluation.target(model), evaluation.satisfaction(model)
    of_groups = estimate_groups(spread, bound, target, list(evaluation.groups.values()))
    found = {
        UTILITY: estimate(spread, bound, satisfaction).se_EER ** 2,
        EEL: estimate(spread, bound, target).se_EEL ** 2,
    }
    return found | {key: one.se_EEL**2 for key, one in zip(_group_keys(evaluation.groups), of_groups, strict=True)}


def _by_labels(evaluation: Evaluation) -> dict[str, Floats]:
    model = evaluation.options.model
    difference = evaluation.exposure(model) - evaluation.target(model)
    found = {}
    for key, alignment in zip(_group_keys(evaluation.groups), evaluation.groups.values(), strict=True):
        value = Bilinear.of(alignment, evaluation.over.indptr, evaluation.over.doc, difference)
        variance = shuffled_variance(value)
        if variance is not None:
            found[key] = variance
    return found


def _group_keys(groups: Mapping[str, GroupAlignment]) -> list[str]:
    return ["group_EEL"] if len(groups) == 1 else [f"EEL(group={name!r})" for name in groups]
