"""What is known about the group of each document, in the forms that bounds, flips and estimates take."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.errors import InputError
from rerankers.values import GroupAlignment
from rerankers.values.groups import UNKNOWN

if TYPE_CHECKING:
    from numpy.typing import NDArray


def with_unknown(counted: GroupAlignment) -> GroupAlignment:
    """Return an alignment that was resolved by ``count`` with its unknown part as unknown again.

    Readers of group files resolve what they return; the group "unknown" then holds exactly the part that is not known.
    """
    if UNKNOWN not in counted.groups:
        return replace(counted, resolved=False)
    place = counted.groups.index(UNKNOWN)
    groups = (*counted.groups[:place], *counted.groups[place + 1 :])
    doc = np.repeat(np.arange(counted.n_docs), np.diff(counted.indptr))
    lost = counted.group == place
    unknown = np.bincount(doc[lost], weights=counted.weight[lost], minlength=counted.n_docs).astype(np.float64)
    group = counted.group[~lost] - (counted.group[~lost] > place)
    out = GroupAlignment.of_entries(
        counted.attribute, groups, doc[~lost], group, counted.weight[~lost], counted.n_docs, counted.kind
    )
    return replace(out, unknown=unknown, resolved=False)


def hard_labels(alignment: GroupAlignment) -> NDArray[np.int64]:
    """Return the group of each document, int64 (D,), -1 where it is not known.

    Parameters
    ----------
    alignment
        not resolved.

    Raises
    ------
    InputError
        where a document belongs to several groups or in part: what a wrong label of it would be is not defined.
    """
    lengths = np.diff(alignment.indptr)
    whole = bool(np.all(alignment.weight == 1.0)) and not np.any((lengths > 0) & (alignment.unknown > 0))
    if np.any(lengths > 1) or not whole:
        raise InputError.one(
            "groups",
            "documents that belong to several groups, or in part",
            "one group a document",
            mend="Choose groups.mixed=own_group, or a file of one label a document.",
        )
    label = np.full(alignment.n_docs, -1, dtype=np.int64)
    label[lengths == 1] = alignment.group
    return label


def alignment_of(labels: Sequence[str | None], groups: Sequence[str] | None = None) -> GroupAlignment:
    """Return the alignment of documents with one label or none (None) each, not resolved.

    Parameters
    ----------
    labels
        (n,), the group of each document.
    groups
        the names of all groups; None takes those that occur, sorted.

    Raises
    ------
    InputError
        for a label that is not among the groups.
    """
    found = sorted({str(label) for label in labels if label is not None})
    names = tuple(found if groups is None else groups)
    strange = [label for label in found if label not in names]
    if strange:
        raise InputError.one("groups", f"the label {strange[0]!r}", f"one of {', '.join(names) or 'no group'}")
    code = {name: place for place, name in enumerate(names)}
    doc = np.array([place for place, label in enumerate(labels) if label is not None], dtype=np.int64)
    group = np.array([code[str(label)] for label in labels if label is not None], dtype=np.int32)
    return GroupAlignment.of_entries("group", names, doc, group, np.ones(len(doc)), len(labels))
