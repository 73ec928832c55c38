"""Fair reranking of the original query on the axes on which recommended queries are judged.

A recommendation has to be clicked; until then a user sees the results of what was typed. A reranking is what everybody
gets. Both are put on the same axes here: the objectives of a recommended query come from the weights of its ranks,
those of a reranking, which may be random, from the exact expected weight of each document under the same weights of
ranks. Balance is not linear in the ranking, so there are two numbers: how close the *expected* distribution is to the
target (what all users together see) and the expectation of how close a *single* ranking is (what each user sees).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from rerankers.queries.axis_scores import Axis
from rerankers.queries.looks import Look
from rerankers.queries.rerankings import AlternativeOptions, rerankings
from rerankers.queries.scored import RELEVANCE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Lists = Sequence[NDArray[np.int64]]

NDCG_DEPTH: Final = 10
NEAR: Final = 1e-6
"""Values of closeness this near to the highest one are as high: several methods reach a target but for rounding."""


@dataclass(frozen=True, slots=True, eq=False)
class Judge:
    """What lists and policies of a topic are judged by.

    Attributes
    ----------
    original
        int (m,), documents of the original query, best first.
    axes
        of balance.
    by_rank
        float64 (n,), weights of ranks; n documents count.
    relevance
        lists -> their relevance to the original's first n documents, float64 (lists,), such as cosine F1; None: the
        F1 of document ids, whose expectation is known in closed form.
    judgments
        int (j,), int (j,): judged documents of the topic and their grades; None without any.
    """

    original: NDArray[np.integer]
    axes: Sequence[Axis]
    by_rank: Floats
    relevance: Callable[[Lists], Floats] | None = None
    judgments: tuple[NDArray[np.integer], NDArray[np.integer]] | None = None

    @property
    def n(self) -> int:
        """How many ranks count."""
        return len(self.by_rank)

    def score(self, look: Look) -> dict[str, Any]:
        """Return where a list or policy stands.

        Returns
        -------
        dict
            ``objectives``: `RELEVANCE` and each axis, of expected weights, None where not defined, with ``reasons``;
            ``single``: axis -> the mean closeness of a single ranking, and ``standard_errors`` of what was drawn;
            ``distribution`` and ``unknown_share`` by axis; ``judged`` (`expected_judged`); ``exact``.
        """
        lists = look.lists(self.n)
        value, error = self._relevance(look, lists)
        objectives: dict[str, float | None] = {RELEVANCE: value}
        errors = {} if error is None else {RELEVANCE: error}
        out: dict[str, Any] = {"reasons": {}, "single": {}, "distribution": {}, "unknown_share": {}}
        weights = look.weights(self.by_rank)
        for axis in self.axes:
            stand = axis.stand(look.docs, weights)
            objectives[axis.name] = stand.closeness
            out["distribution"][axis.name], out["unknown_share"][axis.name] = stand.distribution, stand.unknown_share
            if stand.reason:
                out["reasons"][axis.name] = stand.reason
            out["single"][axis.name], spread = _mean(axis.stands(lists, self.by_rank))
            if spread is not None and len(lists) > 1:
                errors[axis.name] = spread
        judged = {} if self.judgments is None else expected_judged(look, *self.judgments, self.n)
        return {"objectives": objectives, "standard_errors": errors, **out, "judged": judged, "exact": look.exact}

    def _relevance(self, look: Look, lists: Lists) -> tuple[float | None, float | None]:
        if self.relevance is not None:
            mean, error = _mean(self.relevance(lists))
            return mean, error if len(lists) > 1 else None
        mine, seen = self.original[: self.n], look.weights(np.ones(self.n))
        kept, shown = float(seen[np.isin(look.docs, mine)].sum()), float(seen.sum())
        # every list of a policy is as long as the policy can make it, so the F1 is linear in who is included
        return (2.0 * kept / (len(mine) + shown) if kept else 0.0), None


def expected_judged(
    look: Look, docs: NDArray[np.integer], grades: NDArray[np.integer], n: int
) -> dict[str, float | None]:
    """Return measures against judgments: linear in the weights of documents, so exact where those are.

    Parameters
    ----------
    look
        a list or a policy.
    docs, grades
        int (j,), the judged documents and their grades; negative ones count as 0.
    n
        depth of recall.

    Returns
    -------
    dict
        ``nDCG@10``: gain = grade, discount 1 / log2(rank + 1), over that of the judged documents in their best order
        (Järvelin and Kekäläinen 2002), None without a relevant document; ``R@n``: the share of relevant documents
        that is among the first n, likewise; ``unjudged@10``: the share of documents without a judgment among those
        shown in the first ten, None where nothing is shown. All are expectations over the rankings of a policy.
    """
    known = {int(doc): max(int(grade), 0) for doc, grade in zip(docs, grades, strict=True)}
    gain = np.array([known.get(doc, 0) for doc in look.docs.tolist()], dtype=np.float64)
    unjudged = np.array([doc not in known for doc in look.docs.tolist()], dtype=bool)
    best = np.sort(np.array(list(known.values()), dtype=np.float64))[::-1]
    relevant = int((best > 0).sum())
    discount = 1.0 / np.log2(np.arange(NDCG_DEPTH) + 2.0)
    ideal = float(best[:NDCG_DEPTH] @ discount[: len(best[:NDCG_DEPTH])])
    shown = look.weights(np.ones(NDCG_DEPTH))
    found = float(look.weights(np.ones(n))[gain > 0].sum())
    return {
        f"nDCG@{NDCG_DEPTH}": float(look.weights(discount) @ gain) / ideal if ideal else None,
        f"R@{n}": found / relevant if relevant else None,
        f"unjudged@{NDCG_DEPTH}": float(shown[unjudged].sum() / shown.sum()) if shown.sum() > 0 else None,
    }


def alternatives(
    topic: str,
    docs: NDArray[np.integer],
    scores: Floats,
    judge: Judge,
    options: AlternativeOptions,
    aims: Sequence[Axis] | None = None,
) -> list[dict[str, Any]]:
    """Rerank the original query of a topic and judge what comes out.

    Parameters
    ----------
    topic
        its id.
    docs, scores
        int (m,), float64 (m,), candidates of the first stage for the original query, best first.
    judge
        what results are judged by; with held-out weights, targets or lists for an independent evaluation.
    options
        the methods, and the ranks that they aim at.
    aims
        the axes that they aim at; None: those of the judge.

    Returns
    -------
    list of dict
        JSON-ready, in the order of the methods: ``name``, ``axis`` (whose groups the method took), ``needs_click``
        (False), ``counts``, and what `Judge.score` returns. Nothing at all without candidates.

    Raises
    ------
    ConfigError, InputError
        as the methods.
    """
    if not len(docs):
        return []
    found = rerankings(topic, docs, scores, judge.axes if aims is None else aims, options)
    return [
        {"name": one.name, "axis": one.axis, "needs_click": False, "counts": one.counts, **judge.score(one.look)}
        for one in found
    ]


def best_on(axis: str, found: Sequence[Mapping[str, Any]]) -> int | None:
    """Return the place of the alternative nearest to the target of an axis (`closest`), None without any."""
    return closest([(one["objectives"].get(axis), one["objectives"].get(RELEVANCE)) for one in found])


def closest(values: Sequence[tuple[float | None, float | None]]) -> int | None:
    """Return the place of the pair (closeness, relevance) that is closest, None where none has a closeness.

    Of those that are as close as the closest one but for `NEAR` it is the most relevant one, and of equal ones the
    first.
    """
    known = [(near, relevance or 0.0, -place) for place, (near, relevance) in enumerate(values) if near is not None]
    if not known:
        return None
    least = max(known)[0] - NEAR
    return -max((relevance, place) for near, relevance, place in known if near >= least)[1]


def _mean(values: Floats) -> tuple[float | None, float | None]:
    """Return the mean and its standard error over the values that there are; no error for fewer than two."""
    present = values[~np.isnan(values)]
    if not len(present):
        return None, None
    error = float(present.std(ddof=1) / np.sqrt(len(present))) if len(present) > 1 else None
    return float(present.mean()), error
