"""What a recommended query changes, in numbers, codes and sentences that are the same every time."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from rerankers.queries.scored import RELEVANCE, Scored
from rerankers.values.groups import UNKNOWN, GroupAlignment

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Names = Callable[[NDArray[np.int32]], Sequence[str]]

NEGLIGIBLE = 5e-4
"""Changes of closeness and of shares below this are called none: three digits are shown."""
GROUPS_SHOWN = 3
DOCUMENTS_SHOWN = 3

CLOSER: Final = "closer"
FURTHER: Final = "further"
UNCHANGED: Final = "unchanged"
NOT_DEFINED: Final = "not_defined"
LESS_KNOWN: Final = "less_known"
SAME_DOCUMENTS: Final = "same_documents"
NO_DOCUMENTS: Final = "no_documents"
CODES: Final = (CLOSER, FURTHER, UNCHANGED, NOT_DEFINED, LESS_KNOWN, SAME_DOCUMENTS, NO_DOCUMENTS)


def explain(candidate: Scored, original: Scored, axes: Mapping[str, GroupAlignment], names: Names) -> dict[str, Any]:
    """Say what changes on every axis and which documents come and go.

    Parameters
    ----------
    candidate, original
        with their first n documents, and the same objectives.
    axes
        name -> alignment, not resolved; for the groups of documents.
    names
        codes of documents -> their names, such as ``ids.take``.

    Returns
    -------
    dict
        JSON-ready. ``change``: objective -> candidate less original, None where one of them is not defined; ``codes``:
        of `CODES`, those of an axis as ``closer:gender``, `LESS_KNOWN` where a larger part of the weight than before
        is on documents without a label; ``enter``, ``leave``: documents as ``docno``, ``rank`` (from 1, in the list
        that they are in) and ``groups`` by axis, in order of rank; ``kept``: how many stay; ``explanation``: sentences.
    """
    change = {name: _less(value, original.objectives.get(name)) for name, value in candidate.objectives.items()}
    enter = _documents(candidate.docs, original.docs, axes, names)
    leave = _documents(original.docs, candidate.docs, axes, names)
    kept = len(np.intersect1d(candidate.docs, original.docs))
    codes, sentences = [], [_relevance(candidate, kept, len(original.docs))]
    for name in axes:
        codes.append(f"{_direction(change.get(name))}:{name}")
        sentences.append(_axis(name, candidate, original))
        more = _less(candidate.unknown_share.get(name), original.unknown_share.get(name))
        if more is not None and more > NEGLIGIBLE:
            codes.append(f"{LESS_KNOWN}:{name}")
            before, after = original.unknown_share[name], candidate.unknown_share[name]
            sentences.append(f"The weight of documents without a label rises from {_share(before)} to {_share(after)}.")
    if not len(candidate.docs):
        codes.append(NO_DOCUMENTS)
    elif not enter and not leave:
        codes.append(SAME_DOCUMENTS)
    sentences += _moves(enter, leave)
    return {
        "change": change,
        "codes": codes,
        "enter": enter,
        "leave": leave,
        "kept": kept,
        "explanation": " ".join(sentences),
    }


def groups_of(doc: int, alignment: GroupAlignment) -> list[str]:
    """Return the groups that a document has weight in, ``unknown`` where it has none."""
    part = slice(int(alignment.indptr[doc]), int(alignment.indptr[doc + 1]))
    found = [
        alignment.groups[group]
        for group, weight in zip(alignment.group[part].tolist(), alignment.weight[part].tolist(), strict=True)
        if weight > 0
    ]
    return found or [UNKNOWN]


def _documents(
    docs: NDArray[np.int32], without: NDArray[np.int32], axes: Mapping[str, GroupAlignment], names: Names
) -> list[dict[str, Any]]:
    rank = np.flatnonzero(~np.isin(docs, without))
    found = docs[rank]
    return [
        {"docno": str(name), "rank": place + 1, "groups": {axis: groups_of(doc, one) for axis, one in axes.items()}}
        for name, place, doc in zip(names(found), rank.tolist(), found.tolist(), strict=True)
    ]


def _direction(change: float | None) -> str:
    if change is None:
        return NOT_DEFINED
    if abs(change) < NEGLIGIBLE:
        return UNCHANGED
    return CLOSER if change > 0 else FURTHER


def _relevance(candidate: Scored, kept: int, before: int) -> str:
    value = candidate.objectives.get(RELEVANCE)
    told = "not defined" if value is None else f"{value:.3f}"
    return f"Relevance to the original query {told}; {kept} of its first {before} documents stay."


def _axis(name: str, candidate: Scored, original: Scored) -> str:
    after, before = candidate.objectives.get(name), original.objectives.get(name)
    if after is None:
        reason = candidate.reasons.get(name, "no value").replace("_", " ")
        return f"{name}: not defined for this query ({reason})."
    if before is None:
        reason = original.reasons.get(name, "no value").replace("_", " ")
        return f"{name}: {after:.3f}; not defined for the original query ({reason})."
    words = {
        CLOSER: f"{after - before:.3f} closer to the target",
        FURTHER: f"{before - after:.3f} further from the target",
        UNCHANGED: "as close to the target as before",
    }[_direction(after - before)]
    return f"{name}: {words} ({before:.3f} to {after:.3f}){_shares(name, candidate, original)}."


def _shares(name: str, candidate: Scored, original: Scored) -> str:
    after, before = candidate.distribution.get(name), original.distribution.get(name)
    if after is None or before is None:
        return ""
    moved = [(group, before.get(group, 0.0), share) for group, share in after.items()]
    moved += [(group, share, 0.0) for group, share in before.items() if group not in after]
    moved = [one for one in moved if abs(one[2] - one[1]) >= NEGLIGIBLE]
    moved.sort(key=lambda one: (-abs(one[2] - one[1]), one[0]))
    shown = [f"{group} {_share(first)} to {_share(second)}" for group, first, second in moved[:GROUPS_SHOWN]]
    return ": " + ", ".join(shown) if shown else ""


def _moves(enter: Sequence[Mapping[str, Any]], leave: Sequence[Mapping[str, Any]]) -> list[str]:
    out = []
    for documents, verb in ((enter, "enter"), (leave, "leave")):
        if documents:
            shown = ", ".join(_named(one) for one in documents[:DOCUMENTS_SHOWN])
            more = len(documents) - DOCUMENTS_SHOWN
            rest = f" and {more} more" if more > 0 else ""
            out.append(f"{len(documents)} documents {verb if len(documents) > 1 else verb + 's'}: {shown}{rest}.")
    return [text.replace("1 documents ", "1 document ", 1) if text.startswith("1 documents") else text for text in out]


def _named(document: Mapping[str, Any]) -> str:
    groups = "; ".join(" + ".join(found) for found in document["groups"].values())
    return f"{document['docno']} ({groups})" if groups else str(document["docno"])


def _less(value: float | None, other: float | None) -> float | None:
    return None if value is None or other is None else value - other


def _share(value: float) -> str:
    return f"{100 * value:.1f} %"
