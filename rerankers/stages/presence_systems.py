"""The systems of a ``presence``: families of policies with one option that moves, and what a block of queries gives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from rerankers._base.errors import ConfigError
from rerankers.measures.anchors import anchors
from rerankers.measures.evaluation import Evaluation, Options
from rerankers.measures.table import measure_block
from rerankers.methods import PlackettLuce, answered, check_policy
from rerankers.methods.belief import probabilities
from rerankers.methods.kl_tilt import KlTilt
from rerankers.methods.pareto_optimal import ParetoOptimal
from rerankers.stages.block import seen_by
from rerankers.stages.presence_front import Row, best_for_balance, best_for_neutrality, mixture, position_weights
from rerankers.values.companions import NEUTRALITY, companion

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

    from rerankers.measures.names import Measure
    from rerankers.methods.targets import Target
    from rerankers.policies import Policy
    from rerankers.stages.pool import Part
    from rerankers.values import GroupAlignment, Ids

FOR_NEUTRALITY, FOR_BALANCE = "attainable, neutral", "attainable, balanced"
"""Families of the best that lists allow: nDCG against NFaiRR, and against CWEx."""
BELIEVED = {"optimum, neutral": FOR_NEUTRALITY, "optimum, balanced": FOR_BALANCE}
"""Families of the same rankings with the believed probabilities of relevance as grades; no judgment is seen.

