"""Who a ledger keeps accounts for: the documents themselves, their authors, or groups of one attribute."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from rerankers._base.errors import choose
from rerankers.values.groups import GroupAlignment

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.values.authors import Authors
    from rerankers.values.ids import Ids

DOCUMENTS: Final = "documents"
AUTHORS: Final = "authors"
MISSING: Final = ("ignore", "shared", "own")
"""What becomes of a document without any entity: no account (it has no claim and no debt), one account that all such
documents share, or an account of its own."""


@dataclass(frozen=True, slots=True, eq=False)
class Entities:
    """Documents x entities, sparse by document.

    Attributes
    ----------
    attribute
        ``documents``, ``authors``, or what the groups are about.
    alignment
        the resolved groups or authors of documents; None where each document is its own entity.
    missing
        one of `MISSING`, for documents without an entry in ``alignment``.
    docs
        names of documents, for the entities that are named after one; None where nothing will be shown or stored.
    """

    attribute: str
    alignment: GroupAlignment | None = None
    missing: str = "ignore"
    docs: Ids | None = None

    def __post_init__(self) -> None:
        choose("missing", self.missing, MISSING)

    def entries(self, docs: NDArray[np.integer]) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
        """Expand documents into entries, ascending by ``item``.

        Parameters
        ----------
        docs
            int (m,), document codes, repeats allowed.

        Returns
        -------
        item, entity, weight
            int64, int64, float64 (entries,): ``item`` indexes into ``docs``. Entries of weight 0 are left out.
        """
        code = docs.astype(np.int64)
        if self.alignment is None:
            return np.arange(len(code), dtype=np.int64), code, np.ones(len(code))
        item, group, weight = self.alignment.entries(code)
        item, entity, weight = item[weight > 0], group[weight > 0].astype(np.int64), weight[weight > 0]
        alone = np.setdiff1d(np.arange(len(code)), item, assume_unique=False)
        if self.missing == "ignore" or not len(alone):
            return item, entity, weight
        first = len(self.alignment.groups)
        dummy = np.full(len(alone), first) if self.missing == "shared" else first + 1 + code[alone]
        item = np.concatenate([item, alone])
        order = np.argsort(item, kind="stable")
        entity, weight = np.concatenate([entity, dummy])[order], np.concatenate([weight, np.ones(len(alone))])[order]
        return item[order], entity, weight

    def names(self, codes: NDArray[np.integer]) -> list[str]:
        """Return the names of entity codes; a document's is its docno, or its code where ``docs`` is None."""
        groups = () if self.alignment is None else self.alignment.groups
        first = len(groups) + 1 if self.alignment is not None else 0
        docnos = iter(self.docnos(codes[codes >= first] - first))
        out = []
        for code in codes.tolist():
            if code < len(groups):
                out.append(groups[code])
            elif code < first:
                out.append("(none)")
            else:
                docno = next(docnos)
                out.append(docno if self.alignment is None else f"(none) {docno}")
        return out

    def docnos(self, codes: NDArray[np.integer]) -> Sequence[str]:
        """Return the names of document codes: their docnos, or the codes where ``docs`` is None."""
        return [str(code) for code in codes.tolist()] if self.docs is None else self.docs.take(codes)


def author_alignment(authors: Authors, n_docs: int) -> GroupAlignment:
    """Return author lists as groups: weight 1 for each author of a document, listed twice or not.

    Authors without an id are left out; a document that has no others has no entry (see `MISSING`).

    Parameters
    ----------
    n_docs
        documents; those beyond the author lists have no authors.
    """
    known = authors.author >= 0
    pairs = np.unique(np.stack([authors.doc[known], authors.author[known].astype(np.int64)]), axis=1)
    out = GroupAlignment.of_entries(
        AUTHORS, tuple(authors.ids.names.to_pylist()), pairs[0], pairs[1], np.ones(pairs.shape[1]), n_docs
    )
    return replace(out, unknown=np.zeros(n_docs), resolved=True)
