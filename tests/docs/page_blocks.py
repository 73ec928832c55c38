"""What a page of the documentation shows: its fenced blocks, in order, and what each is for."""

from __future__ import annotations

import re
import textwrap
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
RUN = ("python", "bash")
"""Languages whose blocks are run."""
SHOWN = (
    "text",
    "console",
    "yaml",
    "json",
    "jsonl",
    "csv",
    "tsv",
    "toml",
    "bibtex",
    "latex",
    "markdown",
    "html",
    "math",
)
"""Languages whose blocks are shown only; `text` right after a run block is its output."""
MARKS = ("slow", "shared_data", "java")

_FENCE = re.compile(
    r"^(?P<indent> *)(?P<ticks>`{3,})(?P<language>[\w-]*)[^\n`]*\n(?P<code>.*?)^(?P=indent)(?P=ticks) *$", re.M | re.S
)
_FILE = re.compile(r"^ *File: `?(?P<name>[^\s`]+)`?\s*\Z", re.M)
_TEST = re.compile(r"^<!-- test: (?P<marks>[\w ,]+) -->$", re.M)


@dataclass(frozen=True)
class Block:
    """A fenced block: its language and text, the line it starts on, the file it is, the output it should have."""

    language: str
    code: str
    line: int
    file: str | None
    expected: str | None


def pages() -> list[Path]:
    """Return every page whose blocks are run."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def name_of(page: Path) -> str:
    """Return the path of a page as it is known in the project."""
    return page.relative_to(ROOT).as_posix()


def marks_of(text: str) -> list[str]:
    """Return the marks that a page asks for in ``<!-- test: slow -->``; ValueError for words that are no mark."""
    marks = [mark for found in _TEST.finditer(text) for mark in re.split(r"[ ,]+", found["marks"])]
    for mark in marks:
        if mark not in MARKS:
            raise ValueError(f"test: found {mark}; expected some of {', '.join(MARKS)}")
    return marks


def blocks_of(text: str) -> list[Block]:
    """Return the blocks of a page in order; ValueError names the line of one whose language is not known."""
    found = list(_FENCE.finditer(text))
    blocks = []
    for at, match in enumerate(found):
        line = text.count("\n", 0, match.start()) + 1
        if match["language"] not in (*RUN, *SHOWN):
            raise ValueError(f"line {line}: found ```{match['language']}; expected one of {', '.join((*RUN, *SHOWN))}")
        file = _FILE.search(text, found[at - 1].end() if at else 0, match.start())
        after = found[at + 1] if at + 1 < len(found) else None
        is_output = after is not None and after["language"] == "text" and not text[match.end() : after.start()].strip()
        blocks.append(
            Block(
                match["language"],
                textwrap.dedent(match["code"]),
                line,
                file["name"] if file else None,
                textwrap.dedent(after["code"]) if after is not None and is_output else None,
            )
        )
    return blocks


def agrees(printed: str, expected: str) -> bool:
    """Say whether output is what a page shows; ``...`` stands for anything, blanks at ends of lines for nothing."""
    return (
        re.fullmatch(".*".join(re.escape(part) for part in _trimmed(expected).split("...")), _trimmed(printed), re.S)
        is not None
    )


def _trimmed(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.strip("\n").splitlines())
