"""A hook of mkdocs: formulas become pictures in the page when the site is built, so that no script is ever loaded.

Pages write ``$...$`` in a line and ``$$...$$`` on lines of their own, which GitHub shows as well. arithmatex finds
them; here matplotlib's own reader of TeX lays them out, and their outlines become SVG in the colour of the text.
"""

from __future__ import annotations

import functools
import html
import re
from typing import Any

from matplotlib.font_manager import FontProperties
from matplotlib.mathtext import MathTextParser
from matplotlib.path import Path as Outline
from matplotlib.textpath import text_to_path
from mkdocs.exceptions import PluginError

SIZE = text_to_path.FONT_SCALE
"""Points of the font that formulas are laid out in; only ratios to it are kept."""

_FOUND = re.compile(r'<(?P<tag>span|div) class="arithmatex">\\(?P<open>[(\[])(?P<tex>.*?)\\[)\]]</(?P=tag)>', re.DOTALL)
_LETTERS = {Outline.MOVETO: "M", Outline.LINETO: "L", Outline.CURVE3: "Q", Outline.CURVE4: "C", Outline.CLOSEPOLY: "Z"}


def on_page_content(content: str, page: Any, **_: Any) -> str:
    """Put a picture in the place of every formula; PluginError names the page and the formula that cannot be read."""

    def picture(match: re.Match[str]) -> str:
        tex = html.unescape(match["tex"]).strip()
        try:
            drawn = svg(tex)
        except ValueError as error:
            raise PluginError(f"{page.file.src_uri}: the formula {tex} cannot be read: {error}") from error
        return f'<div class="formula">{drawn}</div>' if match["tag"] == "div" else drawn

    return _FOUND.sub(picture, content)


@functools.cache
def svg(tex: str) -> str:
    """Return a formula as SVG whose baseline is that of the text; ValueError where matplotlib cannot read it."""
    font = FontProperties(math_fontfamily="stix", size=SIZE)
    line = " ".join(tex.split())
    width, height, depth, _, _ = MathTextParser("path").parse(f"${line}$", 72, font)
    glyphs, outlines, boxes = text_to_path.get_glyphs_mathtext(font, f"${line}$")
    parts = []
    for name, x, y, size in glyphs:
        points, codes = outlines[name]
        parts.append(_data(points * size + (x, y), codes))
    parts += [_data(points, codes) for points, codes in boxes]
    return (
        f'<svg class="tex" role="img" aria-label="{html.escape(line)}" xmlns="http://www.w3.org/2000/svg" '
        f'viewBox="0 {depth - height:.1f} {width:.1f} {height:.1f}" '
        f'style="height:{height / SIZE:.3f}em;vertical-align:{-depth / SIZE:.3f}em">'
        f'<path d="{"".join(parts)}"/></svg>'
    )


def _data(points: Any, codes: Any) -> str:
    """Return outlines as path data; y grows downward in SVG."""
    words, before = [], None
    for (x, y), code in zip(points, codes, strict=True):
        letter = _LETTERS[code]
        if letter == "Z":
            words.append("Z")
        else:
            same = letter == before and letter in "QC"
            words.append(f"{'' if same else letter}{x:.1f} {-y:.1f} ")
        before = letter
    return "".join(words)
