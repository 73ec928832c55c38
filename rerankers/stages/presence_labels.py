"""Whose labels a ``presence`` measures with: those of its labeller, and those that the collection brings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from rerankers._base.errors import ConfigError
from rerankers.collections import CollectionGroups
from rerankers.labels.base import NEUTRAL
from rerankers.values.companions import NEUTRALITY, companion
from rerankers.values.groups import UNKNOWN, GroupAlignment

if TYPE_CHECKING:
    from rerankers.collections import Aligned
    from rerankers.values import Collection, Counts

GIVEN = "given"
"""Behind the attribute's name: the collection's own labels, ``gender_given``."""


@dataclass(frozen=True, slots=True, eq=False)
class Labellings:
    """Labels of the same documents from one source or two.

    Attributes
    ----------
    groups, companions
        attribute -> resolved alignment, and what documents carry besides.
    counts
        of both sources.
    labelled, given
        names of the attributes: the labeller's, and the collection's own or None.
    """

    groups: Mapping[str, GroupAlignment]
    companions: Mapping[str, GroupAlignment]
    counts: Counts
    labelled: str
    given: str | None

    @property
    def attributes(self) -> tuple[str, ...]:
        """The attributes, the labeller's first."""
        return (self.labelled,) if self.given is None else (self.labelled, self.given)


def labellings(groups: Any, collection: Collection, given: str | None) -> Labellings:
    """Return the labels that a job measures with.

    Parameters
    ----------
    groups
        what aligns the labeller's labels (``align``), of one attribute. Where nothing says how neutral texts are, the
        labels do (`neutrality_of`).
    given
        attribute of the collection to compare with, where it has it; its group ``neutral`` counts as neutrality 1,
        the others as 0.

    Raises
    ------
    ConfigError
        for labels of several attributes, or without a neutral group.
    """
    aligned: Aligned = groups.align(collection)
    if len(aligned) != 1:
        raise ConfigError(f"groups: found {len(aligned)} attributes; expected one, such as groups=labeller")
    (labelled,) = aligned
    if NEUTRAL not in aligned[labelled].groups:
        names = ", ".join(aligned[labelled].groups)
        raise ConfigError(f"groups: found the groups {names}; expected {NEUTRAL!r} among them")
    companions = dict(aligned.companions)
    # a labeller that counts no words says how neutral a text is by its label alone
    companions.setdefault(companion(labelled, NEUTRALITY), neutrality_of(aligned[labelled]))
    if given is None or given not in collection.groups:
        return Labellings(aligned.alignments, companions, aligned.counts, labelled, None)
    own = CollectionGroups(attribute=given).align(collection)
    name = f"{labelled}_{GIVEN}"
    alignment = replace(own[given], attribute=name)
    if NEUTRAL in alignment.groups:
        companions[companion(name, NEUTRALITY)] = neutrality_of(alignment)
    counts = {**aligned.counts, **{f"{GIVEN}_{key}": count for key, count in own.counts.items()}}
    return Labellings({**aligned.alignments, name: alignment}, companions, counts, labelled, name)


def neutrality_of(alignment: GroupAlignment) -> GroupAlignment:
    """Return neutralities by labels: 1 for a neutral document, 0 for one of a group, unknown for an unlabelled one."""
    docs = np.arange(alignment.n_docs)
    item, group, weight = alignment.entries(docs)
    neutral = group == alignment.groups.index(NEUTRAL)
    values = GroupAlignment.of_entries(
        alignment.attribute,
        (NEUTRALITY,),
        item[neutral],
        np.zeros(int(neutral.sum()), np.int64),
        weight[neutral],
        alignment.n_docs,
        "value",
    )
    labelled = np.array([name != UNKNOWN for name in alignment.groups], dtype=bool)[group]
    known = np.bincount(item[labelled], weights=weight[labelled], minlength=alignment.n_docs) > 0
    return replace(values, unknown=np.where(known, 0.0, 1.0))


def crossed(groups: Mapping[str, GroupAlignment], labelled: str, given: str) -> dict[str, dict[str, int]]:
    """Return how many documents have each pair of labels: given label -> labeller's label -> number."""
    one, other = _codes(groups[given]), _codes(groups[labelled])
    names = [(*groups[attribute].groups, "none") for attribute in (given, labelled)]
    table = np.zeros((len(names[0]), len(names[1])), np.int64)
    np.add.at(table, (one, other), 1)
    return {row: dict(zip(names[1], table[place].tolist(), strict=True)) for place, row in enumerate(names[0])}


def _codes(alignment: GroupAlignment) -> Any:
    """Return the group of each document, int64 (D,), the last code for those of none."""
    out = np.full(alignment.n_docs, len(alignment.groups), np.int64)
    out[np.repeat(np.arange(alignment.n_docs), np.diff(alignment.indptr))] = alignment.group
    return out
