"""How large groups are and how far judgments cover them: a table an attribute."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rerankers.report import PlainTable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

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
    relevant = judgments.doc[judgments.grade > 0]
    parts = [np.union1d(candidates.doc, judgments.doc), candidates.doc, judgments.doc, relevant]
    counts = np.array([_members(groups, docs) for docs in parts])
    names = [*groups.groups, *([NOBODY] if counts[:, -1].any() else [])]
    rows = [_row(name, counts[:, place], parts) for place, name in enumerate(names)]
    several = any(int(counts[place].sum()) > len(docs) for place, docs in enumerate(parts))
    note = (
        "Documents that are candidates or judged; pairs of a query with a candidate, a judged and a relevant document; "
        "shares are of all such pairs."
    )
    if several:
        note += " A document of several groups counts once in each, so that a column can exceed the last row."
    return PlainTable(attribute, note, COLUMNS, [*rows, _row("all", np.array([len(docs) for docs in parts]), parts)])


def _members(groups: GroupAlignment, docs: NDArray[np.integer]) -> NDArray[np.int64]:
    """Return how many of some documents, repeats counted, are in each group and, last, in none: int64 (G + 1,)."""
    item, group, weight = groups.entries(docs)
    held = weight > 0
    nobody = len(docs) - len(np.unique(item[held]))
    return np.append(np.bincount(group[held], minlength=len(groups.groups)), nobody).astype(np.int64)


def _row(name: str, counts: NDArray[np.int64], parts: Sequence[NDArray[np.integer]]) -> list[str | float | None]:
    documents, candidates, judged, relevant = (int(number) for number in counts)
    return [
        name,
        f"{documents:,}",
        f"{candidates:,}",
        _share(candidates, len(parts[1])),
        f"{judged:,}",
        f"{relevant:,}",
        _share(relevant, len(parts[3])),
    ]


def _share(number: int, of: int) -> str | None:
    return f"{100 * number / of:.1f} %" if of else None
