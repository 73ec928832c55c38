"""Choose options of a method on the training queries, before the queries to be ranked are looked at."""

from __future__ import annotations

import csv
import dataclasses
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from rerankers._base.errors import ConfigError, InputError, choose
from rerankers._base.progress import Bar, bar
from rerankers.execution import block_bounds
from rerankers.measures.anchors import by_score
from rerankers.measures.evaluation import Evaluation
from rerankers.measures.names import Measure, parse
from rerankers.measures.plan import plan
from rerankers.methods import answered, check_policy
from rerankers.policies import static
from rerankers.stages.aim import ready_target
from rerankers.stages.block import seen_by
from rerankers.stages.fit_spec import FitSearch, NoFit, Trial
from rerankers.stages.ground import judging, prepare

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.measures.evaluation import Options
    from rerankers.methods import Method
    from rerankers.methods.targets import Target
    from rerankers.policies import Policy
    from rerankers.stages.metadata import Stopwatch
    from rerankers.stages.pool import Part, Pool
    from rerankers.stages.run import RunJob
    from rerankers.values import GroupAlignment

FILE = "fit.csv"


@dataclass(frozen=True, slots=True, eq=False)
class Fitted:
    """What was chosen.

    Attributes
    ----------
    method
        with the chosen options.
    kept, trials
        the trial that is kept, and all of them in the order in which they were made.
    words
        for the report and the terminal.
    """

    method: Method
    kept: Trial
    trials: Sequence[Trial]
    words: str

    @property
    def csv(self) -> str:
        """The trials as text: the options, the measures, and which is kept."""
        text = io.StringIO()
        out = csv.writer(text, lineterminator="\n")
        out.writerow([*self.kept.options, *self.kept.means, "kept"])
        for trial in self.trials:
            out.writerow([*trial.options.values(), *trial.means.values(), int(trial is self.kept)])
        return text.getvalue()


def fit_method(job: RunJob, watch: Stopwatch) -> Fitted | None:
    """Return what the training queries choose for a job; None where nothing is to be chosen.

    Raises
    ------
    ConfigError
        for a collection without a training split set apart, an option that the method lacks, a method with a ledger.
    InputError
        where the training queries do not decide: none is judged.
    InfeasibleError
        for a level that is not reached.
    """
    spec = job.fit
    if isinstance(spec, NoFit):
        return None
    _check(job)
    pool = prepare(job, replace(job.collection, split="train").load(), watch).pool
    with bar("fit", "configuration") as shown:
        trials = _Trials(job, pool, shown)
        kept = spec.choose(trials, trials.static())
    watch.lap("fit")
    options = ", ".join(f"method.{name}={_short(value)}" for name, value in kept.options.items())
    words = (
        f"{options}, chosen on {trials.queries:,} judged training queries among {len(trials.done):,} tried: "
        f"{', '.join(f'{name} {mean:.6g}' for name, mean in kept.means.items())} there"
        + ("; from draws" if trials.estimated else "")
    )
    return Fitted(_with(job.method, kept.options), kept, trials.done, words)


def fit_words(spec: Any, fitted: Fitted | None) -> dict[str, str]:
    """Return what a report says about how options were chosen; nothing where nobody said."""
    if fitted is not None:
        return {"fitted": fitted.words}
    tried = spec.tried if isinstance(spec, NoFit) else None
    return {} if tried is None else {"fitted": f"beforehand, the best of {tried:,} configurations on training queries"}


def _check(job: RunJob) -> None:
    if getattr(job.collection, "split", None) != "eval":
        raise ConfigError(
            "fit: found a collection whose training queries are not set apart; expected collection.split=eval, "
            "which fits on the other split, or fit=none"
        )
    if callable(getattr(job.method, "serve", None)):
        raise ConfigError(f"fit: found {job.name}, whose rankings depend on a sequence; expected fit=none")
    wanted = [job.fit.parameter] if isinstance(job.fit, FitSearch) else list(job.fit.options or ())
    method: Any = job.method
    known = [field.name for field in dataclasses.fields(method)] if dataclasses.is_dataclass(method) else list[str]()
    for name in wanted:
        choose(f"fit: option of {job.name}", name, known)


