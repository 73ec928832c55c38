"""Our measures as measures of ir_measures: for ``ir_measures.calc_aggregate`` and ``pt.Experiment``.

``EEL``, ``group_EEL(groups=...)``, ``measure("NDKL@20", groups=...)`` and so on are objects of ir_measures: ``@k``
cuts, calling one sets what it needs. They are computed by `rerankers.measures.evaluate`, and have its values.

ir_measures knows single rankings. A run with a column ``sample``, one number a ranking, is judged as the policy that it
is; a run in which several rankings of a query were merged (a document twice) is refused, since its ranks mean nothing.
A mapping ``{qid: {docno: score}}`` cannot hold several rankings: what it has lost on the way cannot be seen here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import ir_measures

from rerankers._base.errors import ConfigError, InputError
from rerankers.measures.memory import evaluate_in_memory
from rerankers.measures.names import Measure, parse

if TYPE_CHECKING:
    from rerankers.exposure.browsing import BrowsingModel

NOTHING = float("nan")


class MeanOfValues(ir_measures.MeanAgg):  # type: ignore[misc]
    """The mean of numbers; not-a-number counts for nothing, and is the mean of nothing."""

    def add(self, value: float) -> None:
        """Take a value in."""
        if value == value:
            super().add(value)


class FairMeasure(ir_measures.Measure):  # type: ignore[misc]
    """A measure of this package in the form of ir_measures; made by `measure`.

    Attributes
    ----------
    ours
        the measure.
    groups
        ``{docno: group | [groups] | {group: weight} | None}``; None where it is not about groups.
    browsing
        how users look at a ranking; None: GERR with patience .5 and satisfaction .5.
    universe
        ``union``: ranked and judged documents count; ``judged``: judged ones only.

    Notes
    -----
    A query of the judgments without a ranking is a query that shows nothing: exposure 0. A query that has no value
    (see the table in `rerankers.measures`) is not-a-number here, since ir_measures has no way to say "none", and 0
    would be a value. Means are over the queries that have one, as everywhere in this package.
    """

    SUPPORTED_PARAMS = {  # noqa: RUF012
        "cutoff": ir_measures.ParamInfo(dtype=int, required=False, default=None, desc="ranks that count")
    }
    DEFAULT = NOTHING
    RUN_INPUTS = ("query_id", "doc_id")
    QREL_INPUTS = ("query_id", "doc_id", "relevance")

    def __init__(
        self,
        ours: Measure,
        groups: Mapping[Any, Any] | None = None,
        browsing: BrowsingModel | None = None,
        universe: str = "union",
    ) -> None:
        super().__init__(**({} if ours.cutoff is None else {"cutoff": ours.cutoff}))
        self.ours, self.groups, self.browsing, self.universe = ours, groups, browsing, universe
        self.NAME = self.__name__ = str(replace(ours, cutoff=None))
        self.SHORT_DESC = self.PRETTY_NAME = str(ours)

    def __call__(self, **options: Any) -> FairMeasure:
        """Return the measure with ``groups``, ``browsing``, ``universe`` or ``cutoff`` set, the rest as it was.

        Raises
        ------
        ConfigError
            for other options, and a cutoff where the measure takes none.
        """
        known = {"groups": self.groups, "browsing": self.browsing, "universe": self.universe}
        wrong = [name for name in options if name not in known and name != "cutoff"]
        if wrong:
            raise ConfigError(f"measure {self.ours}: found {wrong[0]}; expected {', '.join(known)} or cutoff")
        ours = replace(self.ours, cutoff=options.pop("cutoff")) if "cutoff" in options else self.ours
        return FairMeasure(ours, **(known | options))

    def runtime_impl(self, qrels: Any, run: Any) -> Iterator[Any]:
        """Yield the value of each query; ir_measures calls it with frames.

        Raises
        ------
        ConfigError
            for a measure of groups without groups.
        InputError
            for a run in which several rankings of a query were merged.
        """
        if self.ours.depends_on_groups and self.groups is None:
            raise ConfigError(f"measure {self.ours}: found no groups; expected {self.ours}(groups={{docno: group}})")
        judged = _judged(qrels)
        if not judged:
            return
        table = evaluate_in_memory(
            _run(run, next(iter(judged))),
            judged,
            self.groups,
            None,
            self.browsing,
            [self.ours],
            self.universe,
            None,
            "zero_exposure",
        )
        for row in table.select(["unit", "value"]).to_pylist():
            if row["unit"] in judged:
                yield ir_measures.Metric(row["unit"], self, NOTHING if row["value"] is None else row["value"])

    def aggregator(self) -> MeanOfValues:
        """Return what takes the mean over the queries that have a value."""
        return MeanOfValues()

    def __repr__(self) -> str:
        told = [f"browsing={self.browsing}"] if self.browsing is not None else []
        told += [f"universe={self.universe!r}"] if self.universe != "union" else []
        return f"{self.ours}({', '.join(told)})" if told else str(self.ours)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FairMeasure) and self._same() == other._same()

    def __hash__(self) -> int:
        return hash(self._same())

    def _same(self) -> tuple[str, int]:
        return repr(self), id(self.groups)


def measure(
    name: str | Measure,
    groups: Mapping[Any, Any] | None = None,
    browsing: BrowsingModel | None = None,
    universe: str = "union",
) -> FairMeasure:
    """Return a measure of this package as one of ir_measures.

    Parameters
    ----------
    name
        in the notation of `rerankers.measures.parse`: ``"EEL"``, ``"AWRF@20"``, ``"group_EEL"``.
    groups, browsing, universe
        see `FairMeasure`.

    Raises
    ------
    ConfigError
        for an unknown measure, and one that no query has a value of.
    """
    ours = name if isinstance(name, Measure) else parse(name)
    if ours.part == "systematic":
        raise ConfigError(f"measure {ours}: found a number of a whole run; expected a measure of queries")
    return FairMeasure(ours, groups, browsing, universe)


def _judged(qrels: Any) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for qid, docno, grade in zip(qrels["query_id"], qrels["doc_id"], qrels["relevance"], strict=True):
        found.setdefault(str(qid), {})[str(docno)] = grade
    return found


def _run(run: Any, qid: str) -> Any:
    """Return the columns that decide: scores as ir_measures has it, ranks only where there are no scores.

    A run without a row becomes an empty ranking of a judged query.
    """
    if not len(run):
        return {qid: []}
    columns = list(run.columns)
    missing = [name for name in ("query_id", "doc_id") if name not in columns]
    order = "score" if "score" in columns else "rank"
    if missing or order not in columns:
        raise InputError.one("run", f"columns {', '.join(columns)}", "query_id, doc_id and score (or rank)")
    kept = run[["query_id", "doc_id", order, *(["sample"] if "sample" in columns else [])]]
    if "sample" not in columns and bool(kept.duplicated(["query_id", "doc_id"]).any()):
        raise InputError.one(
            "run",
            "a document twice for a query: several rankings, merged",
            "one ranking a query, or a column sample",
            mend="Judge each sample by itself and take the mean, or use rerankers.measures.evaluate.",
        )
    return kept


EEL, EED, EER, EET, utility = (measure(name) for name in ("EEL", "EED", "EER", "EET", "utility"))
group_EEL, group_EED, group_EER, group_EET = (  # noqa: N816
    measure(f"group_{name}") for name in ("EEL", "EED", "EER", "EET")
)
AWRF, NDKL = measure("AWRF"), measure("NDKL")
