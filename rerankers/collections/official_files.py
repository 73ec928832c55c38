"""Where the native files of the TREC Fair Ranking tracks live, under which licence, and whether a copy is a known one.

No file of the tracks is part of this project: its users get them where they officially live. The digests are of copies
that the project was tested with; another one may be as good, so that a difference is told and counted, not an error.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from rerankers._base.errors import MissingError
from rerankers._base.files import open_bytes
from rerankers.collections.folder import collection_folder, find_file, unpacked_name
from rerankers.collections.licence_notices import show_licences
from rerankers.values.qrels import met

if TYPE_CHECKING:
    from rerankers.values.collection import Counts

TABLE = Path(__file__).with_name("official_files.csv")
_CHUNK = 1 << 20
_told: set[str] = set()  # warnings that this process has printed


@dataclass(frozen=True, slots=True)
class OfficialFile:
    """One native file.

    Attributes
    ----------
    year
        of the track.
    name, also
        its name without a suffix of compression, and other names that it goes by.
    about
        what it holds.
    place
        where it officially lives, or its one public place.
    licences
        keys of `LICENCES`.
    tested
        repository and commit of the copy that the project was tested with; empty: no copy's digest is known.
    lines
        of that copy, unpacked; a last one without an end counts.
    sha256
        of that copy, unpacked, in hexadecimal.
    sha256_without_names
        of its content less the names of authors (`nameless_digest`), which are not the same in all copies; for most
        files None.
    """

    year: int
    name: str
    also: tuple[str, ...]
    about: str
    place: str
    licences: tuple[str, ...]
    tested: str
    lines: int | None
    sha256: str | None
    sha256_without_names: str | None


@cache
def official_files() -> tuple[OfficialFile, ...]:
    """Return all files that are known, by year."""
    with TABLE.open(encoding="utf-8", newline="") as stream:
        return tuple(
            OfficialFile(
                year=int(row["year"]),
                name=row["name"],
                also=tuple(row["also"].split()),
                about=row["about"],
                place=row["place"],
                licences=tuple(row["licence"].split("+")),
                tested=row["tested"],
                lines=int(row["lines"]) if row["lines"] else None,
                sha256=row["sha256"] or None,
                sha256_without_names=row["sha256_without_names"] or None,
            )
            for row in csv.DictReader(stream)
        )


def official_file(path: str | Path) -> OfficialFile | None:
    """Return what is known of a file by its name, perhaps with a suffix of compression; None for other names."""
    name = unpacked_name(Path(path))
    return next((known for known in official_files() if name in (known.name, *known.also)), None)


def where_to_get(names: Iterable[str], folder: Path) -> str:
    """Return sentences that say where files officially live and where to put them."""
    known = [found for name in names if (found := official_file(name)) is not None]
    places = ", or ".join(f"{found.name} ({found.about}) from {found.place}" for found in dict.fromkeys(known))
    return f"Get {places}, and put it into the folder {folder}: this project may not ship it" if places else ""


def need_official(folder: Path, names: Sequence[str]) -> Path:
    """Return the first of ``names`` that a folder holds, plain or compressed.

    Raises
    ------
    MissingError
        when it holds none of them, with where they officially live.
    InputError
        when it holds one both plain and compressed.
    """
    for name in names:
        found = find_file(folder, [name])
        if found is not None:
            return found
    held = ", ".join(sorted(path.name for path in folder.iterdir())[:10]) or "nothing"
    raise MissingError(
        f"{folder}: no {' or '.join(names)} (.gz or .zst too); the folder holds {held}. {where_to_get(names, folder)}"
    )


def need_official_folder(path: str, names: Sequence[str]) -> Path:
    """Return the folder of a track's files (`collection_folder`); when there is none, say what it should hold."""
    try:
        return collection_folder(path)
    except MissingError as error:
        raise MissingError(f"{error}. {where_to_get(names, Path(path))}") from None


def need_official_file(path: Path, name: str) -> None:
    """Raise `MissingError` when there is no such file, with where the file ``name`` officially lives."""
    if not path.exists():
        where = f"{path}: no such file. Check the path; relative paths start at {Path.cwd()}"
        raise MissingError(f"{where}. {where_to_get([name], path.absolute().parent)}")


def check_editions(paths: Iterable[Path]) -> Counts:
    """Show the licences of files once, and compare copies with those that the project was tested with.

    Files are known by their names; others are left alone. What differs is told on standard error, once a process.

    Parameters
    ----------
    paths
        files that have been read without errors.

    Returns
    -------
    Counts
        where there are any: ``files_of_another_edition`` (another sha256 than the known one; other names of authors
        are no difference), of which ``files_with_another_number_of_lines``.
    """
    known = [(path, found) for path in paths if (found := official_file(path)) is not None]
    show_licences(licence for _, found in known for licence in found.licences)
    other = lines = 0
    for path, found in known:
        if found.sha256 is None:
            continue
        digest, count = content_digest(path)
        nameless = found.sha256_without_names
        if digest != found.sha256 and (nameless is None or nameless_digest(path) != nameless):
            other += 1
            lines += count != found.lines
            size = (
                f"{count:,} lines where that has {found.lines:,}" if count != found.lines else f"{count:,} lines each"
            )
            _tell(f"{path}: another edition than the one tested ({found.tested}; {size}, sha256 differs)")
    return met(files_of_another_edition=other, files_with_another_number_of_lines=lines)


def content_digest(path: Path) -> tuple[str, int]:
    """Return (sha256 in hexadecimal, number of lines) of a file, unpacked."""
    digest, lines, last = hashlib.sha256(), 0, b""
    with open_bytes(path) as stream:
        while chunk := stream.read(_CHUNK):
            digest.update(chunk)
            lines += chunk.count(b"\n")
            last = chunk[-1:]
    return digest.hexdigest(), lines + (last not in (b"", b"\n"))


def nameless_digest(path: Path) -> str:
    """Return the sha256 of what a file says less the names of authors, however it is written down.

    Parameters
    ----------
    path
        CSV with a column ``name``, or JSON lines with a list ``authors`` of objects with ``name``.

    Raises
    ------
    ValueError
        for JSON that cannot be read.
    """
    digest = hashlib.sha256()
    for piece in _nameless(path):
        digest.update(piece.encode())
    return digest.hexdigest()


def _nameless(path: Path) -> Iterator[str]:
    with open_bytes(path) as raw, io.TextIOWrapper(raw, encoding="utf-8-sig", newline="") as stream:
        if unpacked_name(path).endswith(".csv"):
            rows = csv.reader(stream)
            header = next(rows, [])
            keep = [place for place, column in enumerate(header) if column.strip() != "name"]
            yield from ("\x1f".join([row[place] for place in keep]) + "\n" for row in (header, *rows) if row)
            return
        for line in stream:
            if line.strip():
                record = json.loads(line)
                authors = record.get("authors") if isinstance(record, dict) else None
                for author in authors if isinstance(authors, list) else ():
                    if isinstance(author, dict):
                        author.pop("name", None)
                yield json.dumps(record, sort_keys=True)


def _tell(text: str) -> None:
    if text not in _told:
        _told.add(text)
        print(f"warning: {text}", file=sys.stderr)
