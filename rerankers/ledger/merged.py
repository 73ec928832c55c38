"""Ledgers in files that were kept apart, added up in one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rerankers._base.errors import InputError
from rerankers.ledger.ledger import merge, rows_of
from rerankers.ledger.sqlite_file import open_ledger
from rerankers.ledger.sqlite_store import SQLiteStore
from rerankers.ledger.store import Stretch, Turn

if TYPE_CHECKING:
    from rerankers.ledger.ledger import Ledger


def merge_files(parts: Sequence[Path], into: Path) -> Ledger:
    """Add up ledgers that were kept apart, their rankings included, in a new file; see `rerankers.ledger.merge`.

    Raises
    ------
    InputError
        as `merge`, and where ``into`` exists.
    MissingError
        when one of the files is not there.
    """
    if into.exists():
        raise InputError.one(str(into), "a file", "none: a merged ledger is a new one")
    ledgers = [open_ledger(part) for part in parts]
    whole = merge(ledgers)
    counts = dict(zip(whole.accounts.names.to_pylist(), whole.impressions.tolist(), strict=True))
    rankings: list[Stretch] = []
    for part, one in zip(parts, ledgers, strict=True):
        with SQLiteStore(part, one.config) as store:
            rankings += store.stretches(list(one.spans))
    with SQLiteStore(into, whole.config) as store:
        store.begin()
        store.commit(Turn(rows_of(whole), counts, rankings, whole.marks))
    return whole
