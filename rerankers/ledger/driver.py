"""The one sequence driver: ranking, exposure, ledger, next ranking, a turn at a time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from rerankers.ledger.book import spans
from rerankers.ledger.continued import Continued
from rerankers.ledger.fixed import overflow
from rerankers.ledger.impressions import Impressions
from rerankers.ledger.job import Controller, Job
from rerankers.ledger.marks import marks_of
from rerankers.ledger.store import Store, Stretch, Turn
from rerankers.values.rankings import Rankings

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.ledger.entities import Entities
    from rerankers.ledger.marks import Marks
    from rerankers.values.ragged import Ragged

Progress = Callable[[int], None]


@dataclass(frozen=True, slots=True, eq=False)
class Served:
    """The rankings of impressions.

    Attributes
    ----------
    over
        the rows of candidates.
    impressions
        as they were given.
    start, item
        int64 (N + 1,), int32: the ranking of impression i is item[start[i]:start[i + 1]], positions within its row.
    notes
        name -> (mean, largest) of what the controller reports about the impressions that this call has served.
    """

    over: Ragged
    impressions: Impressions
    start: NDArray[np.int64]
    item: NDArray[np.int32]
    notes: Mapping[str, tuple[float, float]]

    def reordered(self, order: NDArray[np.int64], impressions: Impressions) -> Served:
        """Return the rankings in the order of ``impressions``, of which impression i here is number ``order[i]``."""
        place = np.empty(len(order), dtype=np.int64)
        place[order] = np.arange(len(order))
        start, pick = spans(self.start, place)
        return Served(self.over, impressions, start, self.item[pick], self.notes)

    def rankings(self) -> Rankings:
        """Return the rankings by row, in the order of the impressions, equally weighted, labelled from 0.

        A row that was never asked for has no ranking.
        """
        row = self.impressions.row
        order = np.argsort(row, kind="stable")
        counts = np.bincount(row, minlength=len(self.over))
        query_ptr = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        item_ptr, pick = spans(self.start, order)
        label = (np.arange(len(row)) - np.repeat(query_ptr[:-1], counts)).astype(np.int32)
        weight = np.repeat(1.0 / np.maximum(counts, 1), counts)
        return Rankings(self.over, query_ptr, item_ptr, self.item[pick], weight, label)


def canonical(scope: str, impressions: Impressions) -> NDArray[np.int64]:
    """Return the order in which impressions are served: sequence by sequence where none shares accounts with another.

    Then no ranking depends on how sequences are interleaved, on turns or on shards. Accounts that sequences share
    see impressions in the order given.
    """
    if impressions.apart(scope):
        order: NDArray[np.int64] = np.argsort(impressions.sequence, kind="stable")
        return order
    return np.arange(len(impressions), dtype=np.int64)


def drive(
    controller: Controller, job: Job, entities: Entities, store: Store, chunk: int, progress: Progress | None = None
) -> Served:
    """Serve the impressions of a job that the store has not served yet, and return the rankings of all of them.

    Parameters
    ----------
    controller
        chooses the rankings.
    job
        its impressions in canonical order.
    entities
        behind the entity codes of the job.
    store
        of the configuration; other processes may write to it at the same time.
    chunk
        impressions a turn, at least; a turn ends where a piece of the controller does.
    progress
        called after each commit with the number of impressions it has added.

    Raises
    ------
    InputError
        when the job does not continue what the store has served (see `rerankers.ledger.continued.Continued`), before
        anything is written; when a balance overflows.
    """
    before = Continued(job, marks_of(job, entities), entities.attribute)
    bounds = _pieces(controller.piece or chunk, job)
    names: list[tuple[str, str]] = []
    first = True
    while True:
        stale = store.begin()
        try:
            left = before.unserved(store, stale=first or stale)
            if first or stale:
                names = names or job.opened.names(entities)
                _load(job, names, store)
                first = False
            places = _next(left, bounds, chunk)
            if len(places):
                failed = controller.serve(job, places, entities)
                if failed >= 0:
                    raise overflow(f"sequence {job.impressions.sequences[job.impressions.sequence[failed]]}")
                store.commit(_turn(job, names, before.marks, places))
            else:
                store.rollback()
        except BaseException:
            store.rollback()
            raise
        if not len(places):
            break
        if progress is not None:
            progress(len(places))
    _fill(job, before, store)
    notes = {name: (total / max(count, 1.0), most) for name, (total, most, count) in job.notes.items()}
    return Served(job.over, job.impressions, job.start, job.item, notes)


def _pieces(size: int, job: Job) -> NDArray[np.int64]:
    """Return the piece of each impression, int64 (N,), not descending: no turn ends within one."""
    seen = job.impressions
    if not seen.apart(job.scope):
        return np.arange(len(seen), dtype=np.int64) // size
    step = (seen.sequence[1:] != seen.sequence[:-1]) | (seen.number[1:] // size != seen.number[:-1] // size)
    return np.concatenate([[0], np.cumsum(step)])[: len(seen)].astype(np.int64)


def _next(left: NDArray[np.int64], piece: NDArray[np.int64], chunk: int) -> NDArray[np.int64]:
    """Return the places of the next turn: whole pieces, until there are ``chunk`` impressions."""
    if len(left) <= chunk:
        return left
    return left[: int(np.searchsorted(piece[left], piece[left[chunk - 1]], side="right"))]


def _load(job: Job, names: list[tuple[str, str]], store: Store) -> None:
    """Fill the book with what the store has."""
    book, accounts = job.opened.book, job.opened.accounts
    balances, counts = store.balances(accounts)
    book.times[:] = [counts.get(name, 0) for name in accounts]
    empty = (0, 0, 0)
    rows = np.array([balances.get(name, empty) for name in names], dtype=np.int64).reshape(-1, 3)
    book.served[:], book.due[:], book.touched[:] = rows.T


def _turn(job: Job, names: list[tuple[str, str]], marks: Marks, places: NDArray[np.int64]) -> Turn:
    """Return what serving some impressions has changed."""
    opened, book = job.opened, job.opened.book
    cases = np.unique(opened.case[places])
    touched = np.zeros(len(book.served), dtype=bool)
    touched[book.slot[spans(book.slot_ptr, cases)[1]]] = True
    slots = np.flatnonzero(touched)
    rows = zip(book.served[slots].tolist(), book.due[slots].tolist(), book.touched[slots].tolist(), strict=True)
    balances = dict(zip([names[slot] for slot in slots.tolist()], rows, strict=True))
    counts = {opened.accounts[code]: int(book.times[code]) for code in np.unique(book.account[cases]).tolist()}
    asked = [job.impressions.queries[row] for row in np.unique(book.row[cases]).tolist()]
    return Turn(balances, counts, _stretches(job, places), {name: marks[name] for name in asked})


def _stretches(job: Job, places: NDArray[np.int64]) -> list[Stretch]:
    """Cut rankings into stretches of consecutive impressions of one sequence."""
    seen = job.impressions
    order = places[np.argsort(seen.sequence[places], kind="stable")]
    code, (bounds, item) = seen.sequence[order], spans(job.start, order)
    length, ranked = np.diff(bounds).astype(np.int32), job.item[item]
    query = [seen.queries[row] for row in seen.row[order].tolist()]
    cuts = np.concatenate([[0], np.flatnonzero(code[1:] != code[:-1]) + 1, [len(order)]]).tolist()
    out = []
    for low, high in pairwise(cuts):
        items = ranked[bounds[low] : bounds[high]]
        first = int(seen.number[order[low]])
        out.append(Stretch(seen.sequences[code[low]], first, query[low:high], length[low:high], items))
    return out


def _fill(job: Job, before: Continued, store: Store) -> None:
    """Fill in the rankings of all impressions from the store: others may have served some of them."""
    seen = job.impressions
    code = {name: number for number, name in enumerate(seen.sequences)}
    for stretch in store.stretches(seen.sequences):
        here = before.places(code[stretch.sequence])
        if not len(here):
            continue
        low, high = np.searchsorted(seen.number[here], [stretch.first, stretch.first + len(stretch.length)])
        inside = here[low:high]
        begin = np.concatenate([[0], np.cumsum(stretch.length, dtype=np.int64)])
        which = seen.number[inside] - stretch.first
        job.item[spans(job.start, inside)[1]] = stretch.item[spans(begin, which)[1]]
