r"""Relevant documents that a user who comes n times never meets among the first k ranks.

Independent draws leave a document of inclusion probability \pi = P(rank < k) unseen with probability (1 - \pi)^n. \pi
is the exposure under `TopKSet`, exact wherever a policy has a closed form. From S draws, x of which show the document,
(S - x over n) / (S over n) is unbiased; the plug-in (1 - x / S)^n is too small for rare documents. Rankings that are
served in rotation are no independent draws: there, the beginnings are counted from which n rankings in a row miss it.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from rerankers.exposure.browsing import TopKSet
from rerankers.exposure.rows import buckets
from rerankers.measures import over_draws
from rerankers.measures.definition import Definition, Parameter
from rerankers.measures.group_share import ATTRIBUTE, attribute_of, cell_of, members
from rerankers.measures.scores import Scores

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.measures.evaluation import Evaluation
    from rerankers.measures.names import Measure
    from rerankers.values import Rankings

INDEPENDENT, ROTATION = "independent", "rotation"
PARAMETERS = (
    Parameter("n", int, "impressions: how often a user comes", default=10, low=1, high=2**31 - 1),
    Parameter(
        "served",
        str,
        "independent draws, or the drawn rankings in turn from any of them on",
        default=INDEPENDENT,
        choices=(INDEPENDENT, ROTATION),
    ),
    Parameter("rel", int, "the lowest grade that counts as relevant", default=1, low=1, high=2**15 - 1),
    ATTRIBUTE,
    Parameter("cell", str, "group whose relevant documents count, by their weights; all unless given"),
)


class NeverSeen(Definition):
    """The probability that a relevant document is never seen, averaged over the relevant documents."""

    name: ClassVar[str] = "never_seen"
    description = (
        "probability that a relevant document is in none of n rankings among the first k, mean over the relevant "
        "documents, retrieved or not; 0 to 1"
    )
    parameters = PARAMETERS
    cutoff = "required"
    counted: ClassVar[bool] = False

    @classmethod
    def depends_on_groups(cls, given: Collection[str]) -> bool:
        """Whether only the relevant documents of a group count."""
        return not {"group", "cell"}.isdisjoint(given)

    @classmethod
    def per_unit(cls, measure: Measure, evaluation: Evaluation) -> Scores:
        """Return the mean (or expected number) of every query."""
        part = evaluation.grade >= int(measure.get("rel") or 1)
        worth = part.astype(np.float64)
        asked = {"group", "cell"} & dict(measure.params).keys()
        if asked:
            attribute = attribute_of(measure, evaluation)
            if attribute is None:
                return Scores.of(np.full(len(evaluation.over), np.nan), ("no_groups", True))
            worth *= members(evaluation, attribute, cell_of(measure, evaluation, attribute), evaluation.over.doc)
        n, k = int(measure.get("n") or 1), measure.cutoff or 1
        rotation = measure.get("served") == ROTATION
        base = over_draws.before_shuffling(evaluation)
        seen, few = base.once(("missed", n, k, rotation), lambda: _missed(base, n, k, rotation))
        missed = 1.0 - evaluation.universe.spread(seen)
        total, known = evaluation.per_row(worth * missed), evaluation.per_row(worth)
        value = total if cls.counted else total / np.where(known > 0, known, 1.0)
        return Scores.of(
            value,
            ("query_not_judged", ~evaluation.query_judged),
            ("no_relevant_document", known == 0),
            ("too_few_draws", few),
        )


class NeverSeenCount(NeverSeen):
    """The expected number of relevant documents that are never seen."""

    name = "never_seen_count"
    description = "expected number of relevant documents that are in none of n rankings among the first k"
    counted = True


def _missed(evaluation: Evaluation, n: int, k: int, rotation: bool) -> tuple[NDArray[np.float64], bool]:
    """Return the probability that each candidate is seen at all, float64 (nnz,), and whether draws are too few."""
    if rotation:
        return 1.0 - missed_in_rotation(evaluation.draws, n, k), False
    exposure = evaluation.candidate_exposure(TopKSet(k))
    inclusion = np.clip(exposure.value, 0.0, 1.0)
    if not evaluation.estimated(TopKSet(k)) or evaluation.options.force_draws:
        with np.errstate(divide="ignore"):
            seen: NDArray[np.float64] = -np.expm1(n * np.log1p(-inclusion))
        return seen, False
    draws = evaluation.options.samples
    left = draws - np.rint(inclusion * draws).astype(np.int64)
    return 1.0 - unseen_by_sample(draws, n)[left], draws < n


def unseen_by_sample(draws: int, n: int) -> NDArray[np.float64]:
    """Return (m over n) / (draws over n) for m = 0 … draws, float64 (draws + 1,); 0 for m < n."""
    ratio = np.zeros(draws + 1)
    if n <= draws:
        m = np.arange(draws, n, -1, dtype=np.float64)
        ratio[n:] = np.concatenate([[1.0], np.cumprod((m - n) / m)])[::-1]
    return ratio


def missed_in_rotation(rankings: Rankings, n: int, k: int) -> NDArray[np.float64]:
    """Return the probability that n rankings in a row, from one that is drawn by weight, miss each document.

    Parameters
    ----------
    rankings
        in the order in which they are served, the first after the last.
    n, k
        rankings, and how many of their ranks are looked at.

    Returns
    -------
    float64 (over.nnz,); 1 in rows without rankings.
    """
    over, counts = rankings.over, rankings.counts
    top = rankings.rank < k
    ranking = rankings.ranking_of_item[top]
    pair, turn = rankings.flat[top], ranking - rankings.query_ptr[rankings.row_of_ranking[ranking]]
    order = np.lexsort((turn, pair))
    pair, turn = pair[order], turn[order]
    size = counts[over.row_index[pair]]
    # Between one showing and the next lie gap - 1 rankings without it: the first gap - n of them begin n misses.
    first = np.flatnonzero(np.diff(pair, prepend=-1))
    last = np.append(first[1:], len(pair)) - 1
    after = np.empty(len(pair), dtype=np.int64)
    after[:-1] = turn[1:]
    after[last] = turn[first] + size[first]
    starts = np.clip(after - turn - n, 0, None)
    upto, base = _upto(rankings), rankings.query_ptr[over.row_index[pair]] + over.row_index[pair]
    stop = turn + 1 + starts  # of the rankings that begin a miss, which may go on from the beginning
    wrapped = stop > size
    missed = upto[base + np.where(wrapped, size, stop)] - upto[base + turn + 1]
    missed += np.where(wrapped, upto[base + np.where(wrapped, stop - size, 0)], 0.0)
    out = np.ones(over.nnz)
    out[pair[first]] = 0.0
    np.add.at(out, pair, missed)
    return np.clip(out, 0.0, 1.0)


def _upto(rankings: Rankings) -> NDArray[np.float64]:
    """Return the sums of weights before each ranking of a row, and of all of them: float64 (R + B,)."""
    upto = np.zeros(len(rankings) + len(rankings.over))
    for count, rows in buckets(rankings.counts):
        start = rankings.query_ptr[rows][:, None]
        place = start + rows[:, None] + 1 + np.arange(count)
        upto[place] = np.cumsum(rankings.weight[start + np.arange(count)], axis=1)
    return upto
