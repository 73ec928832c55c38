"""What stands behind the means of a system's measures of groups: tests of the excess, and where losses lie."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from rerankers.measures.excess import nulls
from rerankers.measures.gaps import Gaps, gaps_of
from rerankers.measures.plan import plan

if TYPE_CHECKING:
    from rerankers.measures.evaluation import Evaluation
    from rerankers.measures.names import Measure
    from rerankers.measures.nulls import Null

SYSTEMATIC, SHARE, P = "_systematic", "_systematic_share", "_p"
"""What follows the key of a group loss, and that of an excess, in the means of ``measures.json``."""


@dataclass(frozen=True, slots=True, eq=False)
class Evidence:
    """Of one system; that of blocks adds up.

    Attributes
    ----------
    gaps
        key of a group loss -> exposure minus target of the groups, by query.
    nulls
        key of an excess -> what chance makes of its mean.
    """

    gaps: Mapping[str, Gaps] = field(default_factory=dict)
    nulls: Mapping[str, Null] = field(default_factory=dict)

    def __add__(self, other: Evidence) -> Evidence:
        return Evidence(_joined(self.gaps, other.gaps), _joined(self.nulls, other.nulls))

    def summary(self, *, seed: int, resamples: int, level: float, method: str = "bca") -> dict[str, Any]:
        """Return what `measures.json` says of the system beside the means of its queries.

        Returns
        -------
        dict
            ``mean`` and ``interval`` of the keys ``group_EEL_systematic``, ``group_EEL_systematic_share`` and
            ``group_EEL_excess_p`` (two-sided) and their like; ``excess_test``: key of an excess -> all of
            `Null.test`; ``decomposition``: key of a group loss -> all of `Decomposition`.
        """
        mean: dict[str, float | None] = {}
        interval: dict[str, list[float] | None] = {}
        decomposition: dict[str, Any] = {}
        for key, gaps in self.gaps.items():
            parts = gaps.summary(seed=seed, resamples=resamples, level=level, method=method)
            decomposition[key] = None if parts is None else parts.json
            mean[key + SYSTEMATIC] = None if parts is None else parts.systematic
            interval[key + SYSTEMATIC] = None if parts is None else parts.systematic_interval
            mean[key + SHARE] = None if parts is None else parts.systematic_share
            interval[key + SHARE] = None if parts is None else parts.systematic_share_interval
        tests = {key: null.test() for key, null in self.nulls.items()}
        for key, test in tests.items():
            mean[key + P], interval[key + P] = None if test is None else test["p"], None
        return {"mean": mean, "interval": interval, "excess_test": tests, "decomposition": decomposition}


def _joined(first: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, Any]:
    out = dict(first)
    for key, part in second.items():
        out[key] = out[key] + part if key in out else part
    return out


def evidence(
    evaluations: Mapping[str, Evaluation], units: Mapping[str, Sequence[str]], measures: Sequence[Measure]
) -> dict[str, Evidence]:
    """Return the evidence of the systems of one block.

    Parameters
    ----------
    evaluations
        system -> evaluation, all with the same groups and options.
    units
        system -> names of its rows.
    measures
        what is asked for: a test for each excess, gaps for each group loss and each part of one.
    """
    attributes = tuple(next(iter(evaluations.values())).groups) if evaluations else ()
    asked = plan(measures, attributes)
    losses = plan([measure.whole for measure in measures], attributes)
    tested = nulls(evaluations, units, asked)
    return {
        system: Evidence(_gaps(evaluation, losses, units[system]), tested[system])
        for system, evaluation in evaluations.items()
    }


def _gaps(evaluation: Evaluation, losses: Mapping[str, Measure], units: Sequence[str]) -> dict[str, Gaps]:
    out = {}
    for key, measure in losses.items():
        under = measure.gaps_under(evaluation)
        if under is not None:
            out[key] = gaps_of(evaluation, *under, units)
    return out
