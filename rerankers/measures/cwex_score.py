"""CWEx of label lists: how much exposure goes to neutral documents, less how unequal the groups' exposures are.

It measures the presence of groups in what is ranked, not bias: a true list of people may well be of one gender. It is
blind to the direction of the gap, and at α = ½ it equals ½ minus the leading group's share and nothing else, which is
why the components, the signed gap and a sweep over α stand beside it (after arXiv 2506.22372, ICTIR 2025; the paper
states neither α nor a cut-off, both are parameters here).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from rerankers._base.errors import InputError
from rerankers.measures import cwex_bounds
from rerankers.measures.presence_lists import Groups, check_share, depth, log_weights, masses, signed_gap
from rerankers.measures.scaling import near_one

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

ALPHAS = (0.0, 0.25, 0.5, 0.75, 1.0)


def cwex(
    labels: Sequence[str | None],
    alpha: float = 0.5,
    k: int | None = 10,
    *,
    groups: Sequence[str] | None = None,
    relevant: Sequence[bool] | None = None,
) -> dict[str, Any]:
    """Return CWEx of one ranking with its components.

    Rank i weighs 1/log2(1+i); shares are of the weight of the first min(k, n) documents, unlabelled ones included.

    Parameters
    ----------
    labels
        (n,), best rank first: ``neutral``, ``male``, ``female`` or ``N``, ``M``, ``F``; None where not known.
    alpha
        weight of neutrality, from 0 to 1. CWEx lies between alpha - 1 and alpha.
    k
        depth; None for the whole list.
    groups
        names of two groups or more to take the place of male and female; labels are then ``neutral`` or these.
    relevant
        (n,), which documents are judged relevant: only these count then, and shares are of their own weight.

    Returns
    -------
    dict
        ``cwex`` (unlabelled exposure counts for no group); the exposure shares ``neutral``, ``male``, ``female`` (or
        the names of ``groups``) and ``unknown``; ``gap``: male minus female, for other groups the largest minus the
        smallest share; ``spread``: the gap without its sign; ``lo``, ``hi``: what CWEx may be if the unlabelled
        documents had labels (`cwex_bounds`: exact, but for ``hi`` at alpha below ½, which is an upper bound);
        ``present``: CWEx over the groups that occur in ``labels`` only, None where fewer than two do; ``rescaled``:
        CWEx from 0 to 1; ``reason``: None, or why there is no value: ``no_ranked_document`` or
        ``no_relevant_document`` (all of them are None), ``no_labels`` (shares and bounds are there).

    Raises
    ------
    InputError
        for labels that are none of the above, and values out of range.
    """
    alpha, kinds = check_share("alpha", alpha), Groups.of(groups)
    codes = kinds.code(labels)
    n = depth(k, len(codes))
    weights = log_weights(n)
    if relevant is not None:
        flags = np.asarray(relevant, dtype=np.bool_)
        if flags.shape != codes.shape:
            raise InputError.one("relevant", f"shape {flags.shape}", f"one flag a label, ({len(codes)},)")
        weights = np.where(flags[:n], weights, 0.0)
    mass = masses(codes[:n], weights, len(kinds.names))
    if not mass.sum() > 0:
        reason = "no_relevant_document" if n and relevant is not None else "no_ranked_document"
        return _undefined(kinds, reason)
    there = np.isin(np.arange(1, len(kinds.names) + 1), codes)
    return _record(mass / mass.sum(), alpha, kinds, there)


def cwex_sweep(
    labels: Sequence[str | None],
    alphas: Sequence[float] = ALPHAS,
    k: int | None = 10,
    *,
    groups: Sequence[str] | None = None,
    relevant: Sequence[bool] | None = None,
) -> dict[float, float | None]:
    """Return alpha -> CWEx, whose order of two rankings may depend on alpha. Arguments as of `cwex`."""
    return {float(alpha): cwex(labels, alpha, k, groups=groups, relevant=relevant)["cwex"] for alpha in alphas}


def cwex_of_draws(
    rankings: Sequence[Sequence[str | None]],
    weights: Sequence[float] | None = None,
    alpha: float = 0.5,
    k: int | None = 10,
    *,
    groups: Sequence[str] | None = None,
) -> dict[str, float | None]:
    """Return CWEx of a policy in its two forms, which differ since CWEx is not linear.

    Parameters
    ----------
    rankings
        label lists that users meet.
    weights
        how often, at least 0 with a positive sum; equally often for None.
    alpha, k, groups
        as of `cwex`.

    Returns
    -------
    dict
        ``expected``: CWEx of the expected exposures, and ``mean``: the mean of the rankings' values, which is never
        higher where the rankings are equally long; None without any labelled document. Rankings without one are left
        out of the mean.

    Raises
    ------
    InputError
        as of `cwex`, and for weights of another number or sign.
    """
    alpha, kinds = check_share("alpha", alpha), Groups.of(groups)
    often = np.ones(len(rankings)) if weights is None else np.asarray(weights, dtype=np.float64)
    if often.shape != (len(rankings),) or not np.all(np.isfinite(often)) or np.any(often < 0):
        raise InputError.one(
            "weights", f"shape {often.shape}", f"numbers of at least 0, one a ranking ({len(rankings)})"
        )
    total = np.zeros(len(kinds.names) + 2)
    values, counted = 0.0, 0.0
    for one, weight in zip(rankings, near_one(often).tolist(), strict=True):
        codes = kinds.code(one)
        n = depth(k, len(codes))
        mass = masses(codes[:n], log_weights(n), len(kinds.names))
        total += weight * mass
        if weight > 0 and mass[1:].sum() > 0:
            values += weight * _score(mass / mass.sum(), alpha)
            counted += weight
    if counted == 0:
        return {"expected": None, "mean": None}
    return {"expected": _score(total / total.sum(), alpha), "mean": values / counted}


def _score(shares: Floats, alpha: float) -> float:
    return float(cwex_bounds.score(shares[1:2], shares[np.newaxis, 2:], alpha)[0])


def _record(shares: Floats, alpha: float, kinds: Groups, there: NDArray[np.bool_]) -> dict[str, Any]:
    unknown, neutral, groups = shares[:1], shares[1:2], shares[np.newaxis, 2:]
    value = _score(shares, alpha)
    nothing_known = bool(unknown[0] >= 1.0)
    by_name = dict(zip(kinds.names, shares[2:].tolist(), strict=True))
    present = cwex_bounds.score(neutral, np.where(there, groups, np.nan), alpha) if there.sum() > 1 else [None]
    low = cwex_bounds.lowest(neutral, groups, unknown, alpha)[0] if unknown[0] > 0 else value
    high = cwex_bounds.highest(neutral, groups, unknown, alpha)[0] if unknown[0] > 0 else value
    return {
        "cwex": None if nothing_known else value,
        "neutral": float(neutral[0]),
        **by_name,
        "unknown": float(unknown[0]),
        "gap": signed_gap(by_name),
        "spread": float(cwex_bounds.spread(groups)[0]),
        "lo": float(low),
        "hi": float(high),
        "present": None if present[0] is None else float(present[0]),
        "rescaled": None if nothing_known else value + (1.0 - alpha),
        "reason": "no_labels" if nothing_known else None,
    }


def _undefined(kinds: Groups, reason: str) -> dict[str, Any]:
    keys = ("cwex", "neutral", *kinds.names, "unknown", "gap", "spread", "lo", "hi", "present", "rescaled")
    return {**dict.fromkeys(keys), "reason": reason}
