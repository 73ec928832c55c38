r"""Fairness when the same need is asked in different words: the variants of a topic as a source of several rankings.

A user who has the need of topic t types variant v with probability p_v and is shown a ranking drawn from the policy
for v. Let X_g be the exposure of group g in that ranking, E_v its expectation for variant v and E the expectation over
both. The need's expected exposure (Diaz et al. 2020) is E = \sum_v p_v E_v: that, and not the exposure of one chosen
wording, is what the groups receive from the people who have the need. By the law of total variance

    E[X_g^2] = E_g^2 + \sum_v p_v (E_vg - E_g)^2 + \sum_v p_v Var(X_g | v),

its square, the variance *between* variants (who benefits depends on the wording) and the variance *within* the
policies of single variants (who benefits depends on the draw). The loss of the expected exposure against the target T
obeys \sum_v p_v |E_v - T|^2 = |E - T|^2 + between, summed over groups: the mean loss of single wordings overstates
the loss of the need by exactly what the wordings even out.

The variances are those of the variants as they are. As estimates for all the wordings that there might be, they are
too small by the factor 1 - \sum_v p_v^2 (for n equally likely variants: 1 - 1/n); `TopicExposure.between_sample` has it
divided out, which makes sets of different sizes comparable.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.errors import InputError
from rerankers.exposure.rankings import item_exposure
from rerankers.exposure.targets import equal_exposure
from rerankers.measures.over_draws import are_estimates
from rerankers.values import Ragged

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.exposure.browsing import BrowsingModel
    from rerankers.measures.evaluation import Evaluation
    from rerankers.values import Candidates, GroupAlignment, Judgments, Rankings

    Floats = NDArray[np.float64]

_CELLS = 1 << 22  # group totals of rankings held at once: 32 MB


@dataclass(frozen=True, slots=True, eq=False)
class VariantExposure:
    """What the groups of one attribute get from single variants.

    Attributes
    ----------
    expected
        float64 (B, G), the expected exposure of each group under the policy of each variant.
    within
        float64 (B, G), the variance over rankings of that policy; NaN where it would need a second draw.
    noise
        float64 (B, G), the variance of ``expected`` where that is a mean of draws; 0 where it is exact, NaN for a
        single draw. It is taken off squares, which would be too large by it.
    """

    expected: Floats
    within: Floats
    noise: Floats


@dataclass(frozen=True, slots=True, eq=False)
class TopicExposure:
    """What the groups of one attribute get from a topic, over its variants. T topics, G groups.

    Attributes
    ----------
    expected, between, within
        float64 (T, G): the mean over variants, the variance between their policies, the mean variance within them.
    between_sample
        float64 (T, G), ``between`` as an estimate for all wordings; NaN for a topic with one variant.
    target
        float64 (T, G), the group's part of equal expected exposure; NaN for a topic without a relevant document.
    loss, mean_loss
        float64 (T,), the squared distance to the target of the mean over variants, and the mean of the variants'
        own; NaN where there is no target.
    worst
        int64 (T,), the row of the variant with the largest loss (the first of equals), -1 where there is no target.
    worst_loss
        float64 (T,), that loss.
    variants
        int64 (T,), how many.
    """

    expected: Floats
    between: Floats
    within: Floats
    between_sample: Floats
    target: Floats
    loss: Floats
    mean_loss: Floats
    worst: NDArray[np.int64]
    worst_loss: Floats
    variants: NDArray[np.int64]

    @property
    def second_moment(self) -> Floats:
        """float64 (T,), the mean squared exposure of one drawn ranking of one drawn variant, summed over groups."""
        total: Floats = (np.square(self.expected) + self.between + self.within).sum(axis=1)
        return total


def exposure_of_variants(evaluation: Evaluation, attribute: str, model: BrowsingModel) -> VariantExposure:
    """Return what the groups get from each row of an evaluation, whose rows are variants.

    Exact where the policy has a closed form or is a finite mixture; else estimated from its draws, which
    ``noise`` tells.
    """
    alignment, over = evaluation.groups[attribute], evaluation.source.over
    exposure = evaluation.candidate_exposure(model).value
    expected = alignment.totals(over.row_index, over.doc, exposure, len(over))
    rankings, draws = evaluation.rankings, evaluation.options.samples
    drawn = are_estimates(evaluation)
    within = _spread(rankings, evaluation.universe.candidate_grade, model, alignment, expected)
    noise = np.zeros_like(expected)
    if drawn and draws < 2:
        within = np.full_like(within, np.nan)
    elif drawn and evaluation.estimated(model):
        within *= draws / (draws - 1)  # deviations from their own mean
    if evaluation.estimated(model):
        noise = within / draws
    return VariantExposure(expected, within, noise)


def _spread(rankings: Rankings, grade: Floats, model: BrowsingModel, alignment: GroupAlignment, mean: Floats) -> Floats:
    """Return the weighted mean over the rankings of each row of the squared deviation from ``mean``, (B, G)."""
    over = rankings.over
    exposure = item_exposure(rankings, model.bind(grade, over.indptr))
    doc, row = over.doc[rankings.flat], rankings.row_of_ranking
    out = np.zeros_like(mean)
    step = max(1, _CELLS // max(len(alignment.groups), 1))
    for start in range(0, len(rankings), step):
        stop = min(start + step, len(rankings))
        items = slice(int(rankings.item_ptr[start]), int(rankings.item_ptr[stop]))
        ranking = np.repeat(np.arange(stop - start), np.diff(rankings.item_ptr[start : stop + 1]))
        totals = alignment.totals(ranking, doc[items], exposure[items], stop - start)
        deviation = np.square(totals - mean[row[start:stop]]) * rankings.weight[start:stop, None]
        np.add.at(out, row[start:stop], deviation)
    return out


def target_of_topics(
    candidates: Candidates,
    topic: NDArray[np.integer],
    judgments: Judgments,
    topics: int,
    alignment: GroupAlignment,
    model: BrowsingModel,
) -> Floats:
    """Return the groups' parts of equal expected exposure of each topic, float64 (topics, G).

    The documents that count are those that any variant of the topic retrieves and those that are judged for it, so
    that all variants, and all sets of them, are held against one target. NaN for topics without a relevant document.

    Parameters
    ----------
    candidates
        B rows, one a variant.
    topic
        int (B,), the topic of each row.
    judgments
        whose ``query`` is the topic, each topic at most once.
    """
    width = alignment.n_docs
    own = judgments.query[judgments.row_index].astype(np.int64) * width + judgments.doc
    key = np.union1d(topic[candidates.row_index].astype(np.int64) * width + candidates.doc, own)
    grade = np.zeros(len(key))
    grade[np.searchsorted(key, own)] = np.maximum(judgments.grade, 0)
    indptr = np.searchsorted(key, np.arange(topics + 1, dtype=np.int64) * width)
    over = Ragged(np.arange(topics, dtype=np.int32), indptr, (key % max(width, 1)).astype(np.int32))
    exposure = equal_exposure(over.indptr, grade, model.bind(grade, over.indptr))
    target = alignment.totals(over.row_index, over.doc, exposure, topics)
    relevant = np.bincount(over.row_index, weights=grade > 0, minlength=topics) > 0
    return np.where(relevant[:, None], target, np.nan)


def over_variants(found: VariantExposure, topic: NDArray[np.integer], weight: Floats, target: Floats) -> TopicExposure:
    """Return what the groups get from each topic that has a variant.

    Parameters
    ----------
    found
        B variants.
    topic
        int (B,), from 0; every topic below ``len(target)``.
    weight
        float64 (B,), how likely each variant is among those of its topic, above 0; they need not sum to 1.
    target
        float64 (topics, G), NaN for topics without one.

    Returns
    -------
    TopicExposure
        of all topics, in order; those without a variant have NaN everywhere and 0 variants.

    Raises
    ------
    InputError
        for weights that are not positive numbers.
    """
    if not (np.all(np.isfinite(weight)) and np.all(weight > 0)):
        raise InputError.one("weight", "weights that are not positive", "positive numbers, one a variant")
    rows, size = np.asarray(topic, dtype=np.int64), len(target)
    sums = np.bincount(rows, weights=weight, minlength=size)
    share = weight / sums[rows]
    variants = np.bincount(rows, minlength=size).astype(np.int64)
    none = (variants == 0)[:, None]

    def mean(value: Floats) -> Floats:
        out = np.zeros((size, *value.shape[1:]))
        np.add.at(out, rows, value * (share if value.ndim == 1 else share[:, None]))
        return out

    squares = np.bincount(rows, weights=share * share, minlength=size)
    expected = mean(found.expected)
    between = mean(np.square(found.expected - expected[rows])) - mean(found.noise * (1.0 - share[:, None]))
    alone = (variants < 2)[:, None]
    sample = np.where(alone, np.nan, between / np.where(alone, 1.0, 1.0 - squares[:, None]))
    own = np.square(found.expected - target[rows]).sum(axis=1) - found.noise.sum(axis=1)
    worst = np.full(size, -1, dtype=np.int64)
    for row in np.lexsort((np.arange(len(rows)), -own))[::-1]:  # the largest, and of equals the first, is set last
        if not np.isnan(own[row]):
            worst[rows[row]] = row
    noise = np.zeros((size, found.noise.shape[1]))
    np.add.at(noise, rows, found.noise * np.square(share)[:, None])
    loss = np.square(expected - target).sum(axis=1) - noise.sum(axis=1)
    return TopicExposure(
        expected=np.where(none, np.nan, expected),
        between=np.where(none, np.nan, between),
        within=np.where(none, np.nan, mean(found.within)),
        between_sample=sample,
        target=target,
        loss=np.where(none[:, 0], np.nan, loss),
        mean_loss=np.where(none[:, 0], np.nan, mean(own)),
        worst=worst,
        worst_loss=np.where(worst >= 0, np.append(own, np.nan)[worst], np.nan),
        variants=variants,
    )
