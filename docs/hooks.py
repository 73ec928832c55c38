"""A hook of mkdocs: tables that the package itself knows are put into pages when the site is built.

A page says where, and GitHub, which shows the page as it stands, hides the line:

- ``<!-- options: kl_tilt -->``: the options of ``conf/method/kl_tilt.yaml``; ``GROUP/NAME`` for those of others.
- ``<!-- published: evidence -->``: published numbers of a section of ``fair-rerank reproduce``, ours beside them;
  ``<!-- published: 2020, 2020 META -->`` those of a part of it.
- ``<!-- leaderboard: trec2020-rerank -->``: a published table of a track.

Links to files outside of ``docs`` (``../../conf/method/kl_tilt.yaml``), which help there, become plain names.
"""

from __future__ import annotations

import csv
import functools
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import MISSING, Field, fields
from importlib import import_module
from pathlib import Path
from typing import Any

import yaml
from mkdocs.exceptions import PluginError

ROOT = Path(__file__).resolve().parent.parent
OURS = ROOT / "docs" / "reproduction" / "ours.csv"
"""What ``fair-rerank reproduce`` found: its ``reproduce.csv``, kept beside the pages that show it."""

PLACEHOLDER = re.compile(r"^<!-- (?P<what>options|published|leaderboard): (?P<name>[^>]+?) -->$", re.MULTILINE)
_OUTSIDE = re.compile(r"\[(?P<text>[^\]]+)\]\((?:\.\./)+(?P<path>(?:conf|rerankers|benchmarks|scripts|tests)/[^)]*)\)")
_COMMENT = re.compile(r"^(?P<key>\w+):(?:[^#\n]|(?<=\S)#)*(?:\s#\s*(?P<comment>.*))?$", re.MULTILINE)


def on_files(files: Any, **_: Any) -> Any:
    """Leave this file and the numbers behind the tables out of the site."""
    for file in [one for one in files if one.src_uri == "hooks.py"]:
        files.remove(file)
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Put tables in the place of placeholders; PluginError names the page of one that stands for nothing."""
    try:
        return expanded(markdown)
    except LookupError as error:
        raise PluginError(f"{page.file.src_uri}: {error.args[0]}") from error


def expanded(markdown: str) -> str:
    """Return a page with its tables; LookupError for a placeholder that names nothing."""
    tables: dict[str, Callable[[str], str]] = {
        "options": options_table,
        "published": published_table,
        "leaderboard": leaderboard_table,
    }
    filled = PLACEHOLDER.sub(lambda match: tables[match["what"]](match["name"]), markdown)
    return _OUTSIDE.sub(lambda match: f"`{match['path']}`" if match["path"] in match["text"] else match["text"], filled)


def options_table(name: str) -> str:
    """Return a row an option: name, default and meaning, of the dataclass that a config builds.

    Fields that the config does not name are no options: the job fills them, as the browsing model of an objective.

    Parameters
    ----------
    name
        ``GROUP/NAME`` of a file in ``conf``; ``NAME`` alone is of the group ``method``.

    Raises
    ------
    LookupError
        where there is no such file.
    """
    path = ROOT / "conf" / f"{name if '/' in name else f'method/{name}'}.yaml"
    if not path.is_file():
        raise LookupError(f"options: found {name}; expected the name of a config in conf/method, or GROUP/NAME")
    text = path.read_text(encoding="utf-8")
    values, comments = yaml.safe_load(text), {found["key"]: found["comment"] or "" for found in _COMMENT.finditer(text)}
    module, _, kind = str(values.pop("_target_")).rpartition(".")
    declared = {field.name: field for field in fields(getattr(import_module(module), kind)) if field.init}
    if not values:
        return "There are none.\n"
    rows = [(f"`{key}`", f"`{_default(declared.get(key), given)}`", comments[key]) for key, given in values.items()]
    return _table(("option", "default", "what it is"), rows)


def published_table(name: str) -> str:
    """Return published numbers with ours: of a section of ``fair-rerank reproduce``, or of its parts after a comma.

    Raises
    ------
    LookupError
        for a section or part that has no rows, and a row that `OURS` does not have.
    """
    from rerankers.tracks.reproduce import published_rows

    section, *parts = (word.strip() for word in name.split(","))
    rows = [row for row in published_rows() if row.section == section and (not parts or row.part in parts)]
    absent = set(parts) - {row.part for row in rows}
    if not rows or absent:
        raise LookupError(f"published: found {name}; expected a section of fair-rerank reproduce, and parts of it")
    found = _ours()
    if lacking := [row.what for row in rows if (row.section, row.what, row.printed, row.source) not in found]:
        raise LookupError(f"published: {OURS.name} lacks {lacking[0]!r}; copy reproduce.csv of fair-rerank reproduce")
    ours = [found[row.section, row.what, row.printed, row.source] for row in rows]
    return _table(
        ("what", "published", "ours", "verdict", "kind", "source"),
        [
            (row.what, row.printed, _number(one["ours"]), one["reason"] or one["verdict"], row.kind, row.source)
            for row, one in zip(rows, ours, strict=True)
        ],
    )


def leaderboard_table(name: str) -> str:
    """Return a published table of a track; LookupError for a name that is none."""
    path = ROOT / "rerankers" / "tracks" / "tables" / f"{name}.csv"
    if not path.is_file():
        raise LookupError(f"leaderboard: found {name}; expected a file of rerankers/tracks/tables")
    with path.open(encoding="utf-8", newline="") as lines:
        header, *rows = csv.reader(lines)
    return _table(header, rows)


@functools.cache
def _ours() -> dict[tuple[str, str, str, str], dict[str, str]]:
    with OURS.open(encoding="utf-8", newline="") as lines:
        key = ("section", "what", "published", "source")
        return {(row[key[0]], row[key[1]], row[key[2]], row[key[3]]): row for row in csv.DictReader(lines)}


def _default(declared: Field[Any] | None, given: object) -> str:
    """Return a default as it is typed on the command line: that of the class, else of the config."""
    value = given if declared is None or declared.default is MISSING else declared.default
    if isinstance(value, bool) or value is None:
        return {True: "true", False: "false", None: "null"}[value]
    return f"{value:g}" if isinstance(value, float) else str(value)


def _number(text: str) -> str:
    return f"{float(text):.7g}" if text else "-"


def _table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table of Markdown; bars in cells are escaped."""
    lines = [tuple(header), ("---",) * len(header), *rows]
    return "".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |\n" for line in lines)
