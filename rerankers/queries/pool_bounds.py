"""Overlap of two pools, all documents and relevant ones, with what unjudged documents might change.

RH and RG are the judged-relevant documents of the human and the generated pool, I and U the sizes of their
intersection and union; h, g and b count the unjudged documents that only the human pool, only the generated pool, or
both hold. An unjudged document in one pool can only lower the overlap, and most when it is relevant; one in both
can only raise it. Hence, over all ways of judging them,

* Jaccard lies between I / (U + h + g) and (I + b) / (U + b),
* coverage of the human pool between I / (|RH| + h) and (I + b) / (|RH| + b), of the generated one likewise with g,

and both ends are reached. Were unjudged documents as often relevant as judged ones of their part (r_h, r_g, r_b),
the plug-in estimate (I + b r_b) / (U + h r_h + g r_g + b r_b) would hold. All follows from the definitions by
counting; a test goes through all judgments of small pools.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from rerankers._base.errors import InputError
from rerankers.queries.pools import PoolTally, Sizes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

MEASURES = ("jaccard_all", "cov_h_by_g_all", "cov_g_by_h_all", "jaccard_rel", "cov_h_by_g_rel", "cov_g_by_h_rel")
RELEVANT = MEASURES[3:]


def pool_overlap_bounds(
    human: Iterable[Hashable], generated: Iterable[Hashable], judged: Iterable[Hashable], relevant: Iterable[Hashable]
) -> dict[str, Any]:
    """Return how far two pools overlap, and how far they could once all documents are judged.

    Parameters
    ----------
    human, generated
        document ids of the pools; repeats do not count.
    judged, relevant
        ids of documents with a judgment, and of those judged relevant, which must be judged too. Documents outside
        of the pools are ignored.

    Returns
    -------
    dict, None where a denominator is 0
        ``pool_h``, ``pool_g``, ``pool_both``: numbers of documents. ``jaccard_all``, ``cov_h_by_g_all`` (share of
        the human pool that the generated one holds) and ``cov_g_by_h_all``. ``jaccard_rel``, ``cov_h_by_g_rel`` and
        ``cov_g_by_h_rel``: the same of judged-relevant documents, each with ``…_bounds`` [low, high] and
        ``…_plug_in``. ``unjudged_h``, ``unjudged_g``, ``unjudged_both``: unjudged documents only in the human pool,
        only in the generated one, in both; ``unjudged_share_h`` and ``unjudged_share_g``: of all documents of a
        pool. ``judgments_needed``: how many judgments would settle all of it.

    Raises
    ------
    InputError
        for relevant documents without a judgment.
    """
    pools, known, good = (set(human), set(generated)), set(judged), set(relevant)
    if not good <= known:
        raise InputError.one("relevant", f"{len(good - known)} documents that are not judged", "judged documents only")
    counted = [
        Sizes(*(np.array(size, dtype=np.int64) for size in (len(pool), len(pool & good), len(pool - known))))
        for pool in (*pools, pools[0] & pools[1])
    ]
    tally = PoolTally(*counted)
    out: dict[str, Any] = {"pool_h": len(pools[0]), "pool_g": len(pools[1]), "pool_both": len(pools[0] & pools[1])}
    for name, value in overlaps(tally).items():
        out[name] = told(value)
        if name in RELEVANT:
            out[f"{name}_bounds"] = [told(end) for end in bounds(tally, name)]
            out[f"{name}_plug_in"] = told(plug_in(tally, name))
    h, g, b = unjudged_parts(tally)
    out |= {"unjudged_h": int(h), "unjudged_g": int(g), "unjudged_both": int(b)}
    out |= {name: told(value) for name, value in unjudged_shares(tally).items()}
    return out | {"judgments_needed": int(h + g + b)}


def overlaps(tally: PoolTally) -> dict[str, Floats]:
    """Return the overlaps by name (`MEASURES`), float64 of the tally's shape, NaN where a denominator is 0."""
    out = {}
    for suffix, field in (("all", "all"), ("rel", "relevant")):
        one, two, both = (getattr(sizes, field) for sizes in (tally.human, tally.generated, tally.both))
        out[f"jaccard_{suffix}"] = ratio(both, one + two - both)
        out[f"cov_h_by_g_{suffix}"] = ratio(both, one)
        out[f"cov_g_by_h_{suffix}"] = ratio(both, two)
    return {name: out[name] for name in MEASURES}


def bounds(tally: PoolTally, name: str) -> tuple[Floats, Floats]:
    """Return the least and the largest value that an overlap of relevant documents (`RELEVANT`) can take."""
    whole, only_h, only_g = _parts(tally, name)
    shared, both = tally.both.relevant, tally.both.unjudged
    return ratio(shared, whole + only_h + only_g), ratio(shared + both, whole + both)


def plug_in(tally: PoolTally, name: str) -> Floats:
    """Return an overlap of relevant documents if the unjudged ones of each part are relevant as often as its judged.

    NaN where that is not known: a part holds unjudged documents and not one judged.
    """
    whole, only_h, only_g = _parts(tally, name)
    more = tally.both.unjudged * _rate(tally.both, tally.both.unjudged, None)
    one = only_h * _rate(tally.human, only_h, tally.both)
    two = only_g * _rate(tally.generated, only_g, tally.both)
    return ratio(tally.both.relevant + more, whole + one + two + more)


def unjudged_parts(tally: PoolTally) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return h, g and b: unjudged documents only in the human pool, only in the generated one, in both."""
    both = tally.both.unjudged
    return tally.human.unjudged - both, tally.generated.unjudged - both, both


def unjudged_shares(tally: PoolTally) -> dict[str, Floats]:
    """Return which part of each pool is unjudged, NaN for an empty pool."""
    return {
        "unjudged_share_h": ratio(tally.human.unjudged, tally.human.all),
        "unjudged_share_g": ratio(tally.generated.unjudged, tally.generated.all),
    }


def ratio(part: NDArray[Any], whole: NDArray[Any]) -> Floats:
    """Return part / whole, NaN where the whole is 0 or a part is not known."""
    part, whole = np.asarray(part, dtype=np.float64), np.asarray(whole, dtype=np.float64)
    shape = np.broadcast_shapes(part.shape, whole.shape)
    found: Floats = np.divide(part, whole, out=np.full(shape, np.nan), where=whole != 0)
    return found


def told(value: Any) -> float | None:
    """Return a number as it is reported: None for NaN."""
    return None if np.isnan(value) else float(value)


def _parts(tally: PoolTally, name: str) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return the denominator of judged documents, and the unjudged ones of either pool alone that may add to it."""
    h, g, _ = unjudged_parts(tally)
    one, two = tally.human.relevant, tally.generated.relevant
    none = np.zeros_like(h)
    if name == "jaccard_rel":
        return one + two - tally.both.relevant, h, g
    return (one, h, none) if name == "cov_h_by_g_rel" else (two, none, g)


def _rate(of: Sizes, unjudged: NDArray[np.int64], without: Sizes | None) -> Floats:
    """Return the share of relevant ones among the judged documents of a part, 0 where none of it is unjudged."""
    relevant, judged = of.relevant, of.all - of.unjudged
    if without is not None:
        relevant, judged = relevant - without.relevant, judged - (without.all - without.unjudged)
    found: Floats = np.where(unjudged == 0, 0.0, ratio(relevant, judged))
    return found
