"""How large groups are and how far judgments cover them: a table an attribute."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rerankers.report import PlainTable
from rerankers.stages.pool import PAIRS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from rerankers.values import GroupAlignment, Judgments, Ragged

COLUMNS = ("group", "documents", "candidates", "share", "judged", "relevant", "share of relevant")
NOBODY = "no group"


def coverage(groups: Mapping[str, GroupAlignment], candidates: Ragged, judgments: Judgments) -> list[PlainTable]:
    """Return a table for each attribute: its groups by size, from documents to relevant judgments.

    Parameters
    ----------
    groups
        attribute -> resolved alignment.
    candidates, judgments
        over the same document codes.
    """
    return [_table(name, one, candidates, judgments) for name, one in groups.items()]


def _table(attribute: str, groups: GroupAlignment, candidates: Ragged, judgments: Judgments) -> PlainTable:
    width = int(max(candidates.doc.max(initial=-1), judgments.doc.max(initial=-1))) + 1
    pairs = [_repeats(docs, width) for docs in (candidates.doc, judgments.doc, judgments.doc[judgments.grade > 0])]
    parts = [((pairs[0] + pairs[1]) > 0).astype(np.int64), *pairs]
    counts = np.array([_members(groups, repeats) for repeats in parts])
    totals = np.array([repeats.sum() for repeats in parts])
    names = [*groups.groups, *([NOBODY] if counts[:, -1].any() else [])]
    rows = [_row(name, counts[:, place], totals) for place, name in enumerate(names)]
    several = bool(np.any(counts.sum(axis=1) > totals))
    note = (
        "Documents that are candidates or judged; pairs of a query with a candidate, a judged and a relevant document; "
        "shares are of all such pairs."
    )
    if several:
        note += " A document of several groups counts once in each, so that a column can exceed the last row."
    return PlainTable(attribute, note, COLUMNS, [*rows, _row("all", totals, totals)])


def _repeats(docs: NDArray[np.integer], width: int) -> NDArray[np.int64]:
    """Return how often each document code below ``width`` occurs, int64 (width,)."""
    total = np.zeros(width, dtype=np.int64)
    for start in range(0, len(docs), PAIRS):  # counting copies what it counts
        total += np.bincount(docs[start : start + PAIRS], minlength=width)
    return total


def _members(groups: GroupAlignment, repeats: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return how many documents, counted as often as said, are in each group and, last, in none: int64 (G + 1,)."""
    docs = np.flatnonzero(repeats)
    item, group, weight = groups.entries(docs)
    held = weight > 0
    times = repeats[docs]
    somewhere = np.zeros(len(docs), dtype=bool)
    somewhere[item[held]] = True
    inside = np.bincount(group[held], weights=times[item[held]], minlength=len(groups.groups))
    return np.append(inside, times[~somewhere].sum()).astype(np.int64)


def _row(name: str, counts: NDArray[np.int64], totals: NDArray[np.int64]) -> list[str | float | None]:
    documents, candidates, judged, relevant = (int(number) for number in counts)
    return [
        name,
        f"{documents:,}",
        f"{candidates:,}",
        _share(candidates, int(totals[1])),
        f"{judged:,}",
        f"{relevant:,}",
        _share(relevant, int(totals[3])),
    ]


def _share(number: int, of: int) -> str | None:
    return f"{100 * number / of:.1f} %" if of else None
