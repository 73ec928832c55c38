"""Fonts for names in any script."""

from __future__ import annotations

DEFAULT = "DejaVu Sans"  # comes with matplotlib
_LAST_RESORT = "Last Resort"  # claims to have every letter and draws each as the box of its block


def families(text: str) -> list[str]:
    """Return font families that together have the letters of a text, matplotlib's own font first.

    Installed fonts are searched only for letters that the first one lacks. Letters that no font has are drawn as
    boxes.
    """
    from matplotlib import font_manager

    found = [DEFAULT]
    missing = {ord(letter) for letter in text if letter.isprintable()} - _letters(font_manager.findfont(DEFAULT))
    for entry in _installed() if missing else ():
        covered = missing & _letters(entry[1])
        if covered:
            found.append(entry[0])
            missing -= covered
        if not missing:
            break
    return found


def _installed() -> list[tuple[str, str]]:
    # upright fonts of normal weight, in an order that does not depend on the file system
    from matplotlib.font_manager import fontManager

    return sorted(
        {
            (entry.name, entry.fname)
            for entry in fontManager.ttflist
            if entry.style == "normal" and entry.weight in (400, "normal", "regular") and _LAST_RESORT not in entry.name
        }
    )


def _letters(path: str) -> set[int]:
    from matplotlib.ft2font import FT2Font

    try:
        font = FT2Font(path)
    except (OSError, RuntimeError):  # a font file that went away or that FreeType cannot read
        return set()
    # fonts of coloured bitmaps cannot be drawn at an arbitrary size
    return set(font.get_charmap()) if font.scalable else set()
