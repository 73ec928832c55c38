"""Published numbers beside ours: which there are, what each may miss, and what came out."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from rerankers._base.errors import InputError, MissingError, choose
from rerankers._base.files import read_lines

PUBLISHED = Path(__file__).with_name("tables") / "published.csv"
COLUMNS = ("section", "part", "key", "what", "low", "high", "tolerance", "kind", "source", "needs")
SECTIONS = ("2020", "evidence", "2019", "2021", "2022", "elsewhere")
ALL = "all"
KINDS = ("published", "official code", "reference")
REPRODUCED, MISSED, ABSENT, NOT_YET = VERDICTS = ("reproduced", "missed", "absent", "not yet")

Compute = Callable[[int], Mapping[str, float]]
"""From a seed to values by key; MissingError where files are not there."""

PARTS: Mapping[str, str] = {
    "tables": "reproduce_tables",
    **dict.fromkeys(("2019 level", "2019 h-index"), "reproduce2019"),
    **dict.fromkeys(("2020 UW_bm25", "2020 UW_Kr_r60g20c20", "2020 UW_Kr_r0g0c100"), "reproduce2020"),
    **dict.fromkeys(("2020 UW_bm25 and UW_Kr_r60g20c20", "2020 anchors"), "reproduce2020"),
    **dict.fromkeys(("2020 META", "2020 META and uniform", "2020 TEXT", "2020 features"), "reproduce2020"),
    **dict.fromkeys(("2020 controllers META", "2020 controllers TEXT"), "reproduce_teams2020"),
    **dict.fromkeys(("2020 evidence", "2020 Thompson", "2020 temperatures"), "reproduce_evidence2020"),
    **dict.fromkeys(("Singh and Joachims", "CACM"), "reproduce_elsewhere"),
    **dict.fromkeys(("FA*IR", "joint exposure", "FairRankTune", "DELTR"), "reproduce_examples"),
}
"""Part of the table -> the module of this package whose ``parts(data)`` has what computes it."""


@dataclass(frozen=True, slots=True)
class Published:
    """One published number, or a set of them that cannot be computed.

    Attributes
    ----------
    section
        one of `SECTIONS`: a year of the track; ``evidence``, what 2020 says about groups; ``elsewhere``, other data.
    part, key
        where our value comes from.
    what
        for the reader.
    low, high
        the number as printed, twice; or a range; None for a set.
    tolerance
        how far ours may be outside: what rounding hides, and for seeded numbers three standard deviations between
        seeds, or what the source states.
    kind
        ``published``; ``official code``: from running it; ``reference``: an independent computation.
    source
        of the number.
    needs
        ``data: …`` or ``method: …`` without which it cannot be computed; empty where it can.
    """

    section: str
    part: str
    key: str
    what: str
    low: float | None
    high: float | None
    tolerance: float | None
    kind: str
    source: str
    needs: str

    @property
    def printed(self) -> str:
        """The number or range as text."""
        if self.low is None or self.high is None:
            return ""
        return f"{self.low:.10g}" if self.low == self.high else f"{self.low:.10g} to {self.high:.10g}"


@dataclass(frozen=True, slots=True)
class Reproduced:
    """A published number with ours.

    Attributes
    ----------
    row
        what was published.
    ours
        our value, None where there is none.
    verdict
        one of `VERDICTS`.
    reason
        why there is no value; empty where there is one.
    """

    row: Published
    ours: float | None
    verdict: str
    reason: str = ""

    @property
    def distance(self) -> float | None:
        """How far ours is from the number or outside the range, below it negative; None without either."""
        if self.ours is None or self.row.low is None or self.row.high is None:
            return None
        return min(self.ours - self.row.low, 0.0) + max(self.ours - self.row.high, 0.0)


def published_rows() -> tuple[Published, ...]:
    """Return the table of published numbers.

    Raises
    ------
    InputError
        when the file of the package is damaged.
    """
    return _rows(PUBLISHED)


def _rows(path: Path) -> tuple[Published, ...]:
    lines = csv.reader(text for _, text in read_lines(path))
    if tuple(next(lines, [])) != COLUMNS:
        raise InputError.one(str(path), "another header", ",".join(COLUMNS), line=1)
    return tuple(_row(path, number, line) for number, line in enumerate(lines, 2))


def _row(path: Path, number: int, line: Sequence[str]) -> Published:
    try:
        fields = dict(zip(COLUMNS, line, strict=True))
        low, high, tolerance = (float(fields[name]) if fields[name] else None for name in ("low", "high", "tolerance"))
    except ValueError as error:
        raise InputError.one(str(path), str(error), f"{len(COLUMNS)} fields with numbers", line=number) from error
    words = {name: fields[name] for name in ("section", "part", "key", "what", "kind", "source", "needs")}
    row = Published(low=low, high=high, tolerance=tolerance, **words)
    computable = None not in (low, high, tolerance) and row.part in PARTS and bool(row.key)
    known = row.kind in KINDS and row.section in SECTIONS
    if not (known and (computable or row.needs.startswith(("data: ", "method: ")))):
        expected = "a known section and kind, and a number with a part that computes it, or its need"
        raise InputError.one(str(path), f"{row.what!r}", expected, line=number)
    return row


def reproduce(data: Path, seed: int = 0, section: str = ALL) -> Iterator[Reproduced]:
    """Yield the published numbers of a section with ours, in the order of the table; parts are computed as needed.

    Parameters
    ----------
    data
        the folder that holds ``trec-fair-2019``, ``trec-fair-2020``, ``cacm``.
    seed
        of everything drawn.
    section
        one of `SECTIONS`, or ``all``.

    Raises
    ------
    ConfigError
        for an unknown section.
    InputError
        when a file is there and damaged.
    """
    choose("section", section, (ALL, *SECTIONS))
    modules: dict[str, Mapping[str, Compute]] = {}
    computed: dict[str, Mapping[str, float] | str] = {}
    for row in published_rows():
        if section not in (ALL, row.section):
            continue
        if row.needs:
            verdict = ABSENT if row.needs.startswith("data: ") else NOT_YET
            yield Reproduced(row, None, verdict, row.needs)
            continue
        if row.part not in computed:
            module = PARTS[row.part]
            if module not in modules:
                modules[module] = import_module(f"rerankers.tracks.{module}").parts(data)
            computed[row.part] = _computed(modules[module][row.part], seed)
        found = computed[row.part]
        if isinstance(found, str):
            yield Reproduced(row, None, ABSENT, found)
        else:
            yield judged(row, found[row.key])


def _computed(compute: Compute, seed: int) -> Mapping[str, float] | str:
    """Return the values of a part, or what it lacks."""
    try:
        return compute(seed)
    except MissingError as error:
        return f"data: {str(error).partition('. ')[0]}"


def judged(row: Published, ours: float) -> Reproduced:
    """Compare; a value that is no number misses."""
    if row.low is None or row.high is None or row.tolerance is None:
        raise ValueError(f"{row.what}: no number to compare with")
    inside = row.low - row.tolerance <= ours <= row.high + row.tolerance
    return Reproduced(row, ours, REPRODUCED if inside else MISSED)


def tally(rows: Sequence[Reproduced]) -> dict[str, int]:
    """Return verdict -> number of rows, all verdicts."""
    found = Counter(row.verdict for row in rows)
    return {verdict: found[verdict] for verdict in VERDICTS}