Proof that none is better by those beliefs: the expected DCG of a policy is the sum of its exposure times them, which is
all that the proofs in `rerankers.stages.presence_front` ask of a gain.
"""


@dataclass(frozen=True, slots=True)
class System:
    """One policy of a family: the option that moves along it, its value, and what makes the policy."""

    family: str
    option: str
    value: float
    method: Any = None
    aims: bool = False

    @property
    def name(self) -> str:
        """What it is called in results."""
        return f"{self.family} {self.option}={self.value:g}"

    @property
    def front(self) -> bool:
        """Whether it knows judgments, so that it is no system to compare with but the best that lists allow."""
        return self.family in (FOR_NEUTRALITY, FOR_BALANCE)


@dataclass(frozen=True, slots=True)
class Grid:
    """Values along the families; an empty list leaves a family out. See ``conf/presence.yaml``."""

    temperatures: Sequence[float] = (0.05, 0.1, 0.25, 0.5, 1.0)
    tilt_temperature: float = 0.1
    strengths: Sequence[float] = (0.0, 0.25, 0.5, 0.75, 1.0)
    floors: Sequence[float] = (1.0, 0.99, 0.95, 0.9, 0.8)
    believed_mixes: Sequence[float] = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 1.0)
    mixes: Sequence[float] = (0.0, 0.3, 0.5, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 1.0)

    def __post_init__(self) -> None:
        for name in ("strengths", "floors", "believed_mixes", "mixes"):
            wrong = [value for value in getattr(self, name) if not 0 <= value <= 1]
            if wrong:
                raise ConfigError(f"{name}: found {wrong[0]}; expected numbers from 0 to 1")
        for name, value in [
            ("tilt_temperature", self.tilt_temperature),
            *(("temperatures", t) for t in self.temperatures),
        ]:
            if not 0 < value < np.inf:
                raise ConfigError(f"{name}: found {value}; expected positive numbers")

    def systems(self, attribute: str, balanced: bool) -> tuple[System, ...]:
        """Return the systems, family by family.

        Parameters
        ----------
        attribute
            whose groups they look at.
        balanced
            whether the best for CWEx is known: of two groups beside the neutral one.
        """
        tilt = partial(KlTilt, temperature=self.tilt_temperature, attributes=[attribute])
        optimal = partial(ParetoOptimal, individual=0.0, group=1.0, attribute=attribute)
        fronts = (FOR_NEUTRALITY, FOR_BALANCE) if balanced else (FOR_NEUTRALITY,)
        families = {name: self.believed_mixes for name, front in BELIEVED.items() if front in fronts}
        families |= dict.fromkeys(fronts, self.mixes)
        return (
            *(System("plackett_luce", "temperature", t, PlackettLuce(t)) for t in sorted(set(self.temperatures))),
            *(System("kl_tilt", "strength", s, tilt(strength=s), aims=True) for s in sorted(set(self.strengths))),
            *(System("pareto_optimal", "floor", f, optimal(floor=f)) for f in sorted(set(self.floors), reverse=True)),
            *(System(family, "mix", mix) for family, mixes in families.items() for mix in sorted(set(mixes))),
        )


@dataclass(frozen=True, slots=True, eq=False)
class Sides:
    """Who is neutral and who is not, by the labels that methods see: names of groups."""

    attribute: str
    neutral: str
    first: str
    second: str


@dataclass(frozen=True, slots=True, eq=False)
class PresenceBlock:
    """The function that ``presence`` maps over blocks of queries. It holds nothing that differs between blocks.

    Attributes
    ----------
    systems, queries, measures, options
        what is made, the ids behind the query codes, what is computed and how.
    groups, companions
        attribute -> what is measured; methods see the attribute ``sides.attribute`` only.
    target
        what methods that aim aim at.
    sides, cutoff, alpha
        of the best that lists allow.
    """

    systems: tuple[System, ...]
    queries: Ids
    measures: tuple[Measure, ...]
    options: Options
    groups: Mapping[str, GroupAlignment]
    companions: Mapping[str, GroupAlignment]
    target: Target
    sides: Sides
    cutoff: int
    alpha: float

    def __call__(self, part: Part) -> tuple[dict[str, pa.Table], dict[str, dict[str, int]]]:
        """Return the result tables of one block and what its methods counted, by system."""
        counts: dict[str, dict[str, int]] = {}
        known, believed = self._rows(part), self._rows(part, self._beliefs(part))
        found: dict[str, Policy] = {}
        for system in self.systems:
            if system.method is None:
                rows = known if system.front else believed
                found[system.name] = mixture(part.candidates, part.stream, partial(self._best, system, rows))
                continue
            seen = seen_by(system.method, {self.sides.attribute: self.groups[self.sides.attribute]}, None)
            block = part.block(seen, self.options, self.target if system.aims else None)
            found[system.name], counted = answered(system.method, block)
            check_policy(found[system.name], system.method, block)
            if counted:
                counts[system.name] = dict(counted)
        found |= anchors(part.candidates, part.judgments, part.stream, self.options.universe)
        tables = {}
        for name, policy in found.items():
            one = Evaluation(policy, part.judgments, self.groups, self.options, self.companions)
            tables[name] = measure_block(one, self.measures, self.queries.take(one.over.query), name)
        return tables, counts

    def _best(self, system: System, rows: Sequence[Row], row: int) -> list[tuple[NDArray[np.int64], float]]:
        if BELIEVED.get(system.family, system.family) == FOR_NEUTRALITY:
            return best_for_neutrality(rows[row], system.value)
        return best_for_balance(rows[row], system.value, self.alpha)

    def _beliefs(self, part: Part) -> NDArray[np.float64]:
        """Return the probabilities that methods go by, of scores the guess that they make: float64 (nnz,)."""
        return probabilities(part.block({}, self.options, None))

    def _rows(self, part: Part, belief: NDArray[np.float64] | None = None) -> list[Row]:
        """Return what is known of the candidates of each query; with ``belief`` that in place of its judgments."""
        candidates, judgments = part.candidates, part.judgments
        labels = self.groups[self.sides.attribute]
        of = _columns(labels, candidates.doc)
        neutral, gap = of(self.sides.neutral), of(self.sides.first) - of(self.sides.second)
        values = self.companions.get(companion(self.sides.attribute, NEUTRALITY))
        neutrality = neutral if values is None else _columns(values, candidates.doc)(values.groups[0])
        grades = {int(query): judgments.row(row) for row, query in enumerate(judgments.query)}
        out = []
        for row, query in enumerate(candidates.query.tolist()):
            span = candidates.row(row)
            mine = candidates.doc[span]
            judged = grades.get(query)
            doc = judgments.doc[:0] if judged is None else judgments.doc[judged]
            grade = np.zeros(0) if judged is None else np.maximum(judgments.grade[judged].astype(np.float64), 0.0)
            if belief is not None:
                doc, grade = mine, belief[span]
            weight = position_weights(max(len(mine), len(grade)), self.cutoff)
            gain = _graded(mine, doc, grade) / (_ideal(grade, weight) or 1.0)
            best = _ideal(neutrality[span], weight)
            share = neutrality[span] / best if best > 0 else np.zeros(len(mine))
            out.append(Row(gain, share, neutral[span], gap[span], weight[: len(mine)]))
        return out


def _columns(alignment: GroupAlignment, docs: NDArray[np.int32]) -> Any:
    """Return a function: the name of a group -> the weight of documents there, float64 (m,)."""
    item, group, weight = alignment.entries(docs)

    def of(name: str) -> NDArray[np.float64]:
        mine = group == alignment.groups.index(name)
        return np.bincount(item[mine], weights=weight[mine], minlength=len(docs)).astype(np.float64)

    return of


def _graded(docs: NDArray[np.int32], judged: NDArray[np.int32], grade: NDArray[np.float64]) -> NDArray[np.float64]:
    order = np.argsort(judged)
    place = np.searchsorted(judged[order], docs)
    place = np.minimum(place, max(len(judged) - 1, 0))
    if not len(judged):
        return np.zeros(len(docs))
    return np.where(judged[order][place] == docs, grade[order][place], 0.0)


def _ideal(value: NDArray[np.float64], weight: NDArray[np.float64]) -> float:
    ordered = np.sort(value)[::-1]
    return float(ordered @ weight[: len(ordered)])
