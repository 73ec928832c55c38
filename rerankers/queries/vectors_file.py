"""Word vectors from files: the text forms of GloVe and word2vec, and parquet."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from rerankers._base.errors import InputError, MissingError, Problems
from rerankers._base.files import read_lines
from rerankers._base.fingerprint import file_fingerprint
from rerankers.queries.vectors import WordVectors

if TYPE_CHECKING:
    from collections.abc import Collection

    from numpy.typing import NDArray

WORD_COLUMN: Final = "word"
_HEADER_PARTS: Final = 2


def read_vectors(path: str, words: Collection[str] | None = None) -> WordVectors:
    """Read word vectors.

    Parameters
    ----------
    path
        text, perhaps with ``.gz`` or ``.zst``: a word and its numbers a line, blanks or tabs between them, maybe after
        a first line with the number of words and of dimensions (word2vec). Or ``.parquet`` with a column ``word`` and
        either one column of lists or one column of numbers a dimension.
    words
        keep only these; None keeps all.

    Raises
    ------
    InputError
        with every line that is wrong: no numbers, another number of them than the line before, not finite; and for
        a file with fewer words than its first line says. Words
        that come again are left out: the first counts; so are words with blanks in them.
    MissingError
        when there is no such file.
    """
    place = Path(path).expanduser()
    if not place.exists():
        raise MissingError(f"{place}: no such file. Check generator.embedding.vectors, or set it to null to learn them")
    found, matrix = _parquet(place, words) if place.suffix == ".parquet" else _text(place, words)
    if not found:
        raise InputError.one(str(place), "no word of the collection", "word vectors with words of its texts")
    return WordVectors.of(found, matrix, vector_fingerprint(path))


def vector_fingerprint(path: str) -> str:
    """Return the fingerprint of a vector file, for results; read once while the file does not change."""
    place = Path(path).expanduser()
    state = place.stat()
    return _fingerprint(str(place), state.st_mtime_ns, state.st_size)


@lru_cache(maxsize=8)
def _fingerprint(path: str, changed: int, size: int) -> str:
    return file_fingerprint(Path(path))


def _text(path: Path, words: Collection[str] | None) -> tuple[list[str], NDArray[np.float32]]:
    problems = Problems(str(path))
    rows: dict[str, NDArray[np.float32]] = {}
    width, promised, told = 0, 0, "in the lines before"
    number = 0
    for number, line in read_lines(path):
        word, _, rest = line.rstrip().replace("\t", " ").partition(" ")
        if number == 1 and len(line.split()) == _HEADER_PARTS and word.isdigit() and rest.strip().isdigit():
            promised, width, told = int(word), int(rest), "the first line says"
            continue
        if not word:
            continue
        if rest.count(" ") + 1 != width:  # the first line, or more than one blank between numbers
            rest = " ".join(rest.split())
        size = rest.count(" ") + 1 if rest else 0
        width = width or size
        if size > width and not _number(rest.partition(" ")[0]):
            continue  # a word with blanks in it, as some public files have: no query has such a word
        if size != width or not size:
            expected = f"{width}, as {told}" if width else "a word, then numbers"
            problems.add(number, f"{size or 'no'} numbers for {word[:40]!r}", expected)
            continue
        if word in rows or (words is not None and word not in words):
            continue
        try:
            with np.errstate(over="ignore"):  # what is too large is told below
                rows[word] = np.array(rest.split(" "), dtype=np.float32)
        except ValueError:
            problems.add(number, f"{rest[:40]!r} for {word!r}", f"{width} numbers with blanks between them")
            continue
        if not np.all(np.isfinite(rows[word])):
            problems.add(number, f"a number that is not finite for {word!r}", "finite numbers")
    if promised and promised > number - 1:
        problems.add(None, f"{number - 1} words", f"{promised}, as the first line says; is the file complete?")
    problems.raise_if_any()
    return list(rows), np.stack(list(rows.values())) if rows else np.empty((0, 0), np.float32)


def _number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _parquet(path: Path, words: Collection[str] | None) -> tuple[list[str], NDArray[np.float32]]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        table = pq.read_table(path)
    except pa.ArrowInvalid as error:
        raise InputError.one(str(path), str(error), "a parquet file") from error
    others = [name for name in table.column_names if name != WORD_COLUMN]
    if WORD_COLUMN not in table.column_names or not others:
        raise InputError.one(str(path), f"the columns {', '.join(table.column_names)}", "word and numbers")
    names = [str(word) for word in table.column(WORD_COLUMN).to_pylist()]
    try:
        if len(others) == 1 and pa.types.is_nested(table.schema.field(others[0]).type):
            matrix = np.array(table.column(others[0]).to_pylist(), dtype=np.float32)
        else:
            matrix = np.column_stack([table.column(name).to_numpy() for name in others]).astype(np.float32)
        if matrix.ndim != 2:
            raise ValueError(f"an array of shape {matrix.shape}")
    except (ValueError, TypeError) as error:
        raise InputError.one(str(path), str(error).splitlines()[0], "vectors of one length, numbers only") from error
    wrong = np.flatnonzero(~np.isfinite(matrix).all(axis=1))
    if len(wrong):
        found = f"a number that is not finite in row {wrong[0] + 1} ({names[wrong[0]]!r})"
        raise InputError.one(
            str(path), found + (f" and {len(wrong) - 1} more" if len(wrong) > 1 else ""), "finite numbers"
        )
    first = {word: row for row, word in reversed(list(enumerate(names)))}
    rows = sorted(row for word, row in first.items() if words is None or word in words)
    return [names[row] for row in rows], matrix[rows]
