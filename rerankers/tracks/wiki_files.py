"""What the evaluation presets of the Wikipedia tracks read, and the result tables they fill."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from rerankers._base.errors import InputError, Problems
from rerankers.measures.mixing import Mixed
from rerankers.measures.table import SCHEMA
from rerankers.tracks.background import read_world_population
from rerankers.tracks.page_files import need_pages, read_pages_2021, read_pages_2022
from rerankers.tracks.page_groups import is_group_file, read_page_groups
from rerankers.tracks.wiki_runs import WikiRun, read_wiki_run
from rerankers.tracks.wiki_target_file import ANY, read_wiki_targets
from rerankers.tracks.wiki_topics import RelevantPages, read_relevant_pages

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.measures.cells import Cells
    from rerankers.tracks.pages import PageTable
    from rerankers.tracks.preset import Inputs
    from rerankers.tracks.wiki_preset import WikiPreset

Values = dict[str, tuple[float | None, str | None]]
"""Measure -> value and reason; one of the two is None."""


@dataclass(frozen=True, slots=True, eq=False)
class Files:
    """What was read: relevant pages, runs, pages, targets (topic -> cells, ``*`` for all others), counts by part."""

    relevant: RelevantPages
    runs: Mapping[str, WikiRun]
    table: PageTable
    unknown_row: int
    targets: Mapping[str, Cells] | None
    counts: dict[str, dict[str, int]] = field(default_factory=dict)

    def given_target(self, topic: str) -> Mixed | None:
        """Return the target that the target file gives, divided by its sum; None where there is no such file.

        Raises
        ------
        InputError
            when the file has nothing for the topic.
        """
        if self.targets is None:
            return None
        cells = self.targets.get(topic, self.targets.get(ANY))
        if cells is None:
            raise InputError.one("targets", f"nothing for topic {topic!r}", f"rows of it, or of qid {ANY}")
        return Mixed.of(cells.scaled(1 / cells.total))


def load(preset: WikiPreset, inputs: Inputs, repeats: bool) -> Files:
    """Read everything a preset needs; of the page file only what is ranked or relevant.

    Raises
    ------
    InputError
        for anything wrong with a file, or a run that breaks the preset's rules.
    ConfigError
        when a file was not given, or one that the preset does not use was.
    """
    inputs.refuse(preset.name, "sequence")
    relevant = read_relevant_pages(inputs.need("qrels"))
    runs = {
        name: _checked(preset, read_wiki_run(path, repeats, preset.reader == "blocks"), path)
        for name, path in inputs.systems.items()
    }
    wanted = np.unique(np.concatenate([relevant.page, *(run.page for run in runs.values())]))
    groups = inputs.need("groups")
    table = _pages(preset, groups, wanted)
    need_pages(int(np.count_nonzero(table.rows(wanted) >= 0)), groups)
    if preset.dimensions is not None:
        table = table.select(preset.dimensions)
    if preset.gender_rows == "normalised":
        table = table.normalised("gender")
    counts = {"qrels": dict(relevant.counts), "groups": dict(table.counts)}
    table, unknown_row = table.with_unknown_page()
    targets = None if inputs.targets is None else read_wiki_targets(inputs.targets, table.dimensions)
    return Files(relevant, runs, table, unknown_row, targets, counts)


def _pages(preset: WikiPreset, path: Path, wanted: NDArray[np.int64]) -> PageTable:
    if is_group_file(path):
        return read_page_groups(path)
    pages = frozenset(wanted.tolist())
    if preset.year == 2021:
        return read_pages_2021(path, pages, preset.drop_values)
    world = preset.world_population
    return read_pages_2022(path, pages, None if world is None else read_world_population(Path(world)))


def _checked(preset: WikiPreset, run: WikiRun, path: Path) -> WikiRun:
    problems = Problems(str(path))
    repeated = run.repeated()
    if preset.duplicates == "error":
        for row in np.flatnonzero(repeated).tolist():
            found = f"page {run.page[row]} again in ranking {run.sample[row]} of topic {run.topics[run.topic[row]]}"
            problems.add(int(run.line[row]) or None, found, "each page once in a ranking")
    if preset.long_rankings == "error":
        for row in np.flatnonzero(run.rank == preset.depth + 1).tolist():
            found = f"more than {preset.depth} pages of topic {run.topics[run.topic[row]]}"
            problems.add(int(run.line[row]) or None, found, f"at most {preset.depth} in a ranking")
    problems.raise_if_any()
    count = int(repeated.sum())
    counts = {**run.counts, "repeated_pages": count} if count else dict(run.counts)
    run = replace(run, counts=counts)
    return run.without(repeated) if count and preset.duplicates == "first" else run


def relevant_rows(preset: WikiPreset, files: Files, topic: str, pages: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the row of each relevant page in the page table, -1 where it is to be left out.

    Raises
    ------
    InputError
        for a page without a row, if the preset says so.
    """
    rows = files.table.rows(pages)
    missing = rows < 0
    if preset.relevant_without_row == "error" and missing.any():
        found = f"page {pages[missing][0]}, relevant to topic {topic!r}, without a record"
        mend = "relevant_without_row=unknown or drop lets such pages pass."
        raise InputError.one("groups", found, "a record of every relevant page", mend=mend)
    return np.where(missing, files.unknown_row, rows) if preset.relevant_without_row == "unknown" else rows


def judged_topics(preset: WikiPreset, files: Files, kept: NDArray[np.bool_]) -> list[int]:
    """Return the rows of the topics to judge; note what the runs lack and have beyond them.

    Parameters
    ----------
    preset, files
        options and files. ``files.counts`` gains a part for each run.
    kept
        bool (Q,), topics that count at all.

    Raises
    ------
    InputError
        for topics a run lacks or has too many, if the preset says so.
    """
    topics = files.relevant.topics
    known = set(topics)
    for name, run in files.runs.items():
        ranked = set(run.topics)
        missing = [topic for topic, keep in zip(topics, kept.tolist(), strict=True) if keep and topic not in ranked]
        strange = [topic for topic in run.topics if topic not in known]
        if missing and preset.missing_query == "error":
            _refuse(name, "no ranking of", missing, "missing_query=zero_exposure counts them as empty rankings.")
        if strange and preset.unjudged_query == "error":
            _refuse(name, "rankings of unjudged", strange, "unjudged_query=skip leaves them out.")
        counts = {**run.counts, "topics_missing": len(missing), "topics_not_judged": len(strange)}
        files.counts[name] = {key: count for key, count in counts.items() if count}
    return np.flatnonzero(kept).tolist()


def _refuse(name: str, what: str, topics: Sequence[str], mend: str) -> None:
    listed = ", ".join(topics[:10]) + (f" and {len(topics) - 10} more" if len(topics) > 10 else "")
    raise InputError.one(f"run {name}", f"{what} topics {listed}", "the judged topics", mend=mend)


def note(files: Files, name: str, found: Counter[str]) -> None:
    """Add to the counts of a run."""
    counts = files.counts[name]
    for key, count in found.items():
        if count:
            counts[key] = counts.get(key, 0) + count


def result_table(system: str, rows: Iterable[tuple[str, Values]]) -> pa.Table:
    """Return the result table of one system from (topic, measure -> value and reason)."""
    lines: list[dict[str, Any]] = [
        {"system": system, "seed": 0, "unit": topic, "measure": measure, "value": value, "reason": reason}
        for topic, values in rows
        for measure, (value, reason) in values.items()
    ]
    return pa.Table.from_pylist(lines, schema=SCHEMA)
