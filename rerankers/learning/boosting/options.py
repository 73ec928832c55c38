"""The options of boosted trees; LightGBM is imported when something is fitted."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from rerankers._base.errors import ConfigError, choose

if TYPE_CHECKING:
    from pathlib import Path

    from rerankers.learning.learner import Fitted, Monitor, Point
    from rerankers.learning.objectives.base import Objective
    from rerankers.learning.rows import LearningRows

EXTRA = (
    "bin_construct_sample_cnt",
    "boost_from_average",
    "enable_bundle",
    "extra_trees",
    "feature_contri",
    "feature_fraction_bynode",
    "feature_pre_filter",
    "histogram_pool_size",
    "interaction_constraints",
    "is_unbalance",
    "max_bin_by_feature",
    "min_data_in_bin",
    "monotone_constraints",
    "monotone_constraints_method",
    "monotone_penalty",
    "path_smooth",
    "scale_pos_weight",
    "use_missing",
    "zero_as_missing",
)
"""Parameters of LightGBM that may be handed through: what has no option here and leaves what a fit promises intact."""

_WHOLE = {"iterations": 1, "leaves": 2, "min_rows": 0, "max_bin": 2, "members": 1, "threads": 1}
_WHOLE |= {"record_every": 1, "checkpoint_every": 1}


@dataclass(frozen=True, slots=True)
class LightGBM:
    """Gradient boosted trees (Ke et al. 2017), fitted to any objective over whole queries.

    Objectives that LightGBM has itself (`Native`) run there, and the same parameters given to LightGBM directly give
    the same trees. Others hand it their exact slopes and curvatures, one Newton step a tree; they start at score 0,
    whatever the grades are, since most do not see a shift of all scores.

    Where queries are drawn, every objective hands over its slopes, 0 for queries that were not drawn. LightGBM's own
    ``bagging_by_query`` (4.6, 4.7) is not used: it leaves the scores of queries that were not drawn as they were, adds
    their trees to the first row instead, and does not draw at all for slopes that it is handed.

    Attributes
    ----------
    iterations
        trees of each member, at most.
    learning_rate
        what each tree is multiplied with, above 0.
    leaves
        of a tree, at most.
    depth
        of a tree, at most; None for no such limit.
    min_rows
        documents a leaf holds at least, those of queries that were not drawn among them.
    min_curvature
        summed curvature that a leaf holds at least. For objectives of our own a curvature of 1 is about the mean over
        all documents at the first iteration, for LightGBM's it is in its units; so are the next four.
    min_gain
        what a split gains at least.
    l1, l2
        penalties on the values of leaves.
    max_step
        largest value of a leaf before the learning rate; 0 for no such limit.
    max_bin
        bins of a feature, at most.
    feature_fraction
        share of the features that each tree may use, drawn anew.
    query_fraction
        share of the queries that each tree sees, drawn anew. Queries are never split.
    patience
        iterations without a new best on the validation queries after which fitting stops; None runs all iterations and
        still keeps the best. Without validation queries it is not looked at.
    members
        models whose scores are averaged; they differ in what is drawn only.
    threads
        of LightGBM. With one, equal bits are promised; with more, sums may be added in another order, and bits are
        equal for equal numbers on one machine.
    record_every
        iterations between points of the curve that measure what need not be measured at every iteration.
    checkpoint_every
        iterations between checkpoints, where a folder for them is given.
    parameters
        more parameters by LightGBM's own names, see `EXTRA`.

    Raises
    ------
    ConfigError
        for values out of range, and parameters that have an option here or cannot be handed through.
    """

    iterations: int = 300
    learning_rate: float = 0.05
    leaves: int = 31
    depth: int | None = None
    min_rows: int = 20
    min_curvature: float = 0.001
    min_gain: float = 0.0
    l1: float = 0.0
    l2: float = 0.0
    max_step: float = 0.0
    max_bin: int = 255
    feature_fraction: float = 1.0
    query_fraction: float = 1.0
    patience: int | None = 50
    members: int = 1
    threads: int = 1
    record_every: int = 50
    checkpoint_every: int = 25
    parameters: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, least in _WHOLE.items():
            _at_least(name, getattr(self, name), least)
        for name in ("depth", "patience"):
            if getattr(self, name) is not None:
                _at_least(name, getattr(self, name), 1)
        for name in ("min_curvature", "min_gain", "l1", "l2", "max_step"):
            if not (math.isfinite(getattr(self, name)) and getattr(self, name) >= 0):
                raise ConfigError(f"model.{name}: found {getattr(self, name)}; expected a number of at least 0")
        for name in ("learning_rate", "feature_fraction", "query_fraction"):
            if not 0 < getattr(self, name) <= 1:
                raise ConfigError(f"model.{name}: found {getattr(self, name)}; expected a number above 0, at most 1")
        for name in self.parameters:
            choose("model.parameters", str(name), EXTRA)
        if self.members > 1 and not self.sampled:
            raise ConfigError(
                f"model.members: found {self.members} with nothing drawn, so that all would be equal; expected 1, "
                "or model.query_fraction or model.feature_fraction below 1"
            )

    @property
    def sampled(self) -> bool:
        """Whether anything is drawn."""
        drawn = self.parameters.get("feature_fraction_bynode", 1.0) < 1 or bool(self.parameters.get("extra_trees"))
        return self.feature_fraction < 1 or self.query_fraction < 1 or drawn

    def with_iterations(self, iterations: int) -> LightGBM:
        """Return the spec that runs exactly this many iterations unless something stops it early."""
        return replace(self, iterations=iterations)

    def fit(
        self,
        train: LearningRows,
        objective: Objective,
        *,
        valid: LearningRows | None = None,
        monitor: Monitor | None = None,
        seed: int = 0,
        checkpoint: Path | None = None,
        progress: Callable[[Point], None] | None = None,
    ) -> Fitted:
        """Fit trees; the arguments are those of `rerankers.learning.learner.Learner.fit`.

        Each point of the curve has ``valid`` and ``monitor`` where early stopping looks at them, and the parts of a
        monitor that has any (`rerankers.learning.monitors`). ``train`` is there at every iteration for an objective
        of our own, whose slopes are computed anyway, and else at every ``record_every``-th and the last.

        Returns
        -------
        The fit. ``counts`` says what was met: queries of one document or one grade, features that are constant or
        always missing, iterations in which no split lowered the objective, checkpoints that were damaged, and
        iterations that had to be repeated to continue from one.

        Raises
        ------
        ConfigError
            for a native objective unknown here, a checkpoint of another fit, a folder that cannot be written.
        InputError
            for rows without a document, a feature or any split; grades that LightGBM's ranking objectives cannot
            take and queries too long for them, by name; losses and monitors that are not finite, with the iteration.
        MissingError
            where LightGBM is not installed.
        """
        from rerankers.learning.boosting.fitting import fit
        from rerankers.learning.boosting.job import Job

        return fit(Job(self, train, objective, valid, monitor, seed), checkpoint, progress)


def _at_least(name: str, value: int, least: int) -> None:
    if value < least:
        raise ConfigError(f"model.{name}: found {value}; expected a whole number of at least {least}")
