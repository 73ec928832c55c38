"""The replay cache: every reply is kept, so that a job can be repeated word for word, by anybody, without an account.

A cache is an SQLite file, or a ``.jsonl`` file that can be read and published beside the results. Several processes may
share one. Seeds and temperature 0 do not make servers repeat themselves: this does.
"""

from __future__ import annotations

from pathlib import Path

from rerankers._base.errors import ConfigError, MissingError
from rerankers._base.files import write_text
from rerankers.llm.records import Record, Replies
from rerankers.llm.replay_jsonl import JSONLReplies
from rerankers.llm.replay_sqlite import SQLiteReplies

FILE = "replies.sqlite"
SQLITE = (".sqlite", ".sqlite3", ".db")
LINES = (".jsonl", ".jsonl.gz", ".jsonl.zst")


def replay_place(option: str | None, folder: Path) -> Path:
    """Return the file of the cache: the option ``cache``, or `FILE` in the folder of the job's cache.

    Raises
    ------
    ConfigError
        for a name that does not say which kind of file it is.
    """
    if option is None:
        return folder / FILE
    path = Path(option).expanduser()
    if not path.name.endswith((*SQLITE, *LINES)):
        raise ConfigError(
            f"llm.cache: found {option!r}; expected a file whose name ends in {', '.join(SQLITE + LINES)}"
        )
    return path


def open_replies(path: Path, *, read_only: bool = False) -> Replies:
    """Open a replay cache, making it where it is missing.

    Parameters
    ----------
    path
        ending in one of `SQLITE` or `LINES`; compressed lines can only be read.
    read_only
        never write; the file must be there.

    Raises
    ------
    MissingError
        with ``read_only``, when there is no such file.
    InputError
        for a file that is no replay cache, or a damaged one.
    ConfigError
        when it cannot be written.
    """
    if read_only and not path.is_file():
        raise MissingError(
            f"{path}: found no file; expected the replay cache. Copy it there, or name it with llm.cache=FILE"
        )
    if not path.name.endswith(LINES):
        return SQLiteReplies(path, read_only=read_only)
    if not read_only and path.suffix != ".jsonl":
        raise ConfigError(
            f"llm.cache: {path} is compressed and can only be read; expected llm.replay_only=true with it"
        )
    return JSONLReplies(path, read_only=read_only)


def export_replies(source: Path, target: Path) -> int:
    """Write all records of a cache as JSON lines, in the order of their keys; return how many.

    The order makes the file the same for equal records, whoever was asked first.
    """
    replies = open_replies(source, read_only=True)
    try:
        records = sorted(replies.every(), key=lambda record: record.key)
    finally:
        replies.close()
    write_text(target, "".join(f"{record.line()}\n" for record in records))
    return len(records)


def import_replies(source: Path, target: Path) -> int:
    """Add the records of one cache to another; return how many were new. Records that are there stay as they are."""
    given = open_replies(source, read_only=True)
    try:
        records: list[Record] = list(given.every())
    finally:
        given.close()
    replies = open_replies(target)
    try:
        there = replies.find([record.key for record in records])
        replies.add([record for record in records if record.key not in there])
    finally:
        replies.close()
    return len({record.key for record in records} - set(there))
