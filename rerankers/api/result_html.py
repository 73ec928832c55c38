"""A result as a table in a notebook: means with their intervals, anchors in grey, warnings below."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

Interval = tuple[float, float] | None
_SHOWN = 12  # measures; the summary has all
_CELL = "text-align:right;padding:2px 10px;white-space:nowrap"
_HEAD = "text-align:right;padding:2px 10px"
_FIRST = "text-align:left;padding:2px 10px"


def result_html(
    means: Mapping[str, Mapping[str, float | None]],
    intervals: Mapping[str, Mapping[str, Interval]],
    judged: Sequence[str],
    warnings: Sequence[str],
    tier: str,
) -> str:
    """Return a table of systems by measures; every text is escaped.

    Parameters
    ----------
    means, intervals
        system -> measure -> value, (low, high).
    judged
        the systems that are no anchors.
    warnings, tier
        shown below.
    """
    keys = list(dict.fromkeys(key for name in (judged or means) for key in means[name]))
    shown = keys[:_SHOWN]
    head = "".join(f"<th style='{_HEAD}'>{escape(key)}</th>" for key in shown)
    body = "".join(_row(name, means[name], intervals.get(name, {}), shown, name in judged) for name in means)
    left = f"{len(keys) - _SHOWN} more measures in <code>summary</code>. " if len(keys) > _SHOWN else ""
    notes = "".join(f"<li>{escape(warning)}</li>" for warning in warnings)
    listed = f"<details><summary>{len(warnings)} warnings</summary><ul>{notes}</ul></details>" if warnings else ""
    return (
        f"<table><thead><tr><th style='{_FIRST}'>system</th>{head}</tr></thead><tbody>{body}</tbody></table>"
        f"<p>{left}Means over queries; below them the bootstrap interval. Information: {escape(tier)}.</p>{listed}"
    )


def _row(
    name: str,
    means: Mapping[str, float | None],
    intervals: Mapping[str, Interval],
    shown: Sequence[str],
    judged: bool,
) -> str:
    cells = "".join(f"<td style='{_CELL}'>{_cell(means.get(key), intervals.get(key))}</td>" for key in shown)
    style = "" if judged else " style='opacity:.65'"
    return f"<tr{style}><td style='{_FIRST}'>{escape(name)}</td>{cells}</tr>"


def _cell(mean: float | None, pair: Interval) -> str:
    if mean is None:
        return "–"
    ends = "" if pair is None else f"<br><small>{pair[0]:.4f} to {pair[1]:.4f}</small>"
    return f"{mean:.4f}{ends}"
