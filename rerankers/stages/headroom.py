"""What the first stage leaves possible: recall of due exposure by group, least attainable losses, depths needed."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rerankers._base.errors import ConfigError
from rerankers._base.files import write_text
from rerankers._base.logs import log_to
from rerankers._base.progress import busy, steps
from rerankers.execution import block_bounds
from rerankers.measures.evaluation import Options
from rerankers.report.recall_curves import recall_pictures
from rerankers.stages.config_parts import build_part, cache_folder, check_keys, command_line, texts, whole_number
from rerankers.stages.gathered import read_results
from rerankers.stages.headroom_account import divided, least_losses, recalls, together
from rerankers.stages.headroom_rows import HeadroomBlock, cells, losses
from rerankers.stages.headroom_text import markdown, terminal
from rerankers.stages.pool import make_pool
from rerankers.stages.results import check_max_grade
from rerankers.stages.sweeps import expanded

if TYPE_CHECKING:
    from rerankers.execution import Executor
    from rerankers.exposure.browsing import BrowsingModel
    from rerankers.retrieval import Retriever

JSON_FILE, TEXT_FILE, FIGURES = "headroom.json", "headroom.md", "figures"
OF_RECALL = ("depths", "depth_for", "depth_for_loss")
OF_BOOTSTRAP = ("seed", "confidence", "resamples")
OF_PARTS = ("collection", "retriever", "browsing", "groups", "execution", "paths", "results", "allow_targets", "output")
KEYS = frozenset((*OF_PARTS, *OF_RECALL, *OF_BOOTSTRAP))
OF_RANKING = ("method", "target", "fit", "measures", "ledger", "samples", "universe", "sequence", "rounds", "predicted")
"""What experiments of ``run`` set besides."""


@dataclass(frozen=True, slots=True)
class HeadroomJob:
    """The parts of a ``headroom``, already built from the config; see ``conf/headroom.yaml`` for what each is.

    Raises
    ------
    ConfigError
        for depths, shares, losses or settings of the bootstrap that are out of range.
    """

    collection: Any
    retriever: Retriever
    browsing: BrowsingModel
    groups: Any
    execution: Executor
    cache: Path
    depths: Sequence[int]
    depth_for: float = 0.95
    depth_for_loss: float | None = None
    results: Sequence[Path] = ()
    seed: int = 0
    confidence: float = 0.95
    resamples: int = 2000

    def __post_init__(self) -> None:
        if not self.depths or min(self.depths) < 1:
            raise ConfigError(f"depths: found {list(self.depths)}; expected whole numbers of at least 1")
        if not 0 < self.depth_for <= 1:
            raise ConfigError(f"depth_for: found {self.depth_for}; expected a recall above 0, at most 1")
        if self.depth_for_loss is not None and not 0 <= self.depth_for_loss < np.inf:
            raise ConfigError(f"depth_for_loss: found {self.depth_for_loss}; expected a loss of at least 0, or null")
        if not 0 < self.confidence < 1:
            raise ConfigError(f"confidence: found {self.confidence}; expected a number between 0 and 1")
        if self.resamples < 1:
            raise ConfigError(f"resamples: found {self.resamples}; expected at least 1")


def headroom_from_config(config: Mapping[str, Any], folder: Path, words: Sequence[str]) -> None:
    """Run the job of a config of ``conf/headroom.yaml``'s form, print its tables and write its files.

    Raises
    ------
    FairRerankersError
        with the exit code of the command, for anything that is wrong with config, input or machine.
    """
    spare = [key for key in OF_RANKING if key in config]
    if spare:
        print(f"note: without effect here, since about ranking: {', '.join(spare)}")
    check_keys({key: value for key, value in config.items() if key not in spare}, KEYS)
    part = partial(build_part, config)
    most = config["depth_for_loss"]
    job = HeadroomJob(
        collection=part("collection"),
        retriever=part("retriever"),
        browsing=part("browsing"),
        groups=part("groups"),
        execution=part("execution"),
        cache=cache_folder(config),
        depths=_depths(config["depths"]),
        depth_for=_number("depth_for", config["depth_for"]),
        depth_for_loss=None if most is None else _number("depth_for_loss", most),
        results=[Path(one) for one in texts(config["results"] or [])],
        seed=whole_number(config, "seed"),
        confidence=_number("confidence", config["confidence"]),
        resamples=whole_number(config, "resamples"),
    )
    log_to(folder)
    found = headroom(job, config["groups"])
    found["command"] = command_line("headroom", words)
    pictures = recall_pictures(found)
    for line in terminal(found):
        print(line)
    write_text(folder / JSON_FILE, json.dumps(found, ensure_ascii=False, allow_nan=False, indent=1) + "\n")
    write_text(folder / TEXT_FILE, markdown(found, [(picture, FIGURES) for picture in pictures]))
    for picture in pictures:
        picture.save(folder / FIGURES)
    print(f"headroom: {folder / TEXT_FILE}, {folder / JSON_FILE}")


def headroom(job: HeadroomJob, groups: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return what the first stage leaves possible, as in ``headroom.json``.

    Parameters
    ----------
    job
        the parts.
    groups
        options of the groups, which results that are divided must share.

    Returns
    -------
    dict
        ``options``, ``counts``, ``depths`` (those of the lists, the last one is the whole list), ``queries`` that are
        judged, ``recall`` (`recalls`), ``loss`` (`least_losses`) and ``runs`` (`divided`).
    """
    jobs = [read_results(folder) for folder in expanded(job.results)]
    with busy("collection"):
        collection = job.collection.load()
    for one in jobs:
        if one.collection not in (None, collection.fingerprint):
            raise ConfigError(f"{one.folder}: results of another test collection than {collection.name} as it is here")
    retrieved = job.retriever.retrieve(collection, job.cache)
    known = collection.over(retrieved.docs)
    aligned = job.groups.align(known)
    pool = make_pool(known.docs, known.topics, retrieved.candidates, known.judgments, aligned.alignments)
    check_max_grade(job.browsing, pool.judgments)
    options = Options(browsing=job.browsing, max_grade=max(1, int(pool.judgments.grade.max(initial=0))))
    longest = int(pool.candidates.lengths.max(initial=0))
    depths = [depth for depth in sorted(set(job.depths)) if depth < longest] + [max(longest, 1)]
    task = HeadroomBlock(pool.groups, options, depths)
    bounds = block_bounds(np.maximum(pool.candidates.lengths, 1), 1, job.execution.block)
    parts = (pool.part(start, stop) for start, stop in bounds)
    blocks = steps(job.execution.map(task, parts, pool.named), "least losses", "block", len(bounds))
    rows = together(blocks)
    qids, keys = pool.topics.ids.take(rows.query), losses(pool.groups)
    bootstrap = {"seed": job.seed, "resamples": job.resamples, "level": job.confidence}
    judged_by = {"browsing": str(options.model), "universe": "union", "cutoff": None}
    judged_by |= {f"groups.{key}": groups[key] for key in ("unknown", "mixed") if groups and key in groups}
    whole = rows.cell == 0
    settings = {key: getattr(job, key) for key in ("depth_for", "depth_for_loss", *OF_BOOTSTRAP)}
    return {
        "options": {
            "browsing": str(options.model),
            "universe": "union",
            "groups": None if groups is None else dict(groups),
            **settings,
        },
        "counts": {
            "collection": dict(collection.counts),
            "retrieval": dict(retrieved.counts),
            "groups": dict(aligned.counts),
            "headroom": {
                "queries_not_judged": rows.left_out,
                "judged_queries_without_candidates": int(np.sum(_empty(pool.candidates, rows.query))),
                "relevant_documents": int(np.sum(whole)),
                "relevant_documents_not_retrieved": int(np.sum(whole & (rows.rank == 0))),
                "depths_beyond_the_lists": sum(depth > longest for depth in job.depths),
            },
        },
        "collection": collection.name,
        "queries": len(rows.query),
        "depths": depths,
        "recall": recalls(rows, cells(pool.groups), depths, job.depth_for),
        "loss": least_losses(rows, keys, depths, job.depth_for_loss, qids, **bootstrap),
        "runs": divided(rows, keys, qids, jobs, judged_by),
    }


def _empty(candidates: Any, query: Any) -> Any:
    return np.isin(query, candidates.query[candidates.lengths == 0])


def _depths(value: Any) -> list[int]:
    given = value if isinstance(value, list) else [value]
    wrong = [one for one in given if type(one) is not int]
    if wrong:
        raise ConfigError(f"depths: found {wrong[0]!r}; expected whole numbers, such as [10,100]")
    return given


def _number(key: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ConfigError(f"{key}: found {value!r}; expected a number")
    return float(value)
