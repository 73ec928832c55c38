"""The two planes of the report: disparity against relevance, utility against loss."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from rerankers.report.extras import FRONT_WORDS
from rerankers.report.picture import Picture
from rerankers.report.plane import plane_figure
from rerankers.report.points import COLUMNS, Panel, disparity_panels, loss_panels

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from rerankers.report.data import ReportData


def disparity_relevance(data: ReportData) -> Picture | None:
    """Return the disparity-relevance plane, or None where no system has both values."""
    panels = disparity_panels(data)
    caption = (
        f"Expected-exposure disparity (EED) against relevance (EER), means over the {data.units}{_bars(data, panels)}."
    )
    if any(panel.equal_loss() for panel in panels):
        caption += " Grey lines join points of equal loss, EEL = EED - 2 EER + EET; it falls towards the upper left."
    caption += _fronts(panels) + " EER is not utility: the utility-loss plane shows that."
    return _picture("disparity_relevance", "Disparity and relevance", caption, panels)


def utility_loss(data: ReportData) -> Picture | None:
    """Return the utility-loss plane, or None where no system has both values."""
    panels = loss_panels(data)
    caption = f"Utility against loss, means over the {data.units}{_bars(data, panels)}."
    if any(panel.y.better == "lower" for panel in panels):
        caption += (
            " Towards the lower right both are better. A loss that is low only where utility is low, as it can be at "
            "the random and worst-first anchors, is no merit."
        )
    caption += _fronts(panels)
    return _picture("utility_loss", "Utility and loss", caption, panels)


def _bars(data: ReportData, panels: Sequence[Panel]) -> str:
    spans = any(point.x_span or point.y_span for panel in panels for point in panel.points)
    return f", {data.percent} intervals as bars" if spans else ""


def _fronts(panels: Sequence[Panel]) -> str:
    """Say what the lines of fronts are."""
    names = dict.fromkeys(front.name for panel in panels for front in panel.bounding)
    if not names:
        return ""
    told = "; ".join(f"{name}, {FRONT_WORDS.get(name, '')}" for name in names)
    return (
        f" Broken lines are fronts, the best policy for each weight of utility: {told}. Values are those under the "
        "judgments; between two spots every mixture of the two policies is reached."
    )


def _picture(name: str, title: str, caption: str, panels: Sequence[Panel]) -> Picture | None:
    if not panels:
        return None
    missing = sorted({system for panel in panels for system in panel.missing})
    if missing:
        caption += f" Not drawn in every panel, for want of a value: {', '.join(missing)}."
    rows = [row for panel in panels for row in panel.rows()]
    figure: Callable[[], Figure] = lambda: plane_figure(panels)  # noqa: E731
    return Picture(name, title, caption, " ".join(panel.words() for panel in panels), COLUMNS, rows, figure)
