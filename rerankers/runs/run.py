"""A run: the rankings that a system gave, by name."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from rerankers._base.errors import InputError
from rerankers.values import Candidates, Counts, Ids, Rankings

PARQUET_FILE = "run.parquet"
TREC_FILE = "run.trec.gz"
ARROW_FILE = "run.arrow"
POLICY_FILE = "policy.parquet"
"""From which the rankings that were drawn come back, where a job wrote no run."""
SUFFIXES = (".gz", ".zst", ".jsonl", ".json", ".tsv", ".csv", ".txt", ".run", ".trec", ".parquet", ".arrow")


@dataclass(frozen=True, slots=True, eq=False)
class Run:
    """One or several rankings a query, equally weighted.

    Attributes
    ----------
    name
        what reports call it (`run_name`).
    qids
        the Q query ids, in the order of the source.
    docs
        sorted document ids: those that are ranked somewhere.
    rankings
        ``over`` has one row a query, ``query`` being the index into ``qids``, with every document that is ranked in
        any of the query's rankings, ascending by code; where every query has exactly one ranking and the source has
        scores, they are its column ``score``. Rankings of a query ascend by label.
    counts
        what was met, where it was met at all: ``blank_lines``, ``rankings_ordered_by_score``,
        ``rankings_whose_scores_disagree_with_ranks``, ``empty_rankings``, ``queries_with_fewer_rankings``,
        ``sample_names_numbered``.
    q_num
        the entry of the query sequence that each ranking answers (R,), where the source names it; else empty.
    """

    name: str
    qids: tuple[str, ...]
    docs: Ids
    rankings: Rankings
    counts: Counts = field(default_factory=dict)
    q_num: tuple[str, ...] = ()

    def candidates(self) -> Candidates:
        """Return the documents of the only ranking of each query, best first, with their scores where there are any.

        Raises
        ------
        InputError
            when a query has several rankings.
        """
        over, rankings = self.rankings.over, self.rankings
        several = np.flatnonzero(rankings.counts != 1)
        if len(several):
            query, count = self.qids[several[0]], rankings.counts[several[0]]
            raise InputError.one(
                self.name,
                f"{count} rankings of query {query!r}",
                "one ranking a query",
                mend="Give the run of a single ranking a query, not sampled rankings.",
            )
        order = rankings.flat
        columns = {name: column[order] for name, column in over.columns.items()}
        return Candidates(over.query, rankings.item_ptr, over.doc[order], columns)


def run_name(path: Path) -> str:
    """Return what a run is called: the base name without its known suffixes.

    A folder gives its own name, and so does the folder of the files that a job leaves there.
    """
    whole = Path(os.path.abspath(path))  # ".." and "." go, links keep their name
    if whole.name in (PARQUET_FILE, TREC_FILE, ARROW_FILE, POLICY_FILE) and whole.parent.name:
        return whole.parent.name
    name = whole.name
    if whole.is_dir():
        return name
    while (suffix := Path(name).suffix) in SUFFIXES:
        name = name.removesuffix(suffix)
    return name


def met(counts: Mapping[str, int]) -> dict[str, int]:
    """Return the counts that are not zero."""
    return {name: int(count) for name, count in counts.items() if count}
