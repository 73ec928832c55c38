"""A comparison by collection: which jobs stand in one table, and which rows of two tables are the same system."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from rerankers._base.errors import ConfigError
from rerankers.report.keys import parse
from rerankers.stages.compare_alike import check_alike, queries_differ
from rerankers.stages.compare_configs import options_of
from rerankers.stages.compare_names import Named, differing, names_of, short_keys, value_words
from rerankers.stages.compare_rows import Member, Row, anchors_together, members_of, rows_of, together
from rerankers.stages.metadata import test_collection

if TYPE_CHECKING:
    from rerankers.stages.gathered import JobResults

QUERIES = "queries"
OVERLAP = 0.5
"""Jobs of other queries stand in one table, if that is asked for, where so much of the smaller set is common."""
WITH_COLLECTION = frozenset({"collection", "groups", "qrels", "run", "predicted", "sequence"})
FILES = frozenset({"path", "run", "runs", "qrels", "files"})
"""First and last parts of the options that may go with the collection."""


@dataclass(frozen=True, slots=True, eq=False)
class Section:
    """The table of one collection.

    Attributes
    ----------
    title
        the collection's name, with what tells it apart.
    jobs
        measured on it.
    rows
        runs in the order of the jobs, then anchors.
    """

    title: str
    jobs: Sequence[JobResults]
    rows: Sequence[Row]

    @property
    def runs(self) -> list[Row]:
        """The rows that are no anchors."""
        return [row for row in self.rows if not row.is_anchor]

    @property
    def queries(self) -> int:
        """How many queries some job has."""
        return len({unit for job in self.jobs for unit in job.units})


@dataclass(frozen=True, slots=True, eq=False)
class Compared:
    """Jobs as tables.

    Attributes
    ----------
    sections
        one a collection.
    level
        of the intervals.
    left_out
        options in which rows of several collections may differ and be the same system.
    notes
        sentences on what was put together.
    """

    sections: Sequence[Section]
    level: float
    left_out: Sequence[str] = ()
    notes: Sequence[str] = field(default_factory=tuple)


def compared(jobs: Sequence[JobResults], mix: Sequence[str] = (), seeds: str = "together") -> Compared:
    """Put jobs into tables.

    Jobs of other queries are accepted where every system was measured on every collection: that is a design, not a
    slip. Anything else has to be asked for by ``mix``.

    Parameters
    ----------
    jobs
        one or more.
    mix
        aspects (`rerankers.stages.gathered.ASPECTS`) in which they may differ.
    seeds
        as of `rerankers.stages.compare_options.TableOptions`.

    Raises
    ------
    ConfigError
        for jobs that may not stand side by side.
    """
    check_alike(jobs, (*mix, QUERIES))
    level = float(jobs[0].options.get("confidence", 0.95))
    parts = _by_collection(jobs, QUERIES in mix)
    members = [members_of(part, seeds) for part in parts]
    left_out = _with_collection(members) if len(parts) > 1 else []
    groups = [together([one for one in part if not one.is_anchor], left_out) for part in members]
    if QUERIES not in mix and not _crossed(groups):
        raise ConfigError(queries_differ(parts[0][0], parts[1][0]))
    names = _names(groups, left_out)
    titles = _titles(parts)
    sections = []
    for title, part, group, own in zip(titles, parts, groups, members, strict=True):
        anchors = anchors_together([one for one in own if one.is_anchor])
        named = [*(names[key] for key in group), *_anchor_names(anchors)]
        sections.append(Section(title, part, rows_of([*group.values(), *anchors], named, level)))
    return Compared(sections, level, left_out, _notes(sections, left_out, level))


def _by_collection(jobs: Sequence[JobResults], overlapping: bool) -> list[list[JobResults]]:
    """Return the jobs by their queries and test collection, in order of first appearance."""
    parts: list[tuple[frozenset[str], str | None, list[JobResults]]] = []
    for job in jobs:
        units, mark = frozenset(job.units), job.collection
        for others, other, part in parts:
            if not (mark and other and mark != other) and _common(units, others, overlapping):
                part.append(job)
                break
        else:
            parts.append((units, mark, [job]))
    return [part for _, _, part in parts]


def _common(units: frozenset[str], others: frozenset[str], overlapping: bool) -> bool:
    if units == others:
        return True
    return overlapping and len(units & others) >= OVERLAP * max(1, min(len(units), len(others)))


def _crossed(groups: Sequence[Collection[tuple[object, ...]]]) -> bool:
    """Return whether every system was measured on every collection."""
    return all(set(group) == set(groups[0]) for group in groups)


def _with_collection(members: Sequence[Sequence[Member]]) -> list[str]:
    """Return the options that go with the collection: of collection, groups and files, and one value in each."""
    keys = dict.fromkeys(key for part in members for one in part for key in one.options)
    own = {"run"} if _run_is_named(members) else set()
    found = []
    for key in keys:
        words = key.removeprefix("method.model.").split(".")
        if words[0] not in WITH_COLLECTION and words[-1] not in FILES:
            continue
        inside = [{str(one.options.get(key)) for one in part if one.options} for part in members]
        if key in own or (all(len(values) <= 1 for values in inside) and len(set.union(*inside)) > 1):
            found.append(key)
    return found


def _run_is_named(members: Sequence[Sequence[Member]]) -> bool:
    """Return whether the run files that were judged are told apart by the names of their runs."""
    return all(
        len(names) == len(set(names))
        for names in ([one.system for one in part if not one.is_anchor and "run" in one.options] for part in members)
    )


def _names(
    groups: Sequence[Mapping[tuple[object, ...], tuple[Member, ...]]], left_out: Sequence[str]
) -> dict[tuple[object, ...], str]:
    """Return the name of each row, the same in every collection."""
    first: dict[tuple[object, ...], Member] = {}
    for found in groups:
        for key, (member, *_) in found.items():
            first.setdefault(key, member)
    named = [
        Named(one.system, {key: value for key, value in one.options.items() if key not in left_out}, one.job.folder)
        for one in first.values()
    ]
    return dict(zip(first, names_of(named), strict=True))


def _anchor_names(groups: Sequence[tuple[Member, ...]]) -> list[str]:
    """Return the names of anchors; one that jobs do not agree on carries its job's folder, but for the first."""
    told: set[str] = set()
    out = []
    for group in groups:
        name = group[0].system
        out.append(f"{name} ({group[0].job.folder.name})" if name in told else name)
        told.add(name)
    seen: dict[str, int] = {}
    for place, name in enumerate(out):  # folders of one name in two sweeps
        seen[name] = seen.get(name, 0) + 1
        if seen[name] > 1:
            out[place] = f"{name} {seen[name]}"
    return out


