"""The ledger as a value: who was served what, who is due what, and which impressions that covers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.errors import InputError
from rerankers._base.fingerprint import fingerprint
from rerankers.ledger.fixed import LIMIT, overflow, to_float
from rerankers.ledger.marks import Mark, Marks, check_marks
from rerankers.values.ids import Ids

if TYPE_CHECKING:
    from numpy.typing import NDArray

Config = Mapping[str, object]
"""What a ledger was kept with: names of options and their values, each a number, a text or None."""
Spans = Mapping[str, tuple[tuple[int, int], ...]]
Row = tuple[int, int, int]


@dataclass(frozen=True, slots=True, eq=False)
class Ledger:
    """Balances of entities in accounts, and the impressions behind them.

    Attributes
    ----------
    config
        what it was kept with; two ledgers are the same account of things only where it is equal.
    accounts, entities
        names, ascending.
    impressions
        int64 (A,), impressions of each account.
    account, entity
        int32 (n,), the rows, ascending by account and entity.
    served, due
        int64 (n,), in units of 2^-40; with decay, as of the impression ``touched`` of the account.
    touched
        int64 (n,), only kept with decay; 0 without.
    spans
        sequence -> the ranges (first, stop) of its impressions that were served, apart from each other and ascending.
    marks
        query -> what its candidates were and whose they are, of all queries that were served.
    """

    config: Config
    accounts: Ids
    impressions: NDArray[np.int64]
    entities: Ids
    account: NDArray[np.int32]
    entity: NDArray[np.int32]
    served: NDArray[np.int64]
    due: NDArray[np.int64]
    touched: NDArray[np.int64]
    spans: Spans = field(default_factory=dict)
    marks: Marks = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        config: Config,
        balances: Mapping[tuple[str, str], Row],
        counts: Mapping[str, int],
        spans: Spans,
        marks: Marks | None = None,
    ) -> Ledger:
        """Build from (account, entity) -> (served, due, touched) and account -> impressions, in any order."""
        accounts = Ids.of(sorted({*counts, *(name for name, _ in balances)}), "account")
        entities = Ids.of(sorted({name for _, name in balances}), "entity")
        keys = sorted(balances)
        values = np.array([balances[key] for key in keys], dtype=np.int64).reshape(-1, 3)
        return cls(
            dict(config),
            accounts,
            np.array([counts.get(name, 0) for name in accounts.names.to_pylist()], dtype=np.int64),
            entities,
            accounts.codes([name for name, _ in keys]),
            entities.codes([name for _, name in keys]),
            np.ascontiguousarray(values[:, 0]),
            np.ascontiguousarray(values[:, 1]),
            np.ascontiguousarray(values[:, 2]),
            {name: tuple(spans[name]) for name in sorted(spans)},
            dict(marks or {}),
        )

    @property
    def fingerprint(self) -> str:
        """Fingerprint of the configuration."""
        return fingerprint("ledger", self.config)

    @property
    def digest(self) -> str:
        """Fingerprint of everything: two ledgers with equal digests have the same bits."""
        names = (self.accounts.fingerprint, self.entities.fingerprint)
        numbers = (self.impressions, self.account, self.entity, self.served, self.due, self.touched)
        return fingerprint(self.fingerprint, *names, *numbers, self.spans, self.marks)

    @property
    def deficit(self) -> NDArray[np.float64]:
        """float64 (n,), what each row is due and has not had, in units of exposure."""
        return to_float(self.due - self.served)

    @property
    def positions(self) -> dict[str, int]:
        """Sequence -> the number of its next impression."""
        return {name: parts[-1][1] for name, parts in self.spans.items()}

    @property
    def loss(self) -> float:
        """Mean over accounts of the squared distance of what entities were served and due an impression."""
        if not len(self.accounts):
            return 0.0
        square = np.bincount(self.account, weights=self.deficit**2, minlength=len(self.accounts))
        return float(np.mean(square / np.maximum(self.impressions, 1).astype(np.float64) ** 2))


def merge(ledgers: Iterable[Ledger]) -> Ledger:
    """Add up ledgers that were kept apart; the order does not matter, not even for the last bit.

    Raises
    ------
    InputError
        for no ledger, ledgers of different configurations, a query with different candidates or entities in two of
        them, decay below 1 (what has decayed depends on what came in between), an impression that two of them have
        served, and a sum that 64 bits do not hold.
    """
    parts = list(ledgers)
    if not parts:
        raise InputError.one("ledgers", "none", "at least one to merge")
    marks: dict[str, Mark] = {}
    for part in parts:
        check_config("ledgers", part.config, parts[0].config)
        check_marks("ledgers", part.marks, marks, str(part.config.get("entities", "entities")))
        marks.update(part.marks)
    if len(parts) > 1 and float(str(parts[0].config.get("decay", 1.0))) < 1:
        raise InputError.one("ledgers", f"decay {parts[0].config['decay']}", "decay 1", mend="Serve in one ledger.")
    balances: dict[tuple[str, str], Row] = {}
    counts: dict[str, int] = {}
    for part in parts:
        for key, row in rows_of(part).items():
            one = balances.get(key, (0, 0, 0))
            balances[key] = (one[0] + row[0], one[1] + row[1], max(one[2], row[2]))
        for name, number in zip(part.accounts.names.to_pylist(), part.impressions.tolist(), strict=True):
            counts[name] = counts.get(name, 0) + number
    if any(abs(served) > LIMIT or abs(due) > LIMIT for served, due, _ in balances.values()):
        raise overflow("ledgers")
    return Ledger.of(parts[0].config, balances, counts, join_spans([part.spans for part in parts]), marks)


def rows_of(ledger: Ledger) -> dict[tuple[str, str], Row]:
    """Return (account, entity) -> (served, due, touched)."""
    keys = zip(ledger.accounts.take(ledger.account), ledger.entities.take(ledger.entity), strict=True)
    numbers = zip(ledger.served.tolist(), ledger.due.tolist(), ledger.touched.tolist(), strict=True)
    return dict(zip(keys, numbers, strict=True))


def join_spans(parts: Iterable[Spans]) -> dict[str, tuple[tuple[int, int], ...]]:
    """Return the union of spans, touching ones joined.

    Raises
    ------
    InputError
        for impressions that are in two of them.
    """
    found: dict[str, list[tuple[int, int]]] = {}
    for part in parts:
        for name, spans in part.items():
            found.setdefault(name, []).extend((first, stop) for first, stop in spans)
    out: dict[str, tuple[tuple[int, int], ...]] = {}
    for name in sorted(found):
        ordered = sorted(found[name])
        for one, other in pairwise(ordered):
            if other[0] < one[1]:
                common = f"impressions {other[0]} to {min(one[1], other[1]) - 1} of sequence {name} twice"
                raise InputError.one("ledgers", common, "each impression in one of them")
        joined: list[tuple[int, int]] = []
        for first, stop in ordered:
            touches = bool(joined) and joined[-1][1] == first
            joined.append((joined.pop()[0] if touches else first, stop))
        out[name] = tuple(joined)
    return out


def check_config(where: str, found: Config, expected: Config) -> None:
    """Raise `InputError` naming every option that differs, unless two configurations are equal."""
    names = sorted({*found, *expected}, key=str)
    odd = [name for name in names if found.get(name) != expected.get(name) or (name in found) != (name in expected)]
    if odd:
        theirs = ", ".join(f"{name}={found.get(name)!r}" for name in odd)
        ours = ", ".join(f"{name}={expected.get(name)!r}" for name in odd)
        mend = "Take a new ledger, or the options it was kept with."
        raise InputError.one(where, f"a ledger of another configuration ({theirs})", ours, mend=mend)
