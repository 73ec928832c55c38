"""One run as tables: for the terminal, and in Markdown for the README."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from _timing import Gain, Growth, Report, Result, Seconds
from rich.console import Console
from rich.markup import escape
from rich.table import Table

CONTESTS = ("", "contest", "ours", "peer", "ratio", "of the best", "demanded", "met")
GROWTH = ("function", "grows with", "at", "measured", "exponent", "at the end", "notes")
GAINS = ("rankings chosen together", "how many", "times smaller squared error than as many draws")
WIDTH = 140  # of the tables where the output is no terminal

Rows = Iterable[Sequence[str]]


def show(report: Report, facts: dict[str, str]) -> None:
    """Print everything."""
    console = Console()
    console = console if console.is_terminal else Console(width=WIDTH)
    console.print(_facts(facts), highlight=False, markup=False, soft_wrap=True)
    if report.results:
        console.print(_rich("Median (best) of one call; ratios are peer / ours", CONTESTS, _contests(report.results)))
    if report.growth:
        console.print(
            _rich(
                "Growth: exponents of a fit to the logarithms, and between the last two sizes",
                GROWTH,
                map(_growth, report.growth),
            )
        )
    if report.gains:
        console.print(_rich("Schedules against independent draws", GAINS, map(_gain, report.gains)))
    for line in [*_remarks(report.results), *_gaps(report), *_summary(report.results)]:
        console.print(line, highlight=False, markup=False, soft_wrap=True)


def markdown(report: Report, facts: dict[str, str]) -> str:
    """Return the tables in Markdown, with the machine and the versions in front."""
    parts = [_facts(facts)]
    if report.results:
        parts += [_markdown(CONTESTS, _contests(report.results)), "\n".join(f"- {x}" for x in _remarks(report.results))]
        parts += _summary(report.results)
    if report.growth:
        parts.append(_markdown(GROWTH, map(_growth, report.growth)))
    if report.gains:
        parts.append(_markdown(GAINS, map(_gain, report.gains)))
    return "\n\n".join([*parts, *_gaps(report)]) + "\n"


def _facts(facts: dict[str, str]) -> str:
    return "; ".join(f"{name} {value}" for name, value in facts.items()) + "."


def _contests(results: Sequence[Result]) -> Iterator[list[str]]:
    for number, result in enumerate(results, 1):
        yield [
            str(number),
            result.contest,
            _median_and_best(result.ours),
            _median_and_best(result.peer),
            _ratio(result.ratio),
            _ratio(result.best_ratio),
            "" if result.demanded is None else f"{result.demanded:g}",
            result.verdict,
        ]


def _remarks(results: Sequence[Result]) -> list[str]:
    """Return a line a peer, with the rows it stands in, and a line a note."""
    rows: dict[str, list[int]] = {}
    for number, result in enumerate(results, 1):
        rows.setdefault(result.peer_name, []).append(number)
    peers = [f"Peer of {_runs(numbers)}: {name}." for name, numbers in rows.items()]
    return peers + [f"{number}: {result.notes}." for number, result in enumerate(results, 1) if result.notes]


def _runs(numbers: Sequence[int]) -> str:
    """Write ascending numbers shortly: 1-3, 7."""
    parts: list[list[int]] = []
    for number in numbers:
        if parts and number == parts[-1][-1] + 1:
            parts[-1].append(number)
        else:
            parts.append([number])
    return ", ".join(f"{part[0]}-{part[-1]}" if len(part) > 1 else str(part[0]) for part in parts)


def _gaps(report: Report) -> list[str]:
    return [f"Not run: {gap.contest}: {gap.reason}." for gap in report.not_run]


def _summary(results: Sequence[Result]) -> list[str]:
    demanded = [result for result in results if result.demanded is not None]
    met = sum(not result.missed for result in demanded)
    return [f"{met} of {len(demanded)} demanded ratios met."] if demanded else []


def _growth(growth: Growth) -> list[str]:
    return [
        growth.what,
        growth.variable,
        ", ".join(f"{size:,}" for size in growth.sizes),
        ", ".join(f"{value:.3g}" for value in growth.values) + f" {growth.unit}",
        *(f"{round(slope, 2) + 0.0:.2f}" for slope in (growth.exponent, growth.last_exponent)),  # no -0.00
        growth.notes,
    ]


def _gain(gain: Gain) -> list[str]:
    ratios = [alone / together for alone, together in zip(gain.independent, gain.together, strict=True)]
    return [gain.what, ", ".join(map(str, gain.counts)), ", ".join(f"{ratio:.3g}" for ratio in ratios)]


def _median_and_best(seconds: Seconds) -> str:
    return f"{duration(seconds.median)} ({duration(seconds.best)})"


def duration(seconds: float) -> str:
    """Return seconds in the unit that suits, three figures."""
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-6:.3g} µs"


def _ratio(value: float) -> str:
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"


def _rich(title: str, head: Sequence[str], rows: Rows) -> Table:
    table = Table(title=title, title_justify="left")
    for name in head:
        table.add_column(name, overflow="fold")
    for row in rows:
        table.add_row(*map(escape, row))
    return table


def _markdown(head: Sequence[str], rows: Rows) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)
