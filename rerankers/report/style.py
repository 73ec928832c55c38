"""How pictures look: sizes, colours that colour-blind readers tell apart, one style that no user setting changes."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from rerankers.report.fonts import families

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WIDTH = 7.2  # inches: the text width of a page
DPI = 200
SIZE, SMALL = 8.5, 7.0  # points

INK, MUTED, GRID, PAPER = "#1a1d21", "#5c636b", "#dfe2e6", "#ffffff"
BELOW, ABOVE = "#c2500a", "#0b66b0"  # less and more than the target

# After Okabe and Ito, without yellow and darkened, so that small text in these colours has a contrast of 4.5 on paper.
COLOURS = ("#0072b2", "#c25400", "#007a5a", "#a8447f", "#22688f", "#8f6000", "#6a51a3", "#7a4a21")
METHOD_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "h")
ANCHOR_MARKERS = {"random": "o", "worst_first": "v", "deterministic": "s", "plackett_luce": "D", "ideal": "*"}

_STYLE: dict[str, Any] = {
    "font.size": SIZE,
    "axes.titlesize": SIZE,
    "axes.titleweight": "bold",
    "axes.labelsize": SIZE,
    "axes.edgecolor": MUTED,
    "axes.labelcolor": INK,
    "axes.linewidth": 0.6,
    "axes.facecolor": "none",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.formatter.useoffset": False,
    "axes.unicode_minus": False,
    "text.color": INK,
    "text.parse_math": False,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "xtick.labelsize": SMALL + 0.5,
    "ytick.labelsize": SMALL + 0.5,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "grid.color": GRID,
    "grid.linewidth": 0.6,
    "figure.facecolor": PAPER,
    "figure.dpi": 100,
    "savefig.dpi": DPI,
    "svg.fonttype": "none",
    "pdf.fonttype": 42,
}


@contextmanager
def drawing(texts: Iterable[str] = (), salt: str = "report") -> Iterator[None]:
    """Draw under the report's style, whatever matplotlibrc says; the former settings come back at the end.

    Parameters
    ----------
    texts
        names that will be drawn: for letters that the default font lacks, an installed font is looked up.
    salt
        root of the ids in SVG files, so that equal pictures are equal files.
    """
    with _quiet():
        import matplotlib.style

        with matplotlib.style.context(
            {**_STYLE, "font.family": families("".join(texts)), "svg.hashsalt": salt}, after_reset=True
        ):
            yield


@contextmanager
def _quiet() -> Iterator[None]:
    # Without a writable config folder matplotlib logs advice on its cache, and a letter that no installed font has
    # is a Python warning. Neither concerns who reads a report: the page and the CSV show every name in full.
    logger = logging.getLogger("matplotlib")
    before = logger.level
    logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message=r"(?s).*Glyph .* missing from", category=UserWarning)
            yield
    finally:
        logger.setLevel(before)


def new_figure(height: float, width: float = WIDTH) -> Figure:
    """Return an empty figure with an Agg canvas, sizes in inches. pyplot is not involved."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height))
    FigureCanvasAgg(figure)
    return figure
