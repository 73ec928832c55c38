"""Rows of what the pools of sets of variants share, with bounds for what is unjudged, and floors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from rerankers.queries.pool_bounds import RELEVANT, bounds, overlaps, plug_in, unjudged_parts, unjudged_shares
from rerankers.queries.pools import PoolTally, TopicPools, keys_of, tally
from rerankers.queries.variant_baselines import other_topics
from rerankers.queries.variant_rows import BETWEEN, FLOOR, VALUE, Key, Row, row_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.queries.ranked import Ranked

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

Rankings = Mapping[str, Sequence["Ranked"]]


@dataclass(frozen=True, slots=True, eq=False)
class Pooled:
    """The pools of every set, with the judgments.

    Attributes
    ----------
    topics
        T ids, sorted.
    rankings
        set -> topic -> rankings of its distinct variants.
    width
        one more than the largest document code.
    judged, relevant
        keys of judged documents, and of those with a grade above 0 (`rerankers.queries.pools.keys_of`).
    known
        bool (T,), whether a topic has any judgment.
    """

    topics: Sequence[str]
    rankings: Mapping[str, Rankings]
    width: int
    judged: Ints
    relevant: Ints
    known: NDArray[np.bool_]
    _own: dict[str, TopicPools] = field(default_factory=dict, init=False, repr=False)

    @classmethod
    def of(
        cls,
        topics: Sequence[str],
        rankings: Mapping[str, Rankings],
        judgments: Mapping[str, Mapping[int, float]] | None,
        width: int,
    ) -> Pooled:
        """Return the pools of rankings; negative grades are judged and not relevant."""
        grades = [(judgments or {}).get(topic, {}) for topic in topics]
        judged = [np.fromiter(one, np.int64, len(one)) for one in grades]
        relevant = [np.array([doc for doc, grade in one.items() if grade > 0], dtype=np.int64) for one in grades]
        known = np.array([bool(one) for one in grades], dtype=bool)
        return cls(topics, rankings, width, keys_of(judged, width), keys_of(relevant, width), known)

    def pools(self, name: str, other: Mapping[str, str] | None = None) -> TopicPools:
        """Return the pools of a set; with ``other``, those of another topic under every topic."""
        if other is None and name in self._own:
            return self._own[name]
        found = self.rankings[name]
        order = [topic if other is None else other.get(topic, "") for topic in self.topics]
        pools = TopicPools.of([found.get(topic, ()) for topic in order], self.width)
        if other is None:
            self._own[name] = pools
        return pools

    def has(self, *names: str) -> NDArray[np.bool_]:
        """Return which topics all of some sets have rankings for, bool (T,)."""
        return np.array([all(topic in self.rankings[name] for name in names) for topic in self.topics], dtype=bool)

    def variants(self, name: str) -> list[int]:
        """Return the number of distinct variants of each topic."""
        return [len(self.rankings[name].get(topic, ())) for topic in self.topics]

    def row(
        self,
        key: Key,
        name: str,
        against: str | None,
        values: Floats,
        present: NDArray[np.bool_],
        judged: bool = False,
        good: NDArray[np.bool_] | None = None,
        **more: Any,
    ) -> Row:
        """Return a row; topics without rankings, judgments or relevant documents have a reason instead of a value.

        Parameters
        ----------
        key, name, against, values
            of the row; NaN stands for a denominator of 0.
        present
            bool (T,), topics that have the rankings.
        judged
            whether judgments are needed.
        good
            bool (T,), topics whose pools hold a relevant document, where one is needed.
        more
            further fields of `Row`.
        """
        out: list[float | str | None] = []
        for at, value in enumerate(values.tolist()):
            if not present[at]:
                out.append("not_retrieved")
            elif judged and not self.known[at]:
                out.append("query_not_judged")
            elif good is not None and not good[at]:
                out.append("no_relevant_document")
            else:
                out.append(None if np.isnan(value) else value)
        return row_of(key, name, against, out, **more)


def pool_rows(pooled: Pooled, human: str, generated: Sequence[str], depths: Sequence[int], seed: int) -> Iterator[Row]:
    """Yield the rows of all depths.

    ``pool_jaccard_all`` and so on are named as in `rerankers.queries.pool_bounds.pool_overlap_bounds`, and
    ``pool_new_relevant`` is the number of documents judged relevant that only the generated pool holds.
    """
    other = other_topics([topic for topic in pooled.topics if topic in pooled.rankings[human]], seed)
    for name in generated:
        yield from _overlap_rows(pooled, VALUE, human, name, depths, None)
        yield from _overlap_rows(pooled, FLOOR, human, name, depths, other)
    for one, two in combinations(generated, 2):
        found = tally(pooled.pools(one), pooled.pools(two), pooled.judged, pooled.relevant, depths)
        for column, depth in enumerate(depths):
            values = overlaps(found)["jaccard_all"][:, column]
            yield pooled.row(Key("pool_jaccard_all", BETWEEN, None, depth), two, one, values, pooled.has(one, two))


def _overlap_rows(
    pooled: Pooled, role: str, human: str, name: str, depths: Sequence[int], other: Mapping[str, str] | None
) -> Iterator[Row]:
    present = pooled.has(human, name)
    if other is not None:
        present = present & np.array([other.get(topic) in pooled.rankings[name] for topic in pooled.topics], dtype=bool)
    found = tally(pooled.pools(human), pooled.pools(name, other), pooled.judged, pooled.relevant, depths)
    detail = None if other is None else "variants of another topic"
    union = found.human.relevant + found.generated.relevant > 0
    for measure, table in overlaps(found).items():
        judged = measure in RELEVANT
        if judged and not pooled.known.any():
            continue
        for column, depth in enumerate(depths):
            more: dict[str, Any] = {}
            if judged and role == VALUE:
                low, high = (end[:, column] for end in bounds(found, measure))
                more = {"low": low, "high": high, "parts": {"plug_in": plug_in(found, measure)[:, column]}}
            key = Key(f"pool_{measure}", role, None, depth, detail)
            good = union[:, column] if judged else None
            yield pooled.row(key, name, human, table[:, column], present, judged, good, **more)
    if role == VALUE:
        yield from _number_rows(pooled, human, name, depths, found)


def _number_rows(pooled: Pooled, human: str, name: str, depths: Sequence[int], found: PoolTally) -> Iterator[Row]:
    """Yield numbers of documents: of either pool, relevant ones that are new, and what the judgments leave open."""
    present = pooled.has(human, name)
    h, g, both = (part.astype(np.float64) for part in unjudged_parts(found))
    new = (found.generated.relevant - found.both.relevant).astype(np.float64)
    tables: dict[str, Floats] = {
        "size_h": found.human.all.astype(np.float64),
        "size_g": found.generated.all.astype(np.float64),
    }
    if pooled.known.any():
        tables |= {**unjudged_shares(found), "judgments_needed": h + g + both, "new_relevant": new}
    for measure, table in tables.items():
        for column, depth in enumerate(depths):
            more: dict[str, Any] = {}
            if measure == "judgments_needed":
                parts = {"unjudged_h": h, "unjudged_g": g, "unjudged_both": both}
                more = {"parts": {key: value[:, column] for key, value in parts.items()}}
            elif measure == "new_relevant":
                more = {"low": new[:, column], "high": (new + g)[:, column]}
            key = Key(f"pool_{measure}", VALUE, None, depth)
            yield pooled.row(key, name, human, table[:, column], present, not measure.startswith("size"), **more)
