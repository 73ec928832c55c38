"""Named evaluations: which files they take, what they give, and where each is built."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol

from rerankers._base.errors import ConfigError, choose
from rerankers.measures.anchors import PREFIX as ANCHOR

if TYPE_CHECKING:
    from pathlib import Path

    import pyarrow as pa

    from rerankers.measures.evidence import Evidence

PRESETS: Mapping[str, str] = {
    **dict.fromkeys(("trec2019_official", "trec2019_corrected"), "trec2019"),
    **dict.fromkeys(("trec2020_official", "trec2020_corrected"), "trec2020"),
    **dict.fromkeys(("trec2020_rerank_official", "trec2020_rerank_corrected"), "trec2020"),
    **dict.fromkeys(("trec2020_retrieval_official", "trec2020_retrieval_corrected"), "trec2020"),
    **dict.fromkeys(("trec2021_task1_official", "trec2021_task1_corrected"), "trec2021"),
    **dict.fromkeys(("trec2021_task2_official", "trec2021_task2_corrected"), "trec2021"),
    **dict.fromkeys(("trec2022_task1_official", "trec2022_task1_corrected"), "trec2022"),
    **dict.fromkeys(("trec2022_task2_official", "trec2022_task2_corrected"), "trec2022"),
}
"""Preset -> the module of this package whose function ``preset(name)`` builds it."""


@dataclass(frozen=True, slots=True)
class Inputs:
    """The files of an evaluation; a preset says which of them it needs.

    Attributes
    ----------
    runs
        run files or folders; `systems` has them by name.
    qrels, groups, sequence, targets
        judgments, group labels, the order of the queries, target distributions; None where there is none.
    seed
        of anything drawn, for instance of anchors without a closed form.
    permutations
        draws of shuffled group labels behind placebos without closed form and p-values; 0 for none.
    """

    runs: tuple[Path, ...]
    qrels: Path | None = None
    groups: Path | None = None
    sequence: Path | None = None
    targets: Path | None = None
    seed: int = 0
    permutations: int = 200

    @property
    def systems(self) -> dict[str, Path]:
        """The runs by name (`rerankers.runs.run_name`).

        Raises
        ------
        ConfigError
            when there is none, two share a name, or one is called like an anchor.
        """
        from rerankers.runs import run_name

        if not self.runs:
            raise ConfigError("run: found an empty list; expected one run file or more")
        found: dict[str, Path] = {}
        for path in self.runs:
            name = run_name(path)
            if name in found:
                raise ConfigError(f"run: two runs are called {name!r}; expected different file (or folder) names")
            if name.startswith(ANCHOR):
                raise ConfigError(f"run: {name!r} is the name of an anchor; rename the file")
            found[name] = path
        return found

    def need(self, word: str) -> Path:
        """Return the path of one of the files.

        Raises
        ------
        ConfigError
            when it was not given.
        """
        path: Path | None = getattr(self, word)
        if path is None:
            raise ConfigError(f"{word}: no value; expected a file, which this preset needs. Type: {word}=FILE")
        return path

    def refuse(self, preset: str, *words: str) -> None:
        """Refuse files that a preset would not look at.

        Raises
        ------
        ConfigError
            when one was given.
        """
        for word in words:
            if (path := getattr(self, word)) is not None:
                raise ConfigError(f"{word}: found {path}; expected null, since {preset} does not use it. Leave it out")


@dataclass(frozen=True, slots=True, eq=False)
class Outcome:
    """What an evaluation gives.

    Attributes
    ----------
    tables
        system -> result table (`rerankers.measures.table.SCHEMA`); anchors are systems called ``anchor:…``. A value
        may be infinite or NaN where the official code has it.
    counts
        part -> name -> number: all that was met on the way.
    options
        every option of the preset as it was used.
    differences
        one sentence for each way in which these numbers differ from those of the corrected rules.
    warnings
        sentences for the reader.
    summary
        label -> text, for the report.
    group_exposure
        exposure and target of the groups (`rerankers.measures.group_exposure.SCHEMA`), or None.
    unit
        what the rows of the tables are about: ``query`` or ``sequence``.
    evidence
        system -> what stands behind its measures of groups; empty where a preset has none.
    """

    tables: Mapping[str, pa.Table]
    counts: Mapping[str, Mapping[str, int]]
    options: Mapping[str, Any]
    differences: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    summary: Mapping[str, str] = field(default_factory=dict)
    group_exposure: pa.Table | None = None
    unit: str = "query"
    evidence: Mapping[str, Evidence] = field(default_factory=dict)


class Preset(Protocol):
    """A named bundle of options; its dataclass fields are the options of ``conf/preset/<name>.yaml``."""

    @property
    def name(self) -> str:
        """The name under which it was asked for."""
        ...

    def evaluate(self, inputs: Inputs) -> Outcome:
        """Judge the runs.

        Raises
        ------
        FairRerankersError
            for anything wrong with the files.
        """
        ...


def preset(name: str, **options: Any) -> Preset:
    """Return a preset by name.

    Parameters
    ----------
    name
        one of `PRESETS`.
    **options
        that replace the preset's own.

    Raises
    ------
    ConfigError
        for another name, an option that the preset does not have, or a value that will not do.
    """
    module = import_module(f"rerankers.tracks.{PRESETS[choose('preset', name, PRESETS)]}")
    build: Callable[[str], Any] = module.preset
    built = build(name)
    known = [item.name for item in dataclasses.fields(built)]
    for option in options:
        choose(f"option of {name}", option, known)
    found: Preset = dataclasses.replace(built, **options)
    return found


def options_of(preset: Any) -> dict[str, Any]:
    """Return the fields of a preset but its name, as plain values."""
    return {item.name: getattr(preset, item.name) for item in dataclasses.fields(preset) if item.name != "name"}


def departures(used: Any, corrected: Any, words: Mapping[str, str]) -> tuple[str, ...]:
    """Return one sentence for each option whose value is not that of the corrected form.

    Parameters
    ----------
    used, corrected
        presets of one class.
    words
        option -> what the option is about, put before the values.
    """
    other = options_of(corrected)
    return tuple(
        f"{words.get(option, option)}: {_word(option, value)} (corrected: {_word(option, other[option])})"
        for option, value in options_of(used).items()
        if value != other[option]
    )


def _word(option: str, value: Any) -> str:
    return f"{option}={'null' if value is None else str(value).lower() if isinstance(value, bool) else value}"