def _with(method: Any, options: Mapping[str, Any]) -> Method:
    changed: Method = replace(method, **options)
    return changed


def _short(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


class _Trials:
    """Evaluates choices of options on the queries of a pool, and remembers them."""

    def __init__(self, job: RunJob, pool: Pool, shown: Bar) -> None:
        self.job, self.pool, self.shown = job, pool, shown
        self.options = judging(job, pool)
        self.measures = {name: _single(name, pool.groups) for name in job.fit.measures}
        self.target = ready_target(job.target, job.method, job.collection, job.groups, pool.topics)
        self.done: list[Trial] = []
        self.queries = 0
        self.estimated = False

    def __call__(self, options: Mapping[str, Any]) -> Trial:
        method = _with(self.job.method, options)
        trial = self._tried(method, options)
        self.done.append(trial)
        self.shown.update()
        return trial

    def static(self) -> Trial:
        """Return what the static ranking by the same beliefs gives."""
        return self._tried(None, {})

    def _tried(self, method: Method | None, options: Mapping[str, Any]) -> Trial:
        task = _Block(
            method,
            self.target,
            self.pool.groups,
            self.pool.shown,
            self.pool.authors,
            self.options,
            list(self.measures.values()),
            self.pool.companions,
        )
        bounds = block_bounds(self.pool.candidates.lengths * self.job.samples, 1, self.job.execution.block)
        parts = (self.pool.part(start, stop) for start, stop in bounds)
        found = list(self.job.execution.map(task, parts, self.pool.named))
        value = np.concatenate([np.empty((0, len(self.measures))), *(one for one, _ in found)])
        known = np.all(np.isfinite(value), axis=1)
        if not known.any():
            raise InputError.one("fit", f"{len(value):,} training queries, none judged", "judged training queries")
        self.queries = int(known.sum())
        self.estimated |= method is not None and any(drawn for _, drawn in found)
        means = value[known].mean(axis=0).tolist()
        return Trial(dict(options), dict(zip(self.measures, means, strict=True)))


@dataclass(frozen=True, slots=True, eq=False)
class _Block:
    """What is done to one block of training queries: float64 (B, M), and whether from draws.

    The judgments are looked at by the measures only, as in `rerankers.stages.block.RerankBlock`.
    """

    method: Method | None
    target: Target | None
    groups: Mapping[str, GroupAlignment]
    shown: Mapping[str, GroupAlignment]
    authors: GroupAlignment | None
    options: Options
    measures: Sequence[Measure]
    companions: Mapping[str, GroupAlignment]

    def __call__(self, part: Part) -> tuple[NDArray[np.float64], bool]:
        evaluation = Evaluation(self._policy(part), part.judgments, self.groups, self.options, self.companions)
        values = [measure.per_unit(evaluation).value for measure in self.measures]
        return np.stack(values, axis=1), evaluation.estimated(self.options.model)

    def _policy(self, part: Part) -> Policy:
        seen = {} if self.method is None else seen_by(self.method, self.shown, self.authors)
        block = part.block(seen, self.options, self.target)
        if self.method is None:
            ordered = by_score(part.candidates.with_columns(score=block.relevance.value))
            return static(ordered, ordered.score, part.stream)
        policy, _ = answered(self.method, block)
        check_policy(policy, self.method, block)
        return policy


def _single(measure: str, groups: Mapping[str, GroupAlignment]) -> Measure:
    found = list(plan([parse(measure)], list(groups)).values())
    if len(found) != 1:
        names = ", ".join(str(one) for one in found)
        raise ConfigError(f"fit: found {measure}, which is {names}; expected one of them")
    return found[0]
