"""Drawing of group exposure: one panel a system, one line a group, from target to exposure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rerankers.report.data import ANCHOR, picture_names
from rerankers.report.style import ABOVE, BELOW, INK, MUTED, PAPER, SMALL, WIDTH, drawing, new_figure
from rerankers.report.text import cells, wrap

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_ACROSS = 3
_NAME, _NAME_LINES = 26, 2  # cells and lines of a group's name
_CELL = 0.058  # inches a cell at the small size
_GAP, _PANEL_TOP, _PANEL_BOTTOM, _LEGEND = 0.16, 0.28, 0.2, 0.28  # inches
_MARGIN, _LEGEND_WIDTH = 0.1, 4.0  # inches
_SAME = 1e-9  # relative to the axis: neither above nor below


@dataclass(frozen=True, slots=True)
class GroupRow:
    """One group under one system: mean exposure and target, None where unknown."""

    attribute: str
    system: str
    group: str
    exposure: float | None
    target: float | None


@dataclass(frozen=True, slots=True)
class _Grid:
    """Where the panels are, all in inches: ``across`` a line, each ``wide`` and ``tall``, names left of them."""

    panels: int
    across: int
    left: float
    wide: float
    tall: float

    @classmethod
    def of(cls, panels: int, names: Sequence[str]) -> _Grid:
        """Fit panels for groups of these wrapped names into the width of a page."""
        across = min(_ACROSS, panels)
        left = 0.14 + _CELL * max(cells(line) for name in names for line in name.split("\n"))
        line = 0.3 if any("\n" in name for name in names) else 0.2
        wide = min((WIDTH - left - _MARGIN - _GAP * (across - 1)) / across, 3.2)
        return cls(panels, across, left, wide, line * len(names) + 0.08)

    @property
    def size(self) -> tuple[float, float]:
        """Height and width of the figure."""
        lines = -(-self.panels // self.across)
        width = self.left + _MARGIN + self.wide * self.across + _GAP * (self.across - 1)
        return lines * (self.tall + _PANEL_TOP + _PANEL_BOTTOM) + _LEGEND + 0.2, max(width, _LEGEND_WIDTH)

    def panel(self, index: int) -> tuple[float, float, float, float]:
        """Return (left, bottom, width, height) of a panel as shares of the figure."""
        line, column = divmod(index, self.across)
        height, width = self.size
        left = self.left + column * (self.wide + _GAP)
        top = height - _LEGEND - _PANEL_TOP - line * (self.tall + _PANEL_TOP + _PANEL_BOTTOM)
        return left / width, (top - self.tall) / height, self.wide / width, self.tall / height


def group_figure(rows: Sequence[GroupRow], units: str = "queries") -> Figure:
    """Draw the rows of one attribute: one panel a system, three a line, on one common axis."""
    systems = list(dict.fromkeys(row.system for row in rows))
    groups = list(dict.fromkeys(row.group for row in rows))
    with drawing([*systems, *groups]):
        names = [wrap(group, _NAME, _NAME_LINES) for group in groups]
        grid = _Grid.of(len(systems), names)
        height, width = grid.size
        figure = new_figure(height, width)
        most = max((value for row in rows for value in (row.exposure, row.target) if value is not None), default=0.0)
        limit = 1.06 * most if most > 0 else 1.0
        for index, (system, title) in enumerate(picture_names(systems).items()):
            axes = figure.add_axes(grid.panel(index))
            axes.set_xlim(-0.02 * limit, limit)
            draw_groups(axes, groups, [row for row in rows if row.system == system])
            weight = "normal" if system.startswith(ANCHOR) else "bold"
            axes.set_title(wrap(title, int(grid.wide / 0.075), 1), loc="left", pad=4, fontweight=weight)
            axes.tick_params(axis="x", labelbottom=index + grid.across >= len(systems))
            if index % grid.across == 0:
                _name_groups(axes, names)
        _legend(figure)
        label = f"expected exposure, mean over the {units}"
        figure.text(grid.left / width, 0.06 / height, label, fontsize=SMALL + 0.5)
        return figure


def draw_groups(axes: Axes, groups: Sequence[str], rows: Sequence[GroupRow]) -> Axes:
    """Draw one system's groups on axes, first group on top, and return them. The limits of x must be set before."""
    axes.set_ylim(len(groups) - 0.5, -0.5)
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)
    axes.grid(True, axis="x")
    axes.set_axisbelow(True)
    axes.locator_params(axis="x", nbins=4)
    limit = axes.get_xlim()[1]
    whole = [(groups.index(row.group), row.exposure, row.target) for row in rows]
    for colour in (MUTED, ABOVE, BELOW):
        marks = [
            (y, given, due) for y, given, due in whole if given is not None and _colour(given, due, limit) == colour
        ]
        lines = [(y, given, due) for y, given, due in marks if due is not None]
        axes.hlines(
            [y for y, _, _ in lines],
            [due for _, _, due in lines],
            [given for _, given, _ in lines],
            colors=colour,
            linewidth=1.6,
            zorder=2,
        )
        _marks(axes, [(given, y) for y, given, _ in marks], marker="o", markersize=5, color=colour, zorder=4)
    targets = [(due, y) for y, _, due in whole if due is not None]
    _marks(axes, targets, marker="|", markersize=9, markeredgecolor=INK, zorder=3)
    return axes


def _marks(axes: Axes, spots: Sequence[tuple[float, float]], **look: Any) -> None:
    if spots:
        axes.plot(*zip(*spots, strict=True), linestyle="none", **look)


def _colour(given: float, due: float | None, limit: float) -> str:
    if due is None or abs(given - due) <= _SAME * limit:
        return MUTED
    return ABOVE if given > due else BELOW


def _name_groups(axes: Axes, names: Sequence[str]) -> None:
    for y, name in enumerate(names):
        axes.annotate(
            name, (0, y), xycoords=("axes fraction", "data"), xytext=(-6, 0), textcoords="offset points",
            ha="right", va="center", fontsize=SMALL, annotation_clip=False,
        )  # fmt: skip


def _legend(figure: Figure) -> None:
    from matplotlib.lines import Line2D

    handles = [
        Line2D([], [], linestyle="none", marker="|", markersize=9, markeredgecolor=INK, label="target"),
        Line2D([], [], color=ABOVE, marker="o", markersize=5, linewidth=1.6, label="more than the target"),
        Line2D([], [], color=BELOW, marker="o", markersize=5, linewidth=1.6, label="less than the target"),
    ]
    figure.legend(
        handles=handles, loc="upper right", ncols=3, frameon=False, fontsize=SMALL, borderaxespad=0.2, facecolor=PAPER
    )
