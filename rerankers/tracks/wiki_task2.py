"""Task 2 of the Wikipedia tracks: several rankings a topic, expected exposure of groups."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.errors import ConfigError
from rerankers.measures.cell_distance import CellExposure, cell_exposure
from rerankers.measures.cells import Cells, weighted_cells
from rerankers.measures.rank_discount import rank_discount
from rerankers.tracks.wiki_files import Files, Values, judged_topics, load, note, relevant_rows, result_table
from rerankers.tracks.wiki_preset import WikiPreset
from rerankers.tracks.wiki_targets import group_target, page_target

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.measures.mixing import Mixed
    from rerankers.tracks.pages import PageTable
    from rerankers.tracks.preset import Inputs, Outcome

NO_TARGET = "target_undefined"


@dataclass(frozen=True, kw_only=True)
class WikiTask2(WikiPreset):
    """Evaluation of task 2.

    Attributes
    ----------
    eval_samples
        rankings of each topic that are judged, by their number; null for all.
    target_mass_depth
        the target holds as much exposure as this many ranks; null for as many as are judged.
    relevant_only
        whether only relevant pages count in the exposure of the system.
    min_tier
        topics whose ``max_tier`` is lower are left out; null for none. Topics of unknown tier stay.
    """

    eval_samples: int | None = None
    target_mass_depth: int | None = None
    relevant_only: bool = True
    min_tier: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.relevant_only, bool):
            raise ConfigError(f"relevant_only: found {self.relevant_only!r}; expected true or false")

    @classmethod
    def whole_numbers(cls) -> tuple[str, ...]:
        """Return the options that are whole numbers of at least 1, or null."""
        return (*super().whole_numbers(), "eval_samples", "target_mass_depth", "min_tier")

    @property
    def mass(self) -> float:
        """How much exposure the target holds."""
        depth = self.judged_depth if self.target_mass_depth is None else self.target_mass_depth
        return float(rank_discount(depth, self.discount_dtype).sum())

    def evaluate(self, inputs: Inputs) -> Outcome:
        """Judge runs: EEL, EED, EER and EET of groups for each judged topic.

        Raises
        ------
        FairRerankersError
            for anything wrong with the files.
        """
        from rerankers.tracks.wiki_outcome import outcome

        files = load(self, inputs, repeats=True)
        tier = files.relevant.tier
        kept = np.ones(len(tier), bool) if self.min_tier is None else (tier < 0) | (tier >= self.min_tier)
        chosen = judged_topics(self, files, kept)
        files.counts["qrels"] |= {"topics_of_lower_tier": int(np.sum(~kept))} if not kept.all() else {}
        rankings = {name: run.rankings(self.eval_depth, self.eval_samples) for name, run in files.runs.items()}
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
                rows[name].append((topic, self.score(files, given or [], relevant, target, topic)))
                found[name]["topics_without_target"] += target is None
                found[name]["rankings"] += len(given or [])
                pages = np.concatenate([np.zeros(0, np.int64), *(given or [])])
                found[name]["pages_not_in_the_page_file"] += int(np.sum(files.table.rows(pages) < 0))
        for name in files.runs:
            note(files, name, found[name])
        tables = {name: result_table(name, rows[name]) for name in files.runs}
        return outcome(self, files, tables)

    def score(
        self,
        files: Files,
        rankings: Sequence[NDArray[np.int64]],
        relevant: NDArray[np.int64],
        target: Mixed | None,
        topic: str = "",
    ) -> Values:
        """Judge the rankings of one topic; without any, all exposure is 0.

        Parameters
        ----------
        files
            with the page table.
        rankings
            int64 arrays of pages, at most as deep as is judged.
        relevant
            int64, relevant pages.
        target
            a distribution over the cells, or None where it is not defined.
        topic
            for messages.

        Raises
        ------
        InputError
            for a relevant page without a record, if the preset says so.
        """
        pages = np.concatenate([np.zeros(0, np.int64), *rankings])
        is_relevant = np.isin(pages, relevant)
        rows = files.table.rows(pages)
        counted = is_relevant if self.relevant_only else np.ones(len(pages), bool)
        if np.any(is_relevant & (rows < 0)):
            rows[is_relevant] = relevant_rows(self, files, topic, pages[is_relevant])
        if target is None:
            return dict.fromkeys(CellExposure._fields, (None, NO_TARGET))
        keep = counted & (rows >= 0)
        exposure = self.exposure(files.table, rows, keep, [len(one) for one in rankings])
        parts = cell_exposure(exposure, target.scaled(self.mass))
        return {name: (value, None) for name, value in parts._asdict().items()}

    def exposure(
        self, table: PageTable, rows: NDArray[np.int64], keep: NDArray[np.bool_], lengths: Sequence[int]
    ) -> Cells:
        """Return the mean over rankings of the exposure of cells.

        Parameters
        ----------
        table
            the pages.
        rows
            int64 (items,), rows of the pages of all rankings, one ranking after another.
        keep
            bool (items,), which of them count; the others take a rank all the same.
        lengths
            pages of each ranking.
        """
        discounts = [rank_discount(length, self.discount_dtype) for length in lengths]
        weight = np.concatenate([np.zeros(0), *discounts]) / max(len(lengths), 1)
        return weighted_cells(table.memberships, rows[keep], weight[keep])

    def _target(self, files: Files, topic: str, relevant: NDArray[np.int64]) -> tuple[Mixed | None, bool]:
        given = files.given_target(topic)
        if given is not None:
            return given, False
        rows, deserved = page_target(files.table, relevant_rows(self, files, topic, relevant), self.discount_dtype)
        return group_target(
            files.table,
            rows,
            deserved,
            self.background_share,
            by_cells=self.year == 2021,
            else_background=self.no_known_relevant == "background",
        )
