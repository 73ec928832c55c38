"""What a ledger keeps of every query that it has served, so that the same name is known to mean the same thing."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rerankers._base.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.ledger.entities import Entities
    from rerankers.ledger.job import Job

_BYTES = 16
_SHOWN = 5


class Mark(NamedTuple):
    """Digests of a query's row, in hexadecimal.

    Attributes
    ----------
    candidates
        of its documents by name, in order: rankings are kept as places among them.
    entities
        of who has accounts for each of these documents, by name, and at which weight: balances are theirs. The order
        of a document's entities does not enter.
    """

    candidates: str
    entities: str


Marks = Mapping[str, Mark]


def marks_of(job: Job, entities: Entities) -> dict[str, Mark]:
    """Return the mark of every query that a job asks, by query id; documents without names go by their codes."""
    rows, over = job.rows, job.over
    asked = np.unique(job.impressions.row)
    pair = _within(rows.indptr, asked)
    used, place = np.unique(over.doc[pair], return_inverse=True)
    document = np.zeros((over.nnz, 2), dtype="<u8")
    document[pair] = _digests(entities.docnos(used))[place]
    codes, place = np.unique(rows.entity, return_inverse=True)
    entity = _digests(entities.names(codes))[place]
    of_pair = np.repeat(np.arange(over.nnz), np.diff(rows.entry_ptr))
    order = np.lexsort((entity[:, 1], entity[:, 0], of_pair))  # whatever codes the names have
    entity, weight = entity[order], rows.weight[order].astype("<f8")
    counts = np.diff(rows.entry_ptr).astype("<i8")
    found = {}
    for row in asked.tolist():
        docs = slice(int(rows.indptr[row]), int(rows.indptr[row + 1]))
        entries = slice(int(rows.entry_ptr[docs.start]), int(rows.entry_ptr[docs.stop]))
        who = (counts[docs], entity[entries], weight[entries])
        found[job.impressions.queries[row]] = Mark(_digest([document[docs]]), _digest(who))
    return found


def check_marks(where: str, found: Marks, expected: Marks, attribute: str) -> None:
    """Raise `InputError` naming queries that are in both, unless their marks are equal.

    Parameters
    ----------
    where
        for the error.
    found, expected
        those at hand, and those that a ledger was kept with.
    attribute
        what the entities are, for the error.
    """
    both = [name for name in found if name in expected]
    other = [name for name in both if found[name].candidates != expected[name].candidates]
    if other:
        raise InputError.one(
            where,
            f"other candidates than the ledger was kept with, of {_told(other)}",
            "the same documents in the same order, since it keeps rankings as places among them",
            mend="Take a new ledger, or the candidates of then.",
        )
    other = [name for name in both if found[name].entities != expected[name].entities]
    if other:
        raise InputError.one(
            where,
            f"other {attribute} of the candidates than the ledger was kept with, of {_told(other)}",
            "the same ones, since its balances are theirs",
            mend=f"Take a new ledger, or the {attribute} of then.",
        )


def _told(names: Sequence[str]) -> str:
    more = ", ..." if len(names) > _SHOWN else ""
    return f"{len(names):,} queries ({', '.join(names[:_SHOWN])}{more})"


def _within(indptr: NDArray[np.int64], rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the pairs of some rows, ascending."""
    asked = np.zeros(len(indptr) - 1, dtype=bool)
    asked[rows] = True
    return np.flatnonzero(np.repeat(asked, np.diff(indptr)))


def _digests(names: Sequence[str]) -> NDArray[np.uint64]:
    """Return a digest of each name: (names, 2), little-endian."""
    found = b"".join(hashlib.blake2b(name.encode(), digest_size=_BYTES).digest() for name in names)
    return np.frombuffer(found, dtype="<u8").reshape(-1, 2)


def _digest(parts: Sequence[NDArray[np.generic]]) -> str:
    """Return the digest of arrays of numbers; how long each is follows from the first."""
    state = hashlib.blake2b(digest_size=_BYTES)
    for part in parts:
        state.update(part.tobytes())
    return state.hexdigest()
