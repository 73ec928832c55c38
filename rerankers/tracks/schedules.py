"""The rankings that a submission publishes, drawn from a policy: as many a query as it is asked for."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.errors import InputError, Problem
from rerankers.policies.rows import take_rows

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from rerankers.policies import Mixture, Policy
    from rerankers.values import Rankings

__all__ = ["Part", "Schedules", "draw_schedules", "part_seed", "served_schedules"]

_SHOWN = 20  # problems that are listed


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """Queries that are asked equally often in one of their sequences.

    Attributes
    ----------
    rows
        int64, their rows of the policy.
    rankings
        theirs, row by row in the order of ``rows``.
    """

    rows: NDArray[np.int64]
    rankings: Rankings


@dataclass(frozen=True, slots=True, eq=False)
class Schedules:
    """All rankings of a submission.

    Attributes
    ----------
    parts
        in a fixed order.
    place
        (row of the policy, number of the sequence among those that ask the query) -> (part, row in it).
    first
        likewise -> the ranking of that row which is the sequence's first; 0 where there is no entry.
    """

    parts: tuple[Part, ...]
    place: Mapping[tuple[int, int], tuple[int, int]]
    first: Mapping[tuple[int, int], int] = field(default_factory=dict)

    def positions(self, row: int, turn: int, number: int) -> NDArray[np.int32]:
        """Return one ranking as positions within the row of the policy, best first.

        Parameters
        ----------
        turn
            number of the sequence among those that ask the query.
        number
            of the ranking in it, from 0.
        """
        part, mine = self.place[row, turn]
        rankings = self.parts[part].rankings
        which = int(rankings.query_ptr[mine]) + self.first.get((row, turn), 0) + number
        return rankings.item[rankings.item_ptr[which] : rankings.item_ptr[which + 1]]


def part_seed(seed: int, turn: int) -> int:
    """Return the seed of a query's schedule in the ``turn``-th sequence that asks it.

    The first has the seed itself; the others are beyond all seeds of 64 bits, so that no two schedules of a query
    share their randomness.
    """
    return seed + (turn << 64)


def served_schedules(
    policy: Mixture, wanted: Mapping[tuple[int, int], int], names: Sequence[str], depth: int | None
) -> Schedules:
    """Return the rankings that a job served along sequences, in the order in which it served them.

    Parameters
    ----------
    policy
        whose rankings of a row are those that were served to its query.
    wanted
        as of `draw_schedules`.
    names
        query ids of the rows.
    depth
        ranks that the track allows; None for any.

    Raises
    ------
    InputError
        for queries that were served another number of rankings than the sequences ask for, and longer rankings.
    """
    rankings = policy.rankings
    served = np.diff(rankings.query_ptr)
    total: dict[int, int] = {}
    first: dict[tuple[int, int], int] = {}
    for (row, turn), count in sorted(wanted.items()):
        first[row, turn] = total.get(row, 0)
        total[row] = total.get(row, 0) + count
    wrong = [row for row, count in sorted(total.items()) if count != served[row]]
    if wrong:
        raise InputError(
            Problem(
                f"query {names[row]}",
                f"{served[row]} served rankings",
                f"{total[row]}, as the sequences ask for",
                None,
                "Give the job the track's own file: fair-rerank run … sequence=FILE",
            )
            for row in wrong[:_SHOWN]
        )
    longest = int(np.diff(rankings.item_ptr).max(initial=0))
    if depth is not None and longest > depth:
        mend = f"Serve fewer candidates: retriever.k={depth}"
        raise InputError.one("served rankings", f"up to {longest} documents", f"at most {depth}", mend=mend)
    part = Part(np.arange(len(policy.over), dtype=np.int64), rankings)
    return Schedules((part,), {key: (0, key[0]) for key in wanted}, first)


def draw_schedules(policy: Policy, wanted: Mapping[tuple[int, int], int], seed: int, depth: int | None) -> Schedules:
    """Draw a schedule for each query in each sequence.

    A schedule is a whole (see `Policy.schedule`): its rankings balance each other within the one sequence over which
    exposure is added up. Hence it is drawn for each sequence apart, not cut from a longer one.

    Parameters
    ----------
    wanted
        (row of the policy, number of the sequence among those that ask the query) -> rankings.
    depth
        ranks kept; None for all.
    """
    together: dict[tuple[int, int], list[int]] = {}
    for (row, turn), count in wanted.items():
        together.setdefault((turn, count), []).append(row)
    parts: list[Part] = []
    place: dict[tuple[int, int], tuple[int, int]] = {}
    for (turn, count), rows in sorted(together.items()):
        chosen = np.array(sorted(rows), dtype=np.int64)
        rankings = take_rows(policy, chosen).schedule(count, part_seed(seed, turn), depth)
        place |= {(row, turn): (len(parts), mine) for mine, row in enumerate(chosen.tolist())}
        parts.append(Part(chosen, rankings))
    return Schedules(tuple(parts), place)
