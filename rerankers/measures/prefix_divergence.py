"""Normalised discounted KL divergence: how far the groups of every prefix are from a target (Geyik et al. 2019).

NDKL = 1/Z Σ_i KL(D_i | target) / log2(i + 1), Z = Σ_i 1 / log2(i + 1), D_i the distribution of groups among the first
i documents. A prefix of documents that belong to no group says nothing and adds 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from rerankers._base.errors import ConfigError, InputError, choose
from rerankers.measures.definition import Parameter
from rerankers.measures.divergences import kl
from rerankers.measures.group_measure import GROUP, TARGET, RankedGroupMeasure, group_target
from rerankers.measures.memberships import memberships, target_vector
from rerankers.measures.prefixes import Tile, distributions, last, over_prefixes
from rerankers.measures.scores import Scores

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from rerankers.measures.evaluation import Evaluation
    from rerankers.measures.names import Measure

    Floats = NDArray[np.float64]

FORMS = ("published", "fairranktune")
EPSILON = 1e-7
SMOOTHING = Parameter(
    "smoothing",
    float,
    "share of the target that is spread equally over all groups, which keeps the divergence finite; 0 with "
    "target=population, else .001",
    low=0.0,
    high=1.0,
)


def ndkl(
    groups: Sequence[Any] | ArrayLike,
    target: Any = None,
    *,
    smoothing: float = 0.0,
    form: str = "published",
) -> float:
    """Return NDKL of one ranking, in nats, 0 at best.

    Parameters
    ----------
    groups
        of the ranked documents, best first: a label each (None: no group), or weights (n, G).
    target
        the distribution the groups should have: ``{label: share}``, or (G,) in the order of the sorted labels or of
        the columns; divided by its sum. None: that of the whole ranking.
    smoothing
        share of the target that is spread equally over all groups.
    form
        ``published``; ``fairranktune``: 1e-7 is added to every probability, without dividing again, as FairRankTune
        0.0.7 does.

    Raises
    ------
    InputError
        for an empty ranking, shapes that do not fit, and a group in the ranking that the target gives nothing:
        the divergence is infinite there.
    ConfigError
        for another form, and a smoothing outside of 0 to 1.
    """
    choose("form", form, FORMS)
    if not 0.0 <= smoothing <= 1.0:
        raise ConfigError(f"smoothing: found {smoothing}; expected a share from 0 to 1")
    weight, names = memberships(groups, target)
    if not weight.any():
        raise InputError.one("groups", "no document of any group", "at least one")
    own = distributions(weight.sum(axis=0))
    aim = smoothed(own if target is None else target_vector(target, names), smoothing)
    prefix = distributions(np.cumsum(weight, axis=0))
    if form == "fairranktune":
        apart = ((prefix + EPSILON) * np.log((prefix + EPSILON) / (aim + EPSILON))).sum(axis=-1)
    else:
        apart = kl(prefix, aim)
    if not np.all(np.isfinite(apart)):
        missing = [str(name) for name, share, ranked in zip(names, aim, own, strict=True) if share == 0 < ranked]
        raise InputError.one(
            "target", f"nothing for {', '.join(missing)}, which is ranked", "a share for every ranked group",
            mend="The divergence is infinite there: give it a share, or smoothing=0.001.",
        )  # fmt: skip
    discount = 1.0 / np.log2(np.arange(len(weight)) + 2.0)
    return float(np.sum(discount * apart) / np.sum(discount))


def smoothed(target: Floats, share: float) -> Floats:
    """Return (1 - share) target + share / G."""
    spread: Floats = (1.0 - share) * target + share / target.shape[-1]
    return spread


class NDKL(RankedGroupMeasure):
    """NDKL averaged over the rankings of a policy."""

    name = "NDKL"
    description = (
        "normalised discounted KL divergence of the groups in every prefix from a target, averaged over rankings; "
        "0 is best, in nats (Geyik et al. 2019)"
    )
    parameters = (GROUP, TARGET, SMOOTHING)

    @classmethod
    def of_groups(cls, measure: Measure, evaluation: Evaluation, attribute: str) -> Scores:
        """Return the discounted mean over prefixes; rankings without documents count 0 among others."""
        word = str(measure.get("target"))
        aim, known = group_target(evaluation, attribute, word)
        given = measure.get("smoothing")
        share = float(given) if given is not None else (0.0 if word == "population" else 1e-3)
        aim = smoothed(aim, share)

        def value(tile: Tile, totals: Floats) -> Floats:
            apart = kl(distributions(totals), aim[tile.row][:, np.newaxis])
            discount = tile.valid / np.log2(np.arange(tile.valid.shape[1]) + 2.0)
            return last(discount * apart) / np.maximum(last(discount), 1e-300)

        mean, filled = over_prefixes(evaluation, attribute, measure.cutoff, value)
        return Scores.of(
            np.where(np.isfinite(mean), mean, np.nan),
            ("query_not_judged", ~evaluation.query_judged),
            ("no_ranked_document", ~filled),
            ("no_relevant_document" if word == "relevant" else "no_groups", ~known),
            ("no_groups", ~np.isfinite(mean)),
        )
