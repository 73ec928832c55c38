"""A first stage that another system has run: candidates from a file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.errors import ConfigError, choose
from rerankers.retrieval.base import Retrieved
from rerankers.retrieval.further_runs import check_runs, with_runs
from rerankers.retrieval.listed import SCORES
from rerankers.retrieval.long_runs import read_candidates

if TYPE_CHECKING:
    from rerankers.values import Collection


@dataclass(frozen=True, slots=True)
class RunFile:
    """Read candidates from a run with one ranking a query, in any form that `rerankers.runs.read_run` reads.

    Attributes
    ----------
    run
        path of the file.
    k
        candidates kept a query.
    score
        what becomes of the file's scores: ``file``, ``reciprocal`` or ``linear``; see Notes.
    runs, pool
        further runs, and whether their documents are ranked too; see `rerankers.retrieval.further_runs`.

    Notes
    -----
    The ranks are trusted. With ``file``, scores become the candidates' scores; where a ranking has none, or where they
    contradict its ranks (both are counted), the score is 1 / rank, as with ``reciprocal`` everywhere. ``linear`` falls
    from n to 1 over n documents. A file that repeats one ranking of a query, as submissions of static runs do, counts
    as that one ranking (counted). Documents that the collection does not have are kept, without text and without
    groups, and counted.
    """

    run: str
    k: int = 1000
    score: str = "file"
    runs: list[str] | None = None
    pool: str = "first"

    def __post_init__(self) -> None:
        if self.k < 1:
            raise ConfigError(f"retriever.k: found {self.k}; expected at least 1")
        choose("retriever.score", self.score, SCORES)
        check_runs(self.runs, self.pool)

    def retrieve(self, collection: Collection, cache: Path) -> Retrieved:
        """Return the run's candidates for the collection's topics.

        Raises
        ------
        MissingError
            when a file is not there.
        InputError
            when a file is wrong, or has several rankings of a query.
        """
        found = read_candidates(Path(self.run).expanduser(), self.run, collection, self.k, self.score, cache)
        counts = {
            **found.counts,
            **({"queries_whose_one_ranking_is_repeated": found.repeated} if found.repeated else {}),
            "run_documents_unknown_to_the_collection": len(found.docs) - len(collection.docs),
            "run_queries_unknown_to_the_collection": found.queries - int(np.sum(found.asked)),
            "queries_whose_scores_are_1_over_rank": found.replaced,
            "queries_without_candidates": int(np.sum(~found.asked)),
        }
        return with_runs(Retrieved(found.docs, found.candidates, counts), collection, self.runs, self.pool)
