r"""Tables as LaTeX: one ``tabular`` a table, with the rules of the package booktabs and nothing else.

A table that is longer than a page goes on in further ``table`` floats. Everything that comes from names is escaped.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from itertools import groupby

from rerankers.report.comparison_table import BETTER, OTHER, WORSE, Column, Line, Part, Sheet, Value, shown
from rerankers.report.text import NOTHING, clean

ROWS = 40
"""Lines of a table on one page."""
SPECIALS = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "_": r"\_", "%": r"\%",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "|": r"\textbar{}", "`": "{`}", "[": "{[}", "]": "{]}", "*": "{*}",
    "–": "--", "—": "---", "−": "$-$", "†": r"$^{\dagger}$", "‡": r"$^{\ddagger}$", "…": r"\ldots{}", "≤": r"$\leq$",
    "\u00a0": "~", "·": r"$\cdot$", "×": r"$\times$", "ß": r"\ss{}", "ø": r"\o{}", "Ø": r"\O{}", "æ": r"\ae{}",
    "Æ": r"\AE{}", "œ": r"\oe{}", "Œ": r"\OE{}", "ł": r"\l{}", "Ł": r"\L{}", "å": r"\aa{}", "Å": r"\AA{}",
}  # fmt: skip
"""Brackets and stars stand in braces: at the head of a row they would be arguments of the line's end before it."""
MARKS = {BETTER: r"\dagger", WORSE: r"\ddagger", OTHER: "*"}
ACCENTS = {
    "\u0300": "`", "\u0301": "'", "\u0302": "^", "\u0303": "~", "\u0304": "=", "\u0306": "u", "\u0307": ".",
    "\u0308": '"', "\u030a": "r", "\u030b": "H", "\u030c": "v", "\u0327": "c",
}  # fmt: skip


def escape(text: str) -> str:
    """Return a text that LaTeX sets as it stands, in ASCII.

    Latin letters with accents are written with commands. A letter that plain LaTeX has no sign for is written as its
    number, ``[U+4E2D]``: a table that does not compile is worth less than one that names the letter.
    """
    letters = [_letter(letter) for letter in unicodedata.normalize("NFC", clean(text))]
    # two hyphens, or apostrophes, would be set as one sign
    return "".join(
        one + "{}" if one in ("-", "'") and after == one else one
        for one, after in zip(letters, [*letters[1:], ""], strict=False)
    )


def _letter(letter: str) -> str:
    if letter in SPECIALS:
        return SPECIALS[letter]
    if " " <= letter < "\x7f":
        return letter
    parts = unicodedata.normalize("NFD", letter)
    if len(parts) == 2 and parts[0].isascii() and parts[0].isalpha() and parts[1] in ACCENTS:
        base = {"i": r"\i", "j": r"\j"}.get(parts[0], parts[0])
        return f"\\{ACCENTS[parts[1]]}{{{base}}}"
    return f"{{[}}U+{ord(letter):04X}{{]}}"


def document(sheets: Sequence[Sheet], notes: Sequence[str], title: str, leading_zero: bool = True) -> str:
    r"""Return tables to be read by ``\input`` into an article that loads booktabs.

    Parameters
    ----------
    sheets
        tables, each with caption and label.
    notes
        sentences for the first caption: how to read the numbers.
    title
        a comment at the head.
    leading_zero
        whether 0.25 is written with its 0.
    """
    lines = [
        f"% {_comment(title)}",
        r"% \usepackage{booktabs} in the preamble; \input{comparison} where the tables go",
        "",
    ]
    for place, sheet in enumerate(sheets):
        lines += table(sheet, [*(notes if place == 0 else ()), *sheet.notes], leading_zero)
    return "\n".join(lines)


def table(sheet: Sheet, notes: Sequence[str], leading_zero: bool = True) -> list[str]:
    """Return the lines of a table; where it is longer than `ROWS`, of as many floats as it takes."""
    chunks = _chunks(sheet.parts)
    out = []
    for place, parts in enumerate(chunks):
        caption = escape(f"{sheet.title}.") if place == 0 else escape(f"{sheet.title}, continued.")
        if place == 0 and notes:
            caption += " " + " ".join(escape(note) for note in notes)
        out += [
            r"\begin{table}[htbp]",
            r"\centering",
            rf"\caption{{{caption}}}",
            rf"\label{{tab:{sheet.slug}{'' if place == 0 else f'-{place + 1}'}}}",
            r"\small",
            rf"\begin{{tabular}}{{l{'r' * len(sheet.columns)}}}",
            r"\toprule",
            row([escape(sheet.head), *(_head(column) for column in sheet.columns)]),
            *_body(parts, sheet.columns, leading_zero),
            r"\bottomrule",
            r"\end{tabular}",
            r"\end{table}",
            "",
        ]
    return out


def row(cells: Sequence[str]) -> str:
    """Return one row of a tabular."""
    return " & ".join(cells) + r" \\"


def _head(column: Column) -> str:
    arrow = {"higher": r" $\uparrow$", "lower": r" $\downarrow$"}.get(column.better, "")
    return f"{escape(column.title)}{arrow}"


def _body(parts: Sequence[Part], columns: Sequence[Column], leading_zero: bool) -> list[str]:
    out = []
    for part in parts:
        out.append(r"\midrule")
        if part.title:
            out.append(rf"\multicolumn{{{len(columns) + 1}}}{{l}}{{\emph{{{escape(part.title)}}}}} \\")
        out += [_line(line, columns, leading_zero) for line in part.lines]
    return out


def _line(line: Line, columns: Sequence[Column], leading_zero: bool) -> str:
    cells = [
        escape(cell) if isinstance(cell, str) else _value(cell, column, leading_zero)
        for cell, column in zip(line.cells, columns, strict=True)
    ]
    return row([escape(line.name), *cells])


def _value(value: Value, column: Column, leading_zero: bool) -> str:
    text, span = shown(value, column, leading_zero)
    told = rf"\mathbf{{{_power(text)}}}" if value.best else _power(text)
    raised = MARKS.get(value.mark, "")
    letters = f"\\mathrm{{{value.note}}}" if value.note else ""
    above = f"^{{{raised}{letters}}}" if raised or letters else ""
    none = f"--${above}$" if above else "--"
    text = none if text == NOTHING else f"${told}{above}$"
    ends = ", ".join(f"${_power(end)}$" for end in span.split(", "))
    return f"{text} {{\\scriptsize [{ends}]}}" if span else text


def _power(text: str) -> str:
    """Return a number as it is set in mathematics: 1.5e+08 with a power of ten."""
    mantissa, letter, power = text.partition("e")
    return rf"{mantissa}\times 10^{{{int(power)}}}" if letter else text


def _chunks(parts: Sequence[Part]) -> list[list[Part]]:
    """Divide rows into pieces of at most `ROWS`, parts keeping their titles."""
    lines = [(place, line) for place, part in enumerate(parts) for line in part.lines]
    out = []
    for start in range(0, max(1, len(lines)), ROWS):
        piece = lines[start : start + ROWS]
        out.append([
            Part(parts[place].title, [line for _, line in some], parts[place].runs)
            for place, some in groupby(piece, key=lambda one: one[0])
        ])  # fmt: skip
    return out


def _comment(text: str) -> str:
    return clean(text).encode("ascii", "backslashreplace").decode("ascii")
