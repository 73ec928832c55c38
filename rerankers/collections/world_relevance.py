"""Which documents are relevant to which topics: probabilities by a stated law, and grades drawn from them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rerankers._base.streams import query_streams, stream_key, uniforms

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from rerankers.collections.world import Profile
    from rerankers.collections.world_topics import Needs

SLOPE = 12.0
QUALITY = 0.7
FLOOR = 0.01
_BISECTIONS = 80
_GRADES = (1, 2, 3)


class Pairs(NamedTuple):
    """(topic, document) pairs that share a theme: int64, int64, float64 (m,) with their log odds up to a constant."""

    topic: NDArray[np.int64]
    doc: NDArray[np.int64]
    score: NDArray[np.float64]


def related(needs: Needs, profile: Profile) -> Pairs:
    """Return the documents of a block that share a theme with a topic.

    The score is `SLOPE` · a + `QUALITY` · quality with the affinity a = Σ_k sqrt(q_k θ_k) of the topic's shares q and
    the document's θ over themes k (Bhattacharyya's coefficient: 1 where they are equal, 0 where nothing is shared).
    """
    facet_theme, facet_share = needs.themes.ravel(), needs.shares.ravel()
    order = np.argsort(facet_theme, kind="stable")
    themes = profile.themes.ravel()
    low, high = (np.searchsorted(facet_theme[order], themes, side=side) for side in ("left", "right"))
    counts = high - low
    slot = np.repeat(np.arange(len(themes)), counts)
    facet = order[np.repeat(low - (np.cumsum(counts) - counts), counts) + np.arange(int(counts.sum()))]
    width = themes.size // len(profile.themes)
    key = facet // needs.themes.shape[1] * len(profile.themes) + slot // width
    pair, where = np.unique(key, return_inverse=True)
    affinity = np.bincount(
        where, weights=np.sqrt(facet_share[facet] * profile.shares.ravel()[slot]), minlength=len(pair)
    )
    topic, row = np.divmod(pair, len(profile.themes))
    return Pairs(topic, profile.first + row, SLOPE * affinity + QUALITY * profile.quality[row])


def relevance_probability(
    score: NDArray[np.float64], is_source: NDArray[np.bool_], indptr: NDArray[np.int64], relevant: float
) -> NDArray[np.float64]:
    """Turn scores into probabilities that sum to ``relevant`` a topic.

    ρ = 1 for the source; else ρ = σ(score - c_t), where c_t makes Σρ of the topic, source included, equal to
    min(``relevant``, (n_t + 1) / 2) with n_t pairs; then ρ below `FLOOR` becomes 0.

    Parameters
    ----------
    score, is_source
        (m,), pairs by topic.
    indptr
        int64 (T + 1,), topic t has the pairs indptr[t]:indptr[t + 1], at least one.
    relevant
        expected number of relevant documents a topic, at least 1.

    Returns
    -------
    float64 (m,)
        0, or from `FLOOR` to 1.
    """
    lengths = np.diff(indptr)
    wanted = np.minimum(relevant, (lengths + 1) / 2) - 1.0
    low = np.minimum.reduceat(score, indptr[:-1]) - 40.0
    high = np.maximum.reduceat(score, indptr[:-1]) + 40.0
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        total = np.add.reduceat(_odds(score, middle, lengths, is_source), indptr[:-1])
        too_many = total > wanted
        low, high = np.where(too_many, middle, low), np.where(too_many, high, middle)
    probability = _odds(score, high, lengths, is_source)
    probability[probability < FLOOR] = 0.0
    probability[is_source] = 1.0
    return probability


def _odds(
    score: NDArray[np.float64], shift: NDArray[np.float64], lengths: NDArray[np.int64], is_source: NDArray[np.bool_]
) -> NDArray[np.float64]:
    probability = 1.0 / (1.0 + np.exp(np.clip(np.repeat(shift, lengths) - score, -500.0, 500.0)))
    probability[is_source] = 0.0
    return probability


def grade_probability(probability: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the probability of grades 0 to 3, float64 (m, 4), from P(grade ≥ g) = 2 (ρ/2)^g."""
    half = probability / 2.0
    return np.column_stack([1.0 - probability, *(2.0 * half**g * (1.0 - half) for g in _GRADES[:-1]), 2.0 * half**3])


def draw_grades(
    probability: NDArray[np.float64],
    indptr: NDArray[np.int64],
    topics: Sequence[str],
    seed: int,
    correlation: float = 0.0,
    first: int = 0,
    draws: int = 1,
) -> NDArray[np.int16]:
    """Draw grades of pairs: draw i is one state of the world in which topics were judged.

    Grade = #{g in 1, 2, 3: u < 2 (ρ/2)^g} with u uniform, hence P(grade ≥ g) = 2 (ρ/2)^g. The u of a topic are
    independent, or (a Gaussian copula with one factor) u_d = Φ(sqrt(c) f + sqrt(1 - c) ε_d) with standard normal f of
    the topic and ε_d of the document: still uniform, so that every marginal probability stays what it is, and
    correlated by c on the normal scale.

    Parameters
    ----------
    probability
        float64 (m,), ρ.
    indptr
        int64 (T + 1,), topic t has the pairs indptr[t]:indptr[t + 1].
    topics
        T names; a topic's draws depend on its name, the seed and the number of the draw alone.
    seed
        of the world.
    correlation
        c, from 0 to below 1.
    first, draws
        which draws: ``first``, ``first`` + 1, …

    Returns
    -------
    int16 (draws, m)
        grades from 0 to 3.
    """
    grades = np.empty((draws, len(probability)), np.int16)
    for stream, start, stop in zip(query_streams(topics), indptr[:-1], indptr[1:], strict=True):
        rho = probability[start:stop]
        u = uniforms(stream_key(seed, stream, "grades"), first, draws, int(stop - start) + 1)
        uniform = u[:, 1:] if correlation == 0 else _with_common_factor(u, correlation)
        grades[:, start:stop] = sum((uniform < 2.0 * (rho / 2.0) ** g).astype(np.int16) for g in _GRADES)
    return grades


def _with_common_factor(u: NDArray[np.float64], correlation: float) -> NDArray[np.float64]:
    from scipy.special import ndtr, ndtri

    normal = np.sqrt(correlation) * ndtri(u[:, :1]) + np.sqrt(1.0 - correlation) * ndtri(u[:, 1:])
    # Φ of a large number rounds to 1, which would not be below a probability of 1.
    uniform: NDArray[np.float64] = np.minimum(ndtr(normal), 1.0 - 2.0**-53)
    return uniform
