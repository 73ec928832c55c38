"""How documents align with the groups of one attribute."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from rerankers._base.errors import choose

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.values.ids import Ids

UNKNOWN = "unknown"
UNKNOWN_POLICIES = ("count", "drop", "spread")
Kind = Literal["membership", "share", "value"]


@dataclass(frozen=True, slots=True, eq=False)
class GroupAlignment:
    """Documents x groups of one attribute, sparse by document. Authors are just many groups.

    Attributes
    ----------
    attribute
        what the groups are about, for instance ``"economy"``.
    groups
        the G names.
    kind
        ``membership``: weight 1 in every group a document belongs to; ``share``: weights and ``unknown`` sum to 1;
        ``value``: any non-negative weight.
    indptr, group, weight
        int64 (D + 1,), int32 (entries,), float64 (entries,): document d has entries indptr[d]:indptr[d + 1].
    unknown
        float64 (D,), the part of a document whose group is not known. Stated, never one minus the row sum.
    resolved
        True once ``unknown`` has been dealt with (`resolve`); kernels take only resolved alignments.
    """

    attribute: str
    groups: tuple[str, ...]
    kind: Kind
    indptr: NDArray[np.int64]
    group: NDArray[np.int32]
    weight: NDArray[np.float64]
    unknown: NDArray[np.float64]
    resolved: bool = False

    @classmethod
    def of_entries(
        cls,
        attribute: str,
        groups: tuple[str, ...],
        doc: NDArray[np.integer],
        group: NDArray[np.integer],
        weight: NDArray[np.floating],
        n_docs: int,
        kind: Kind = "membership",
    ) -> GroupAlignment:
        """Build from (document, group, weight) entries in any order; documents without an entry are fully unknown.

        Raises
        ------
        ValueError
            when a document or group code is out of range.
        """
        for name, code, size in (("document", doc, n_docs), ("group", group, len(groups))):
            if len(code) and not (np.min(code) >= 0 and np.max(code) < size):
                raise ValueError(f"{name} codes run from {np.min(code)} to {np.max(code)}; expected 0 to {size - 1}")
        order = np.lexsort((group, doc))
        counts = np.bincount(np.asarray(doc, dtype=np.int64), minlength=n_docs)
        return cls(
            attribute,
            groups,
            kind,
            np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
            np.asarray(group)[order].astype(np.int32),
            np.asarray(weight)[order].astype(np.float64),
            (counts == 0).astype(np.float64),
        )

    @property
    def n_docs(self) -> int:
        """Number of documents."""
        return len(self.indptr) - 1

    def recode(self, old: Ids, new: Ids) -> GroupAlignment:
        """Return the alignment under other document codes; documents that are new are fully unknown (no entry).

        Raises
        ------
        ValueError
            when it is resolved and there are new documents: what to do with their unknown part is no longer known.
        """
        if old.fingerprint == new.fingerprint:
            return self
        code = old.recoder(new)
        if self.resolved and np.count_nonzero(code >= 0) < len(new):
            raise ValueError("a resolved alignment cannot take in new documents; recode it first, then resolve it")
        doc = np.repeat(code, np.diff(self.indptr))
        keep = doc >= 0
        out = GroupAlignment.of_entries(
            self.attribute, self.groups, doc[keep], self.group[keep], self.weight[keep], len(new), self.kind
        )
        unknown = np.ones(len(new))
        unknown[code[code >= 0]] = self.unknown[code >= 0]
        return replace(out, unknown=unknown, resolved=self.resolved)

    def resolve(self, unknown: str) -> GroupAlignment:
        """Deal with the unknown part of documents.

        Parameters
        ----------
        unknown
            ``count``: one more group called "unknown"; ``drop``: it belongs to no group; ``spread``: shared
            equally over the G known groups.

        Raises
        ------
        ConfigError
            for any other word.
        """
        choose("groups.unknown", unknown, UNKNOWN_POLICIES)
        if self.resolved:
            return self
        groups = self.groups
        docs = np.nonzero(self.unknown > 0)[0]
        if unknown == "count" and UNKNOWN not in groups:
            groups = (*groups, UNKNOWN)
        if unknown == "drop" or not groups:
            targets: list[int] = []
        elif unknown == "count":
            targets = [groups.index(UNKNOWN)]
        else:
            targets = list(range(len(groups)))
        share = self.unknown[docs] / max(len(targets), 1)
        doc = np.concatenate([np.repeat(np.arange(self.n_docs), np.diff(self.indptr)), *[docs for _ in targets]])
        group = np.concatenate([self.group, *[np.full(len(docs), t, np.int32) for t in targets]])
        weight = np.concatenate([self.weight, *[share for _ in targets]])
        out = GroupAlignment.of_entries(self.attribute, groups, doc, group, weight, self.n_docs, self.kind)
        return replace(out, unknown=np.zeros(self.n_docs), resolved=True)

    def entries(self, docs: NDArray[np.integer]) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64]]:
        """Expand documents into entries.

        Parameters
        ----------
        docs
            int (m,), document codes, repeats allowed.

        Returns
        -------
        item, group, weight
            int64, int32, float64 (entries,): ``item`` indexes into ``docs``.
        """
        counts = np.diff(self.indptr)[docs]
        item = np.repeat(np.arange(len(docs), dtype=np.int64), counts)
        start = np.cumsum(counts) - counts
        pick = np.repeat(self.indptr[:-1][docs] - start, counts) + np.arange(int(counts.sum()))
        return item, self.group[pick], self.weight[pick]

    def totals(
        self, row: NDArray[np.integer], docs: NDArray[np.integer], value: NDArray[np.float64], rows: int
    ) -> NDArray[np.float64]:
        """Add up a value of documents by row and group: float64 (rows, G), for instance exposure by group.

        Parameters
        ----------
        row, docs, value
            (m,): the row, the document code and the value of each pair.
        """
        item, group, weight = self.entries(docs)
        width = len(self.groups)
        cell = np.asarray(row, dtype=np.int64)[item] * width + group
        totals = np.bincount(cell, weights=value[item] * weight, minlength=rows * width)
        return totals.astype(np.float64, copy=False).reshape(rows, width)
