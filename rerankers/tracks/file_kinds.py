"""What a file of a track looks like by its first line: files given in each other's place are told at once."""

from __future__ import annotations

import re
import zlib
from pathlib import Path
from typing import Final

from rerankers._base.errors import FairRerankersError, InputError
from rerankers._base.files import BYTE_ORDER_MARK, open_bytes

__all__ = ["KINDS", "expect_kind", "first_line", "kind_by_first_line"]

KINDS: Final = {
    "json run": "a run of 2019 or 2020 (q_num, qid, ranking)",
    "columns": "a run of 2021 or 2022 (columns of whole numbers)",
    "trec run": "a TREC run (qid Q0 docno rank score tag)",
    "queries": "queries with candidates (qid, documents)",
    "topics": "topics (id)",
    "sequence": "a query sequence (<sequence>.<number>,qid)",
}
_HEAD = 1 << 16  # bytes looked at
_SEQUENCE = re.compile(r"\s*[0-9]+\.[0-9]+\s*,\s*-?[0-9]+\s*")
_COLUMNS = re.compile(r"[0-9]+(\t[0-9]+){1,2}|id(\t(seq_no|rep_number))?\tpage_id")


def first_line(path: Path) -> str:
    """Return the beginning of the first line that is not blank; nothing where the file cannot be read."""
    try:
        with open_bytes(path) as stream:
            while raw := stream.readline(_HEAD):
                text = raw.removeprefix(BYTE_ORDER_MARK).decode("utf-8", "replace").strip()
                if text:
                    return text
    except (EOFError, OSError, zlib.error, FairRerankersError):  # whoever reads the whole file says what is wrong
        pass
    return ""


def kind_by_first_line(path: Path) -> str | None:
    """Return a key of `KINDS`, None for a file that cannot be read or looks like none of them."""
    line = first_line(path)
    if line.startswith("{"):
        for kind, names in (("json run", ("q_num", "ranking")), ("queries", ("qid",)), ("topics", ("id",))):
            if any(re.search(rf'"{name}"\s*:', line) for name in names):
                return kind
        return None
    if _SEQUENCE.fullmatch(line):
        return "sequence"
    if _COLUMNS.fullmatch(line):
        return "columns"
    fields = line.split()
    return "trec run" if len(fields) == 6 and fields[1] == "Q0" else None


def expect_kind(name: str, path: Path, kind: str, *also: str) -> None:
    """Raise `InputError` where a file looks like another kind than the option ``name`` takes.

    Parameters
    ----------
    kind, also
        keys of `KINDS`: the kind to name in the message, and others that pass.
    """
    found = kind_by_first_line(path)
    if found not in (None, kind, *also):
        mend = f"Was another file meant for {name}, or are two files given in each other's place?"
        raise InputError.one(
            str(path), f"{KINDS[found or kind]} by its first line", f"{KINDS[kind]} for {name}", mend=mend
        )
