"""Monitors by name: measures of this package, computed on validation queries as `evaluate` computes them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.errors import ConfigError, InputError, choose
from rerankers._base.fingerprint import fingerprint
from rerankers.exposure.browsing import GERR, BrowsingModel
from rerankers.learning.monitors.base import Reading
from rerankers.learning.monitors.pointwise import log_loss, row_auc
from rerankers.learning.monitors.terms import Sum, parse_sum
from rerankers.measures import Measure
from rerankers.measures.evaluation import Evaluation, Options
from rerankers.measures.plan import GROUP, plan
from rerankers.policies import PlackettLuce, Policy, static
from rerankers.values import GroupAlignment, Judgments

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.learning.rows import LearningRows

HIGHEST_GRADE = 2**15 - 1
POLICIES = ("auto", "static", "plackett_luce")


@dataclass(frozen=True, slots=True)
class Watch:
    """What to look at on validation queries.

    Attributes
    ----------
    stop
        what early stopping looks at: a measure by its name (``nDCG@10``, ``group_EEL``, ``EEL(umodel='rbp',p=.9)``,
        ``AUC``, ``pooled_AUC``, ``log_loss``) or a weighted sum (``utility - 0.5 * group_EEL``). Which side is better
        follows from the measures.
    record
        more of these for the curve.
    policy
        what ranks by the scores: ``static``, one ranking; ``plackett_luce``, the scores being its logits; ``auto``:
        the latter for scores that are logits, the former for others.
    samples
        draws of a query over which classic measures of a Plackett-Luce policy are averaged, the same at every look.
        Exposure is exact.

    Raises
    ------
    ConfigError
        for texts that are no measures or sums, an unknown policy, samples below 1.
    """

    stop: str = "nDCG@10"
    record: list[str] = field(default_factory=list)
    policy: str = "auto"
    samples: int = 20

    def __post_init__(self) -> None:
        choose("monitor.policy", self.policy, POLICIES)
        if self.samples < 1:
            raise ConfigError(f"monitor.samples: found {self.samples}; expected at least 1")
        for text in (self.stop, *self.record):
            parse_sum(text)

    @property
    def needs_groups(self) -> bool:
        """Whether a measure looks at groups."""
        return any(_of_groups(measure) for text in (self.stop, *self.record) for measure in _measures(parse_sum(text)))

    def bind(
        self, rows: LearningRows, scores: str = "score", browsing: BrowsingModel | None = None, seed: int = 0
    ) -> MeasureMonitor:
        """Return the monitor of these rows.

        Parameters
        ----------
        rows
            validation queries; all pairs count as judged.
        scores
            how scores are to be read, as an objective says: ``score``, ``logit`` or ``log_odds``.
        browsing
            the model of measures that name none; GERR unless given.
        seed
            of the draws.

        Raises
        ------
        ConfigError
            for measures of groups where the rows have none, or of another attribute, and log_loss of scores that are
            no log-odds.
        InputError
            naming a query with grades that are not whole, where a measure is not of `POINTWISE`.
        """
        drawn = self.policy == "plackett_luce" or (self.policy == "auto" and scores == "logit")
        sums = {text: parse_sum(text) for text in dict.fromkeys((self.stop, *self.record))}
        for text, asked in sums.items():
            _check_groups(text, asked, rows)
            _check_kinds(text, asked, rows, scores)
        options = Options(browsing=GERR() if browsing is None else browsing, samples=self.samples, seed=seed)
        highest = max(1, int(rows.grade.max(initial=1.0)))
        return MeasureMonitor(rows, self.stop, sums, drawn, replace(options, max_grade=highest))


@dataclass(frozen=True, eq=False)
class MeasureMonitor:
    """A monitor of measures, see `Watch`.

    Attributes
    ----------
    rows
        what is looked at.
    stop
        the key of ``sums`` that early stopping minimises, times its sign.
    sums
        what is computed, by the text it was written as.
    drawn
        whether scores are logits of a Plackett-Luce policy; else they make one ranking.
    options
        of the evaluation.
    """

    rows: LearningRows
    stop: str
    sums: dict[str, Sum]
    drawn: bool
    options: Options

    @property
    def key(self) -> str:
        """Equal for monitors that look at the same, in the same way."""
        return fingerprint(list(self.sums), self.stop, self.drawn, self.options)

    def __call__(self, scores: NDArray[np.float64]) -> float:
        """Return what is minimised, at scores float64 (nnz,)."""
        return self._values(scores, [self.stop])[self.stop] * self.sums[self.stop].sign

    def read(self, scores: NDArray[np.float64]) -> Reading:
        """Return what is minimised, and the value of every sum as it is written.

        Raises
        ------
        InputError
            for scores that are not finite or of another number, and a measure that no query has a value of.
        """
        values = self._values(scores, list(self.sums))
        return Reading(values[self.stop] * self.sums[self.stop].sign, values)

    def _values(self, scores: NDArray[np.float64], texts: list[str]) -> dict[str, float]:
        if scores.shape != (self.rows.over.nnz,) or not np.all(np.isfinite(scores)):
            found = f"shape {scores.shape}, finite: {bool(np.all(np.isfinite(scores)))}"
            raise InputError.one("scores", found, f"{self.rows.over.nnz} finite numbers")
        evaluation = Evaluation(self._policy(scores), self._judgments, self._groups, self.options)
        known: dict[Measure | str, float] = {}
        for text in texts:
            for term in self.sums[text].terms:
                if term.measure not in known:
                    known[term.measure] = self._value(term.measure, evaluation, scores)
        return {text: sum(term.factor * known[term.measure] for term in self.sums[text].terms) for text in texts}

    def _value(self, measure: Measure | str, evaluation: Evaluation, scores: NDArray[np.float64]) -> float:
        if isinstance(measure, Measure):
            values = measure.per_unit(evaluation).value
        elif measure == "log_loss":
            values = log_loss(scores, self._relevant)
        else:
            whole = np.array([0, len(scores)], dtype=np.int64)
            values = row_auc(self.rows.indptr if measure == "AUC" else whole, scores, self._relevant)
        values = values[~np.isnan(values)]
        if not len(values):
            raise InputError.one(f"monitor {measure}", "no validation query that has a value", "at least one")
        return float(values.mean())

    def _policy(self, scores: NDArray[np.float64]) -> Policy:
        if self.drawn:
            return PlackettLuce(self.rows.over, scores, self.rows.stream)
        return static(self.rows.over, scores, self.rows.stream)

    @cached_property
    def _judgments(self) -> Judgments:
        over = self.rows.over
        return Judgments(over.query, over.indptr, over.doc, {"grade": self.rows.grade})

    @cached_property
    def _relevant(self) -> NDArray[np.bool_]:
        return self.rows.grade > 0

    @cached_property
    def _groups(self) -> dict[str, GroupAlignment]:
        groups = self.rows.groups
        return {} if groups is None else {groups.attribute: groups}


def _check_groups(text: str, asked: Sum, rows: LearningRows) -> None:
    attributes = () if rows.groups is None else (rows.groups.attribute,)
    if attributes:
        plan(_measures(asked), attributes)
    elif any(map(_of_groups, _measures(asked))):
        raise ConfigError(f"monitor {text!r}: found a measure of groups, and no groups; expected groups=… to say which")


def _measures(asked: Sum) -> list[Measure]:
    return [term.measure for term in asked.terms if isinstance(term.measure, Measure)]


def _of_groups(measure: Measure) -> bool:
    return measure.name.startswith(GROUP) or dict(measure.params).get("group") is not None


def _check_kinds(text: str, asked: Sum, rows: LearningRows, scores: str) -> None:
    if scores != "log_odds" and any(term.measure == "log_loss" for term in asked.terms):
        raise ConfigError(
            f"monitor {text!r}: found log_loss, and an objective whose scores are no log-odds of relevance "
            f"({scores}); expected AUC, or a measure of rankings"
        )
    wrong = (rows.grade != np.floor(rows.grade)) | (rows.grade > HIGHEST_GRADE)
    if np.any(wrong) and _measures(asked):
        place = int(np.argmax(wrong))
        qid = rows.qids[int(rows.over.row_index[place])]
        expected = f"whole grades up to {HIGHEST_GRADE} for {text}"
        raise InputError.one(f"query {qid}", f"the grade {rows.grade[place]:g}", expected, mend="Stop on AUC instead.")
