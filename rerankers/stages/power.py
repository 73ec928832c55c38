"""``fair-rerank power``: what comparisons over stored results can find, what it would take, where variance is from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rerankers._base.errors import ConfigError, MissingError, choose
from rerankers._base.files import write_text
from rerankers._base.logs import log_to
from rerankers._base.progress import busy
from rerankers.measures.anchors import PREFIX as ANCHOR
from rerankers.measures.grid import grids
from rerankers.stages.difference_options import inner
from rerankers.stages.drawn import Drawn, drawn_of
from rerankers.stages.gathered import ASPECTS, Gathered, gather, read_results
from rerankers.stages.measured import chosen_keys, values_of
from rerankers.stages.power_numbers import PairPower, pair_powers
from rerankers.stages.power_text import json_text, lines, markdown
from rerankers.stages.sweeps import expanded, repetitions
from rerankers.stages.validate import known_keys, one_path
from rerankers.stages.variance_split import Split, split

if TYPE_CHECKING:
    from rerankers.stages.gathered import JobResults

KEYS = (
    "results", "measures", "anchors", "power", "alpha", "differences", "correlation", "precision", "draws", "mix",
    "output", "allow_targets",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class PowerOptions:
    """The numbers of ``conf/power.yaml``, checked.

    Attributes
    ----------
    power, alpha, correlation, precision
        see there.
    differences
        above 0.
    measures
        None for the usual ones.
    anchors, draws
        whether anchors are paired, whether published rankings are judged again.
    """

    power: float
    alpha: float
    correlation: float
    precision: float
    differences: tuple[float, ...]
    measures: tuple[str, ...] | None
    anchors: bool
    draws: bool

    def __post_init__(self) -> None:
        if not 0 < self.alpha < 1:
            raise ConfigError(f"alpha: found {self.alpha}; expected a number between 0 and 1")
        if not self.alpha < self.power < 1:
            raise ConfigError(f"power: found {self.power}; expected a number between alpha={self.alpha} and 1")
        if not -1 <= self.correlation <= 1:
            raise ConfigError(f"correlation: found {self.correlation}; expected a number from -1 to 1")
        for name, values in (("precision", (self.precision,)), ("differences", self.differences)):
            for value in values:
                if not 0 < value < float("inf"):
                    raise ConfigError(f"{name}: found {value}; expected a number above 0")

    @classmethod
    def of(cls, config: Mapping[str, Any]) -> PowerOptions:
        """Build from a config.

        Raises
        ------
        ConfigError
            for values of another type or out of range.
        """
        for name in ("anchors", "draws"):
            if not isinstance(config[name], bool):
                raise ConfigError(f"{name}: found {config[name]!r}; expected true or false")
        sought = config["differences"]
        sought = sought if isinstance(sought, list) else [sought]
        measures = inner(config, "measures", "names")
        measures = measures if measures is None or isinstance(measures, list) else [measures]
        return cls(
            power=_number("power", config["power"]),
            alpha=_number("alpha", config["alpha"]),
            correlation=_number("correlation", config["correlation"]),
            precision=_number("precision", config["precision"]),
            differences=tuple(dict.fromkeys(_number("differences", one) for one in sought)),
            measures=None if measures is None else tuple(str(one) for one in measures),
            anchors=config["anchors"],
            draws=config["draws"],
        )


@dataclass(frozen=True, slots=True, eq=False)
class Power:
    """All that the command tells.

    Attributes
    ----------
    options
        as asked.
    pairs, splits
        measure after measure.
    notes
        what could not be told, and why.
    """

    options: PowerOptions
    pairs: Sequence[PairPower]
    splits: Sequence[Split]
    notes: Sequence[str]


def power_from_config(config: Mapping[str, Any]) -> None:
    """Tell the power of the comparisons of a config of ``conf/power.yaml``'s form.

    Raises
    ------
    FairRerankersError
        with the exit code of the command.
    """
    known_keys(config, KEYS)
    options = PowerOptions.of(config)
    mix = config["mix"] or []
    for aspect in mix:
        choose("mix", str(aspect), ASPECTS)
    folders = config["results"] if isinstance(config["results"], list) else [config["results"]]
    if not folders:
        raise ConfigError("results: found an empty list; expected folders. Type: fair-rerank power DIR DIR")
    output = one_path(config, "output")
    if output is not None and output.is_file():
        raise ConfigError(f"output: found the file {output}; expected a folder. Type: output=DIR")
    jobs = [read_results(folder) for folder in expanded(Path(str(folder)) for folder in folders)]
    if output is not None:
        log_to(output)
    with busy("power"):
        found = power_of_jobs(jobs, gather(jobs, mix), options)
    for line in lines(found):
        print(line)
    if output is not None:
        write_text(output / "power.md", markdown(found))
        write_text(output / "power.json", json_text(found))
        print(f"power: {output / 'power.md'}, {output / 'power.json'}")


def power_of_jobs(jobs: Sequence[JobResults], found: Gathered, options: PowerOptions) -> Power:
    """Return what comparisons of the systems of jobs can find, and the variance of each system's measures."""
    values = grids(found.table)
    systems = [name for name in found.home if options.anchors or not name.startswith(ANCHOR)]
    if not systems:
        return Power(options, [], [], ["there are only anchors: anchors=true compares them"])
    keys = chosen_keys({name: values[name] for name in systems}, options.measures)
    how = {"power": options.power, "alpha": options.alpha, "correlation": options.correlation}
    pairs = [row for key in keys for row in pair_powers(values, systems, key.text, how, options.differences)]
    drawn, notes = _drawn(jobs) if options.draws else ({}, [])
    splits = []
    for name, homes in repetitions(jobs).items():
        shown = [next(s for s, home in found.home.items() if home == (job, system)) for job, system in homes]
        units = sorted(set.intersection(*(set(values[one].units) for one in shown)))
        published = [drawn.get((str(job.folder), system)) for job, system in homes]
        noisy = any(_noisy(job, system, one) for (job, system), one in zip(homes, published, strict=True))
        for key in keys:
            columns = [values_of(values[one], key.text, units) for one in shown]
            row = split(key.text, name, columns, units, published, noisy, options.precision)
            splits += [] if row is None else [row]
    return Power(options, pairs, splits, notes)


def _drawn(jobs: Sequence[JobResults]) -> tuple[dict[tuple[str, str], Drawn], list[str]]:
    found, notes = {}, []
    for job in jobs:
        try:
            own, reason = drawn_of(job.folder)
        except MissingError as error:
            raise MissingError(
                f"{error}. {job.folder} needs it again to tell draws and labels; without: draws=false"
            ) from error
        found.update({(str(job.folder), system): one for system, one in own.items()})
        if reason:
            notes.append(f"{job.folder}: nothing is told of draws and labels: {reason}")
    return found, notes


def _noisy(job: JobResults, system: str, drawn: Drawn | None) -> bool:
    """Return whether a system's values are of its finite draws: of a file, or of a policy without closed form."""
    return (drawn is not None and drawn.from_file) or system in (job.options.get("exposure_from_draws") or ())


def _number(name: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ConfigError(f"{name}: found {value!r}; expected a number")
    return float(value)
