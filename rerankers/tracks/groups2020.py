"""The groups of a 2020 evaluation: annotations of the track, ``docno,group[,weight]``, or a column of the judgments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rerankers._base.errors import ConfigError, choose
from rerankers.collections.annotations import ATTRIBUTES, annotation_form, read_annotations
from rerankers.collections.group_files import read_groups
from rerankers.collections.lift import lift
from rerankers.measures.inputs import group_alignment
from rerankers.values.groups import UNKNOWN

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.tracks.judged2020 import Judged
    from rerankers.values import Counts, GroupAlignment, Ids, Judgments, Labels


@dataclass(frozen=True, slots=True)
class GroupRules:
    """What becomes of documents of several groups (`lift`) and of those without one (`GroupAlignment.resolve`)."""

    attribute: str | None
    mixed: str
    unannotated: str
    order: Sequence[str] | None


@dataclass(frozen=True, slots=True, eq=False)
class PairGroups:
    """The groups of judged pairs.

    Attributes
    ----------
    alignment
        resolved.
    member
        int64 (nnz,), each pair's row in it.
    counts
        what was met; ``pairs``, ``pairs_with_group``, ``documents``, ``documents_with_group`` say how far it reaches.
    """

    alignment: GroupAlignment
    member: NDArray[np.int64]
    counts: Counts


def groups_of_file(path: Path, docs: Ids, judgments: Judgments, rules: GroupRules) -> PairGroups:
    """Return the groups that a file gives to documents.

    Raises
    ------
    InputError
        with every problem of the file.
    ConfigError
        for an attribute that the file does not have, a file of authors, or an order that does not fit.
    """
    order = rules.order
    if annotation_form(path) is not None:
        attribute = rules.attribute or "level"
        labels, counts = read_annotations(path, attribute).labels(docs)
        order = order or ATTRIBUTES[attribute]
    else:
        labels, counts = _of_table(path, docs, rules.attribute)
    raw, found = lift(labels, rules.mixed, order)
    member = judgments.doc.astype(np.int64)
    known = np.diff(raw.indptr)[member] > 0
    counts = {**counts, **found, **_reach(judgments.doc, known)}
    return PairGroups(raw.resolve(rules.unannotated), member, counts)


def groups_of_mapping(groups: Mapping[Any, Any], docs: Ids, judgments: Judgments) -> PairGroups:
    """Return the groups of ``{docno: group | [groups] | {group: weight} | None}``; several count in full each.

    Raises
    ------
    InputError
        with every document whose groups are of another form.
    """
    alignment, strangers = group_alignment(groups, docs)
    member = judgments.doc.astype(np.int64)
    item, group, _ = alignment.entries(member)
    known = np.zeros(len(member), dtype=bool)
    known[item[np.array([name != UNKNOWN for name in alignment.groups], dtype=bool)[group]]] = True
    return PairGroups(alignment, member, {"groups_of_unknown_documents": strangers, **_reach(judgments.doc, known)})


def groups_of_column(
    judged: Judged, judgments: Judgments, pair: NDArray[np.int64], rules: GroupRules
) -> PairGroups | None:
    """Return the groups in the judgments' own column, or None where they have none.

    Parameters
    ----------
    pair
        int64 (nnz,), what pair of ``judged`` each judgment is.
    """
    alignment = judged.own_groups(rules.unannotated)
    if alignment is None or judged.groups is None:
        return None
    known = np.array([set(judged.groups[place]) != {UNKNOWN} for place in pair], dtype=bool)
    return PairGroups(alignment, pair, _reach(judgments.doc, known))


def _of_table(path: Path, docs: Ids, attribute: str | None) -> tuple[Labels, Counts]:
    table = read_groups(path, attribute)
    names = list(table.rows)
    if len(names) > 1 and attribute is None:
        raise ConfigError(f"groups.attribute: no value; expected one of {', '.join(names)}, since {path} has several")
    chosen = names[0] if attribute is None else choose(f"groups.attribute ({path})", attribute, names)
    labels, counts = table.labels(docs, None, str(path), [chosen])
    return labels[chosen], counts


def _reach(doc: NDArray[np.int32], known: NDArray[np.bool_]) -> dict[str, int]:
    return {
        "pairs": len(doc),
        "pairs_with_group": int(known.sum()),
        "documents": len(np.unique(doc)),
        "documents_with_group": len(np.unique(doc[known])),
    }
