"""Where a run stands among the published ones, and whether its number may stand there at all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rerankers._base.errors import ConfigError
from rerankers.tracks.preset import options_of, preset

if TYPE_CHECKING:
    from rerankers.tracks.leaderboards import Leaderboard


@dataclass(frozen=True, slots=True)
class Standing:
    """The place of one number in a table.

    Attributes
    ----------
    run
        what was placed.
    value
        its number, all digits.
    rank
        1 + the number of published runs that are better, both numbers rounded as the table prints them.
    of
        the number of published runs.
    ahead, behind
        the nearest published runs that are better and worse, at most two each, best first.
    level
        published runs with the same printed number.
    """

    run: str
    value: float
    rank: int
    of: int
    ahead: tuple[str, ...]
    level: tuple[str, ...]
    behind: tuple[str, ...]


def standing(table: Leaderboard, run: str, value: float) -> Standing:
    """Place a number among the published runs."""
    sign = 1.0 if table.better == "lower" else -1.0
    own = sign * round(value, table.decimals)
    ordered = sorted(table.entries, key=lambda entry: sign * entry.values[table.column])
    number = {entry.run: sign * entry.values[table.column] for entry in ordered}
    ahead = [name for name, other in number.items() if other < own]
    behind = [name for name, other in number.items() if other > own]
    return Standing(
        run=run,
        value=value,
        rank=len(ahead) + 1,
        of=len(ordered),
        ahead=tuple(ahead[-2:]),
        level=tuple(name for name, other in number.items() if other == own),
        behind=tuple(behind[:2]),
    )


def merged(table: Leaderboard, placed: Sequence[Standing]) -> list[tuple[str, str, float, bool]]:
    """Return (place, run, number, whether it is published) of published runs and placed ones, best first.

    The place of a run that was placed is that among the published ones alone. Level runs: published ones first.
    """
    sign = 1.0 if table.better == "lower" else -1.0
    rows = [(str(standing(table, one.run, value).rank), one.run, value, True) for one, value in _published(table)]
    rows += [(f"({one.rank})", one.run, one.value, False) for one in placed]
    return sorted(rows, key=lambda row: (sign * round(row[2], table.decimals), not row[3]))


def _published(table: Leaderboard) -> list[tuple[Any, float]]:
    return [(entry, entry.values[table.column]) for entry in table.entries]


def check_comparable(
    table: Leaderboard,
    where: str,
    preset_name: str | None,
    options: Mapping[str, Any],
    means: Mapping[str, float | str | None],
    units: int,
) -> None:
    """Raise unless numbers were computed as the published ones were.

    Parameters
    ----------
    table
        the published runs.
    where
        the results, for messages.
    preset_name, options
        of ``measures.json``.
    means
        measure -> mean of a run: the constants of the table must be there and agree.
    units
        how many queries the means are over.

    Raises
    ------
    ConfigError
        for a table of which only the order is known, another preset or none, options of it that were changed, other
        judgments or groups, or another number of queries.
    """
    if table.status == "order":
        raise ConfigError(f"leaderboard: no run can be placed in {table.name}: {'; '.join(table.caveats)}")
    if preset_name not in table.presets:
        said = "no preset" if preset_name is None else f"preset={preset_name}"
        raise ConfigError(
            f"{where}: evaluated with {said}; {table.name} places numbers of preset={table.presets[0]} only. "
            f"Type: fair-rerank evaluate preset={table.presets[0]} run=FILE …"
        )
    for option, usual in options_of(preset(preset_name)).items():
        found = options.get(option)
        if _plain(found) != _plain(usual) and not (option == "attribute" and found == "level"):
            raise ConfigError(
                f"{where}: preset.{option} was {found}; {table.name} places numbers of {preset_name} as it is "
                f"({option}={usual})"
            )
    if units != table.units:
        raise ConfigError(
            f"{where}: means over {units}; the numbers of {table.name} are over {table.units}: other judgments"
        )
    for key, (value, within) in table.constant.items():
        mean = means.get(key)
        if not isinstance(mean, int | float) or abs(mean - value) > within:
            raise ConfigError(
                f"{where}: the mean {key} is {mean}; that of {table.name} is {value}, whatever the run: other "
                "judgments or groups"
            )


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value
