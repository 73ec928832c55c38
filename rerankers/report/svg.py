"""A picture's SVG made part of a page: colours that follow the page, ids of its own, a text for screen readers."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

from rerankers.report.style import ABOVE, BELOW, COLOURS, GRID, INK, MUTED, PAPER

# The page defines these custom properties once for light and once for dark.
_PROPERTIES = {
    INK: "var(--ink)",
    MUTED: "var(--muted)",
    GRID: "var(--grid)",
    PAPER: "var(--paper)",
    BELOW: "var(--below)",
    ABOVE: "var(--above)",
    **{colour: f"var(--c{number})" for number, colour in enumerate(COLOURS)},
}
_COLOUR = re.compile(r"#[0-9a-f]{6}")
_FAMILY = re.compile(r"font-family:[^;]*;?")
_FONT = re.compile(r"font: ((?:[^;']*?)[\d.]+px)[^;]*")
_SCALE = 1.7  # CSS pixels a point: the text of pictures gets nearly the size of the page's small text
_DROPPED = {"metadata", "style"}


def inline(text: str, name: str, title: str, description: str) -> str:
    """Return an SVG file's picture as an element for an HTML page.

    Parameters
    ----------
    text
        a whole SVG file written by matplotlib.
    name
        unique on the page; every id begins with it.
    title, description
        accessible name and description.
    """
    root = ET.fromstring(text)  # noqa: S314 - only our own renderer's output is parsed
    for parent in root.iter():
        for child in [child for child in parent if _local(child.tag) in _DROPPED]:
            parent.remove(child)
    for element in root.iter():
        element.tag = _local(element.tag)
        element.attrib = {_local(key): _value(_local(key), value, name) for key, value in element.attrib.items()}
    for size in ("width", "height", "version"):
        root.attrib.pop(size, None)
    width = float(root.attrib["viewBox"].split()[2])
    root.attrib |= {"style": f"max-width: {_SCALE * width:.0f}px"}
    root.attrib |= {"class": "plot", "role": "img", "aria-labelledby": f"{name}-title {name}-desc"}
    for tag, words in (("desc", description), ("title", title)):
        element = ET.Element(tag, {"id": f"{name}-{tag}"})
        element.text = words
        root.insert(0, element)
    return ET.tostring(root, encoding="unicode")


def _local(tag: str) -> str:
    return tag.rpartition("}")[2]


def _value(key: str, value: str, name: str) -> str:
    if key == "id":
        return f"{name}-{value}"
    if key == "href":
        return value.replace("#", f"#{name}-", 1) if value.startswith("#") else value
    if key in ("style", "clip-path", "fill", "stroke"):
        value = value.replace("url(#", f"url(#{name}-")
        value = _COLOUR.sub(lambda found: _PROPERTIES.get(found[0], found[0]), value)
        return _FONT.sub(r"font: \1 var(--font)", _FAMILY.sub("", value))
    return value
