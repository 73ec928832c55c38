"""Task 1 of the Wikipedia tracks: one ranking a topic, nDCG times AWRF."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rerankers.measures.cell_distance import cell_divergence
from rerankers.measures.cells import Cells, weighted_cells
from rerankers.measures.rank_discount import binary_ndcg, rank_discount
from rerankers.measures.rank_fairness import SCALES, fairness_of
from rerankers.tracks.official2021 import cells_that_count, divergence_of_even_shares, refuse_gain_above_one
from rerankers.tracks.wiki_files import Files, Values, judged_topics, load, note, relevant_rows, result_table
from rerankers.tracks.wiki_preset import CHOICES, WikiPreset
from rerankers.tracks.wiki_targets import group_target

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.measures.mixing import Mixed
    from rerankers.tracks.pages import PageTable
    from rerankers.tracks.preset import Inputs, Outcome

NO_RELEVANT = "no_relevant_document"
NO_TARGET = "target_undefined"
NO_SHARES = "no_ranked_document_in_any_group"


@dataclass(frozen=True, kw_only=True)
class WikiTask1(WikiPreset):
    """Evaluation of task 1.

    Attributes
    ----------
    ideal_depth
        relevant pages the ideal ranking holds at most; null for as many as are judged.
    unknown_cell
        ``drop``: the cell in which nothing is known counts neither in shares nor in the target (2021); ``keep``.
    unknown_pages
        pages that the page file lacks: ``skip_row`` (they count in the normaliser of the shares only) or
        ``leave_normaliser``. The shares are divided by their sum, so this matters only where no page is known.
    empty_alignment
        a ranking that reaches no cell: AWRF ``zero``; ``undefined``; or, if anything stays in the normaliser, ``ones``
        (equal shares of all cells).
    awrf_scale
        ``nats``: AWRF from 1 - ln 2 to 1; ``unit``: from 0.
    """

    ideal_depth: int | None = None
    unknown_cell: str = "keep"
    unknown_pages: str = "leave_normaliser"
    empty_alignment: str = "zero"
    awrf_scale: str = "nats"

    @classmethod
    def choices(cls) -> Mapping[str, Sequence[str]]:
        """Return option -> the words it may have."""
        own = {
            "unknown_cell": ("keep", "drop"),
            "unknown_pages": ("skip_row", "leave_normaliser"),
            "empty_alignment": ("zero", "undefined", "ones"),
            "awrf_scale": SCALES,
        }
        return {**CHOICES, **own}

    @classmethod
    def whole_numbers(cls) -> tuple[str, ...]:
        """Return the options that are whole numbers of at least 1, or null."""
        return (*super().whole_numbers(), "ideal_depth")

    def evaluate(self, inputs: Inputs) -> Outcome:
        """Judge runs: nDCG, AWRF and their product for each judged topic.

        Raises
        ------
        FairRerankersError
            for anything wrong with the files.
        """
        from rerankers.tracks.wiki_outcome import outcome

        files = load(self, inputs, repeats=False)
        chosen = judged_topics(self, files, np.ones(len(files.relevant.topics), bool))
        rankings = {name: run.rankings(self.eval_depth) for name, run in files.runs.items()}
        rows: dict[str, list[tuple[str, Values]]] = {name: [] for name in files.runs}
        found = {name: Counter[str]() for name in files.runs}
        for place in chosen:
            topic, relevant = files.relevant.topics[place], files.relevant.of(place)
            target, alone = self._target(files, topic, relevant)
            for name in files.runs:
                found[name]["topics_with_background_target"] += alone
                given = rankings[name].get(topic)
                if given is None and self.missing_query == "official_default":
                    continue
                pages = given[0] if given else np.zeros(0, np.int64)
                rows[name].append((topic, self.score(files.table, pages, relevant, target, topic, name)))
                found[name]["pages_not_in_the_page_file"] += int(np.sum(files.table.rows(pages) < 0))
                found[name]["rankings_without_any_group"] += bool(given) and not self.cells(files.table, pages).total
                found[name]["topics_without_target"] += target is None
        for name in files.runs:
            note(files, name, found[name])
        tables = {name: result_table(name, rows[name]) for name in files.runs}
        return outcome(self, files, tables)

    def score(
        self,
        table: PageTable,
        pages: NDArray[np.int64],
        relevant: NDArray[np.int64],
        target: Mixed | None,
        topic: str = "",
        run: str = "",
    ) -> Values:
        """Judge one ranking.

        Parameters
        ----------
        table
            the pages.
        pages
            int64 (n,), the ranking, at most as deep as is judged; an empty one scores 0.
        relevant
            int64, relevant pages, each once.
        target
            over the cells, or None where it is not defined.
        topic, run
            for messages.

        Raises
        ------
        InputError
            for an nDCG above 1, which repeated pages can cause.
        """
        ndcg = self.ndcg(pages, relevant)
        if ndcg is not None:
            refuse_gain_above_one(ndcg, topic, f"run {run}".strip())
        fairness, reason = self.awrf(table, pages, target)
        if len(pages) == 0:
            fairness, reason = 0.0, None
        if ndcg is None:
            score: tuple[float | None, str | None] = (None, NO_RELEVANT)
        else:
            score = (None, reason) if fairness is None else (ndcg * fairness, None)
        return {
            "nDCG": (ndcg, NO_RELEVANT if ndcg is None else None),
            "AWRF": (fairness, reason),
            "score": score,
        }

    def ndcg(self, pages: NDArray[np.int64], relevant: NDArray[np.int64]) -> float | None:
        """Return the nDCG of a ranking with gains of 0 and 1; None without a relevant page."""
        if not len(relevant):
            return None
        depth = self.judged_depth if self.ideal_depth is None else self.ideal_depth
        return binary_ndcg(np.isin(pages, relevant), min(depth, len(relevant)), self.discount_dtype)

    def awrf(self, table: PageTable, pages: NDArray[np.int64], target: Mixed | None) -> tuple[float | None, str | None]:
        """Return the AWRF of a ranking, or None and the reason why there is none."""
        if target is None:
            return None, NO_TARGET
        cells = self.cells(table, pages)
        if cells.total > 0:
            return fairness_of(cell_divergence(cells, target), self.awrf_scale), None
        if self.empty_alignment == "zero":
            return 0.0, None
        normalised = self.unknown_pages == "skip_row" or bool(np.any(table.rows(pages) >= 0))
        if self.empty_alignment == "undefined" or not normalised or not len(pages):
            return None, NO_SHARES
        without = 0 if self._drops(table) else None
        return fairness_of(divergence_of_even_shares(target, without), self.awrf_scale), None

    def cells(self, table: PageTable, pages: NDArray[np.int64]) -> Cells:
        """Return the attention that each cell gets from a ranking; pages without a row give none."""
        rows = table.rows(pages)
        known = rows >= 0
        weight = rank_discount(len(pages), self.discount_dtype)
        cells = weighted_cells(table.memberships, rows[known], weight[known])
        return cells_that_count(cells, self._drops(table))

    def _drops(self, table: PageTable) -> bool:
        return self.unknown_cell == "drop" and table.all_unknown

    def _target(self, files: Files, topic: str, relevant: NDArray[np.int64]) -> tuple[Mixed | None, bool]:
        given = files.given_target(topic)
        if given is not None:
            return given, False
        rows = relevant_rows(self, files, topic, relevant)
        options: dict[str, Any] = {
            "drop_unknown": self._drops(files.table),
            "by_cells": self.year == 2021,
            "else_background": self.no_known_relevant == "background",
        }
        return group_target(files.table, rows, np.ones(len(rows)), self.background_share, **options)
