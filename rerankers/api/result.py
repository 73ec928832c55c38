"""The result of `run`, `evaluate` or `train` as one object; nothing but its folder is needed to read it again."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from rerankers._base.errors import choose
from rerankers._base.own_files import own_mapping
from rerankers.api.job import Done
from rerankers.api.outcome import Outcome
from rerankers.api.quiet import Said
from rerankers.api.result_html import result_html
from rerankers.measures.anchors import PREFIX as ANCHOR
from rerankers.measures.summary import PARQUET_FILE
from rerankers.runs import PARQUET_FILE as RUN_FILE
from rerankers.stages.gathered import JobResults, read_results

if TYPE_CHECKING:
    from rerankers.runs import StoredPolicy

WARNING = "warning: "
SUMMARY = pa.schema(
    [pa.field(name, pa.string()) for name in ("system", "measure")]
    + [pa.field(name, pa.float64()) for name in ("mean", "low", "high")]
)
Interval = tuple[float, float] | None


class Result(Outcome):
    """Measures, rankings, policy and report of a job. Arrow tables have ``.to_pandas()`` where pandas is installed.

    Attributes
    ----------
    warnings
        sentences about the input and the numbers; None for `Result.read`: the report has them.
    """

    def __init__(self, done: Done) -> None:
        super().__init__(done)
        told = (line for line in self.text.splitlines() if line.startswith(WARNING))
        self.warnings = None if done.returned is _STORED else tuple(line.removeprefix(WARNING) for line in told)
        self.folder: Path = done.folder or Path()

    @classmethod
    def read(cls, folder: str | Path) -> Result:
        """Return the result that a job left in a folder.

        Raises
        ------
        MissingError
            when no results of `run`, `evaluate` or `train` are there.
        InputError
            when they are damaged.
        """
        place = Path(folder)
        read_results(place)
        config, metadata = (_yaml(place / name) for name in ("config.yaml", "metadata.yaml"))
        implementation = metadata.get("implementation")
        executable = implementation.get("executable") if isinstance(implementation, Mapping) else None
        repeated = str(executable.get("cmd", "")) if isinstance(executable, Mapping) else ""
        command = repeated.split(" ", 2)[1] if repeated.startswith("fair-rerank ") else "evaluate"
        return cls(Done(command, place, config, Said(), _STORED, repeated, None))

    @cached_property
    def _job(self) -> JobResults:
        return read_results(self.folder)

    @property
    def systems(self) -> list[str]:
        """The judged systems, anchors left out; the first is the job's method or the first run."""
        return [name for name in self._job.runs if not name.startswith(ANCHOR)]

    @property
    def anchors(self) -> list[str]:
        """The anchors beside them, ``anchor:random`` and so on."""
        return [name for name in self._job.runs if name.startswith(ANCHOR)]

    @property
    def means(self) -> Mapping[str, Mapping[str, float | None]]:
        """System -> measure -> mean over the queries that have a value, None where there is none."""
        return {name: dict(run["mean"]) for name, run in self._job.runs.items()}

    @property
    def intervals(self) -> Mapping[str, Mapping[str, Interval]]:
        """System -> measure -> (low, high) of the bootstrap interval over queries, None where there is none."""
        return {
            name: {key: None if pair is None else (pair[0], pair[1]) for key, pair in run["interval"].items()}
            for name, run in self._job.runs.items()
        }

    def mean(self, measure: str, system: str | None = None) -> float | None:
        """Return a mean, of the first judged system unless one is named.

        Raises
        ------
        ConfigError
            for a system or a measure that is not there; the message says which are.
        """
        return self.means[self._system(system)][self._measure(measure, system)]

    def interval(self, measure: str, system: str | None = None) -> Interval:
        """Return (low, high) of a mean, None where there is none; raises as `mean`."""
        return self.intervals[self._system(system)].get(self._measure(measure, system))

    def __getitem__(self, measure: str) -> float | None:
        return self.mean(measure)

    def _system(self, system: str | None) -> str:
        return (self.systems or self.anchors)[0] if system is None else choose("system", system, self._job.runs)

    def _measure(self, measure: str, system: str | None) -> str:
        return choose("measure", measure, self.means[self._system(system)])

    @cached_property
    def summary(self) -> pa.Table:
        """Arrow table ``system, measure, mean, low, high``, anchors included."""
        rows = [
            {
                "system": name,
                "measure": key,
                "mean": mean,
                "low": (pair or (None, None))[0],
                "high": (pair or (None,))[-1],
            }
            for name, means in self.means.items()
            for key, mean in means.items()
            for pair in [self.intervals[name].get(key)]
        ]
        return pa.Table.from_pylist(rows, schema=SUMMARY)

    @cached_property
    def measures(self) -> pa.Table:
        """The primary result: Arrow table ``system, seed, unit, measure, value, reason``, anchors included."""
        return self.content(PARQUET_FILE)

    @cached_property
    def per_query(self) -> pa.Table:
        """Arrow table of the judged systems: ``system``, ``qid`` and a column a measure, null where it has no value."""
        rows: dict[tuple[str, str], dict[str, Any]] = {}
        keys: dict[str, None] = {}
        wanted = set(self.systems)
        for row in self.measures.select(["system", "unit", "measure", "value"]).to_pylist():
            if row["system"] in wanted:
                found = rows.setdefault((row["system"], row["unit"]), {"system": row["system"], "qid": row["unit"]})
                found[row["measure"]] = row["value"]
                keys[row["measure"]] = None
        fields = [("system", pa.string()), ("qid", pa.string()), *((key, pa.float64()) for key in keys)]
        return pa.Table.from_pylist(list(rows.values()), schema=pa.schema(fields))

    @cached_property
    def rankings(self) -> pa.Table:
        """Arrow table ``qid, sample, rank, docno, score`` of the drawn or served rankings, of `run` only.

        Raises
        ------
        MissingError
            for a job that draws none.
        """
        return self.content(RUN_FILE)

    @cached_property
    def policy(self) -> StoredPolicy:
        """The stored policy, of `run` only: ``policy.rankings()`` draws the same bits again.

        Raises
        ------
        MissingError
            for a job that makes none.
        """
        from rerankers.runs import read_policy

        return read_policy(self.path("policy.parquet"))

    @property
    def report(self) -> Path:
        """Path of ``report.html``, which needs nothing beside it."""
        return self.path("report.html")

    @cached_property
    def metadata(self) -> Mapping[str, Any]:
        """What ``metadata.yaml`` says: versions, command, seconds, fairness, data."""
        return _yaml(self.path("metadata.yaml"))

    @property
    def tier(self) -> str:
        """The information tier of the judged systems, for instance ``blind``."""
        return self._job.tier

    @property
    def options(self) -> Mapping[str, Any]:
        """How it was measured: browsing, universe, cutoff, seed, samples and so on, as in ``measures.json``."""
        return self._job.options

    @property
    def counts(self) -> Mapping[str, Any]:
        """Part of the job -> what it met and how often."""
        return self._job.counts

    def _repr_html_(self) -> str:
        return result_html(self.means, self.intervals, self.systems, self.warnings or (), self.tier)


_STORED = object()


def _yaml(path: Path) -> Mapping[str, Any]:
    return own_mapping(path, "the options and facts that a job has written")