def _titles(parts: Sequence[Sequence[JobResults]]) -> list[str]:
    found = [_collection_name(part[0].folder) for part in parts]
    if len(parts) == 1:
        return [found[0] or ""]
    options = [options_of(part[0].folder) for part in parts]
    keys = [key for key in differing(options) if key.split(".")[0] in ("collection", "qrels")]
    keys = [key for key in keys if not key.endswith("_target_")] or keys
    short = short_keys(keys)
    out = []
    for place, name in enumerate(found):
        told = {key: value_words(key, options[place][key]) for key in keys if key in options[place]}
        words = ", ".join(f"{short[key]}={value}" for key, value in told.items())
        if name and found.count(name) == 1:
            out.append(name)
        else:
            out.append(f"{name or 'collection'} ({words})" if words else f"{name or 'collection'} {place + 1}")
    return [f"{name} [{place + 1}]" if out.count(name) > 1 else name for place, name in enumerate(out)]


def _collection_name(folder: Path) -> str | None:
    return test_collection(folder).get("name")


def _notes(sections: Sequence[Section], left_out: Sequence[str], level: float) -> list[str]:
    out = []
    if len(sections) > 1:
        shared = set.intersection(*({row.name for row in section.runs} for section in sections))
        every = {row.name for section in sections for row in section.runs}
        by = f"; matched by all options but {', '.join(left_out)}" if left_out else ""
        out.append(f"{len(sections)} collections; {len(shared)} of {len(every)} rows are in all of them{by}")
    several = [row for section in sections for row in section.runs if row.seeds > 1]
    if several:
        counts = sorted({row.seeds for row in several})
        span = f"{counts[0]}" if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
        words = "1 row is the mean" if len(several) == 1 else f"{len(several)} rows are means"
        out.append(
            f"{words} over {span} seeds: intervals are over queries, of each query's mean over the seeds; the standard "
            "deviation of the mean over seeds is told beside (seeds=apart: one by one)"
        )
    for section in sections:
        if len({job.units for job in section.jobs}) > 1:
            out.append(
                f"{section.title or 'jobs'}: not all jobs have the same queries; means are of each one's own, "
                "differences of those in common"
            )
        odd = [job for job in section.jobs if float(job.options.get("confidence", 0.95)) != level]
        if odd:
            out.append(f"{len(odd)} jobs have intervals of another level than {level:.0%}: {odd[0].folder}")
        out += _other_groups(section)
    return out


def _other_groups(section: Section) -> list[str]:
    """Say that ``group_EEL`` and its like are about other groups in some rows than in others."""
    measured = [row for row in section.runs if any(parse(key).attribute == "" for key in row.means)]
    told = [_attribute(row.members[0].job) for row in measured]
    found = dict.fromkeys(str(name) for name in told if name is not None)
    if len(found) < 2:
        return []
    return [
        f"caution: {section.title or 'jobs'}: measures of groups are about {', '.join(found)}, each job's own groups: "
        "they, and their differences, say something between rows of the same groups only; compare the jobs of each by "
        "themselves"
    ]


def _attribute(job: JobResults) -> object:
    groups = job.options.get("groups")
    return groups.get("attribute") if isinstance(groups, Mapping) else None
