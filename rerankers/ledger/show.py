"""A ledger as a plain table: who is served and due how much, and where the sequences stand."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from rerankers.ledger.fixed import to_float
from rerankers.ledger.ledger import Ledger
from rerankers.ledger.sqlite_file import open_ledger

if TYPE_CHECKING:
    from numpy.typing import NDArray

TOP = 10


def show(ledger: Ledger | str | Path, top: int = TOP) -> str:
    """Return a ledger as text, for a terminal or a file.

    Parameters
    ----------
    ledger
        a ledger, or the path of a file that holds one; it is only read.
    top
        entities to list that are owed most, and as many that have had most beyond their due.

    Raises
    ------
    MissingError, InputError
        as `open_ledger`.
    """
    title = "ledger" if isinstance(ledger, Ledger) else str(ledger)
    held = ledger if isinstance(ledger, Ledger) else open_ledger(Path(ledger))
    served, due = float(np.sum(to_float(held.served))), float(np.sum(to_float(held.due)))
    facts = [
        (
            "configuration",
            f"{held.fingerprint} ({', '.join(f'{name}={value}' for name, value in held.config.items())})",
        ),
        ("accounts", f"{len(held.accounts):,}, {int(held.impressions.sum()):,} impressions"),
        ("entities", f"{len(held.entities):,} in {len(held.served):,} balances"),
        ("served", f"{served:.6f}"),
        ("due", f"{due:.6f}"),
        ("mean loss", f"{held.loss:.6g} (squared distance of served and due an impression)"),
    ]
    parts = [title, *_aligned([("", *fact) for fact in facts])]
    order = np.argsort(-held.deficit, kind="stable")
    owed = order[held.deficit[order] > 0][:top]
    ahead = order[::-1][held.deficit[order[::-1]] < 0][:top]
    for name, rows in (("owed most", owed), ("ahead most", ahead)):
        if len(rows):
            parts += ["", *_balances(held, name, rows)]
    return "\n".join([*parts, "", *_sequences(held)]) + "\n"


def _balances(ledger: Ledger, title: str, rows: NDArray[np.int64]) -> list[str]:
    picked = np.asarray(rows)
    entities, accounts = ledger.entities.take(ledger.entity[picked]), ledger.accounts.take(ledger.account[picked])
    numbers = [to_float(part[picked]) for part in (ledger.served, ledger.due)]
    numbers.append(ledger.deficit[picked])
    columns = [[f"{x:.6f}" for x in part.tolist()] for part in numbers]
    head = (title, "account", "served", "due", "deficit")
    return _aligned([head, *zip(entities, accounts, *columns, strict=True)], left=2)


def _sequences(ledger: Ledger) -> list[str]:
    shown = list(ledger.spans.items())[: 2 * TOP]
    rows = [(name, ", ".join(f"{first} to {stop - 1}" for first, stop in spans)) for name, spans in shown]
    more = len(ledger.spans) - len(shown)
    tail = [f"and {more:,} more sequences"] if more else []
    return [*_aligned([("sequence", "impressions served"), *rows], left=2), *tail]


def _aligned(rows: Sequence[Sequence[str]], left: int = 9) -> list[str]:
    """Pad cells to columns, the first ``left`` flush left, others flush right."""
    widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))]
    return [
        "  ".join(
            cell.ljust(width) if at < left else cell.rjust(width)
            for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
