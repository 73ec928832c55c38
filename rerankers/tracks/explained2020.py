"""What the groups explain under a preset of 2020: placebo, excess and parts of the loss over groups.

Labels are shuffled among the judged documents of a query, which are those that count. A squared loss has its placebo
in closed form; rooted, divided by bounds or of shares it has not, and labels are drawn.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from rerankers.measures.evidence import Evidence
from rerankers.measures.excess import Job, null_of, shuffled_values
from rerankers.measures.gaps import Gaps
from rerankers.measures.nulls import Null, standard_errors
from rerankers.measures.placebo import Bilinear
from rerankers.measures.shuffles import by_code, shuffled
from rerankers.tracks.scoring2020 import GROUP, group_values

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.tracks.scoring2020 import Scene, Scored, Values

LOSS = f"{GROUP}EEL"


@dataclass(frozen=True, slots=True, eq=False)
class Explained:
    """What stands beside the scores of the systems.

    Attributes
    ----------
    placebo
        system -> float64 (Q,), of the loss over groups; NaN where the loss has no value.
    evidence
        system -> tests and decomposition.
    """

    placebo: Mapping[str, NDArray[np.float64]] = field(default_factory=dict)
    evidence: Mapping[str, Evidence] = field(default_factory=dict)

    def values(self, name: str, scored: Scored) -> Values:
        """Return the values of a system, placebo and excess behind the loss over groups."""
        if name not in self.placebo:
            return scored.values
        out: Values = {}
        for key, value in scored.values.items():
            out[key] = value
            if key == LOSS:
                out[f"{LOSS}_placebo"] = self.placebo[name]
                out[f"{LOSS}_excess"] = value - self.placebo[name]
        return out


def explain(
    scored: Mapping[str, Scored],
    missing: Mapping[str, NDArray[np.bool_]],
    scene: Scene,
    units: Sequence[str],
    seed: int,
    permutations: int,
) -> Explained:
    """Return placebos and evidence of all systems; nothing without groups.

    Parameters
    ----------
    scored, missing
        system -> its scores, and bool (Q,): queries without a ranking.
    scene
        what all are held against.
    units
        ids of the Q queries.
    seed, permutations
        of the shuffles. With none, only the placebo of a squared loss is given.
    """
    if scene.groups is None:
        return Explained()
    gaps = {name: one.exposure - scene.target for name, one in scored.items() if one.exposure is not None}
    forms = {name: Bilinear.of(scene.groups, scene.judgments.indptr, scene.member, gap) for name, gap in gaps.items()}
    rules = scene.rules
    if rules.loss == "squared" and rules.normalise == "none":
        jobs = [Job(form, scene.judgments.doc, units) for form in forms.values()]
        draws = dict(zip(forms, shuffled_values(jobs, permutations, seed), strict=True))
        placebo = {name: form.placebo() for name, form in forms.items()}
        nulls = {name: _null(form, scored[name], missing[name], scene, draws[name]) for name, form in forms.items()}
        for name, value in placebo.items():  # the official value of a query without a ranking is no loss of groups
            value[_set_by_rule(missing[name], scene)] = scored[name].values[LOSS][_set_by_rule(missing[name], scene)]
    elif permutations:
        drawn = _drawn(scored, missing, scene, units, seed, permutations)
        means = {name: standard_errors(values) for name, values in drawn.items()}
        placebo = {
            name: np.where(np.isnan(scored[name].values[LOSS]), np.nan, mean) for name, (mean, _, _) in means.items()
        }
        nulls = {
            name: Null.of(scored[name].values[LOSS], placebo[name], drawn[name], error=means[name][1]) for name in drawn
        }
    else:
        return Explained()
    evidence = {}
    for name, rows in ((name, one.groups) for name, one in scored.items()):
        if rows is None:
            continue
        difference = rows.exposure - rows.target
        difference[_set_by_rule(missing[name], scene)] = 0.0
        parts = Gaps(rows.groups, tuple(units), difference, np.zeros((len(units), len(rows.groups) + 1)))
        squared = rules.loss == "squared" and rules.normalise == "none"
        evidence[name] = Evidence({LOSS: parts} if squared else {}, {f"{LOSS}_excess": nulls[name]})
    return Explained(placebo, evidence)


def _set_by_rule(missing: NDArray[np.bool_], scene: Scene) -> NDArray[np.bool_]:
    """Return the queries whose value is set by a rule, whatever the labels."""
    return missing & scene.rules.missing_default


def _null(form: Bilinear, scored: Scored, missing: NDArray[np.bool_], scene: Scene, draws: NDArray[np.float64]) -> Null:
    """Return the sums of a squared loss; a query whose value is a rule's has no excess under any labels."""
    real, rule = scored.values[LOSS], _set_by_rule(missing, scene)
    if not rule.any():
        return null_of(form, real, draws)
    rest = null_of(form, np.where(rule, np.nan, real), draws)
    settled = real[rule]
    same = np.broadcast_to(settled[:, None], (len(settled), draws.shape[1]))
    return rest + Null.of(settled, settled, same, variance=np.zeros(len(settled)))


def _drawn(
    scored: Mapping[str, Scored],
    missing: Mapping[str, NDArray[np.bool_]],
    scene: Scene,
    units: Sequence[str],
    seed: int,
    permutations: int,
) -> dict[str, NDArray[np.float64]]:
    """Return the loss over groups under every draw of labels, system -> float64 (Q, R), scored by all rules."""
    from dataclasses import replace

    judgments = scene.judgments
    place = by_code(judgments)
    gets = np.empty((permutations, judgments.nnz), dtype=np.int64)
    for row, qid in enumerate(units):
        part = judgments.row(row)
        order = shuffled(seed, qid, part.stop - part.start, permutations)
        gets[np.arange(permutations)[:, None], place[part][order]] = place[part]
    out = {name: np.empty((len(units), permutations)) for name in scored}
    for draw, label_of in enumerate(gets):
        other = replace(scene, member=scene.member[label_of])
        due = other.by_group(scene.target)
        for name, one in scored.items():
            if one.exposure is not None:
                own = group_values(other.by_group(one.exposure), due, other, missing[name])
                out[name][:, draw] = own["EEL"]
    return out
