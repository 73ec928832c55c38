"""FaiRR and NFaiRR of neutralities: discounted neutrality of a ranking, beside the best a background set allows.

FaiRR@k = Σ_{i≤n} n(d_i) / log2(1+i) with n = min(k, length), IFaiRR@k the same sum over the background's neutralities
in descending order, NFaiRR = FaiRR / IFaiRR (Rekabsaz, Kopeinik & Schedl 2021).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from rerankers._base.errors import InputError, choose
from rerankers.measures.presence_lists import depth, log_weights

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

Neutralities = Sequence[float | None] | Mapping[Any, float | None]
_ROUNDED = 1e-5
"""By how much two values of a document may differ: files carry six decimals."""
FORMS = ("corrected", "official")
MISSING = ("error", "neutral", "drop")


def nfairr(
    neutrality: Neutralities,
    background: Neutralities | Sequence[str],
    k: int | None,
    form: str = "corrected",
    *,
    missing: str = "error",
    clip: bool = False,
) -> dict[str, Any]:
    """Return NFaiRR of one ranking with its parts.

    Parameters
    ----------
    neutrality
        of the ranked documents, best rank first: values, or document -> value. None where there is no value.
    background
        of the set the ideal order is taken from, likewise and in any order; or the ids of documents whose values
        ``neutrality`` has. With ids, documents are told apart by them; else ranked values count as part of the
        background as often as they occur in it.
    k
        depth; None for the whole ranking (and then the whole background for the ideal).
    form
        ``corrected``: the ideal is taken over the background and all that is ranked, whatever k, so that NFaiRR is at
        most 1 for neutralities of at least 0, and the agnostic baseline stops at the size of that set. ``official``:
        the ideal is that of the background alone (NFaiRR exceeds 1 where more neutral documents are ranked that it
        lacks), and the baseline runs to k, however few documents there are.
    missing
        a document without a value: ``error``; ``neutral``: counts as 1, as in the published code; ``drop``: keeps its
        rank and adds nothing, and is not part of the background.
    clip
        whether neutralities are brought into 0 to 1. They leave it for target shares that are not uniform.

    Returns
    -------
    dict
        ``nfairr``, ``fairr``, ``ideal``; ``agnostic``: the mean neutrality of the set times the weights of the ranks,
        as of an order at random, and ``agnostic_nfairr``: the same over the ideal; counts ``outsiders`` (ranked, and
        not in the background), ``missing`` and ``outside_0_1`` (values, before any clipping); ``reason``: None,
        or why nfairr is None: ``no_ranked_document``, ``no_labels`` (no ranked document has a value),
        ``no_neutral_background`` (the ideal is not above 0).

    Raises
    ------
    InputError
        for values that are not finite, documents with two of them, and missing ones under ``error``.
    ConfigError
        for other words.
    """
    choose("form", form, FORMS)
    choose("missing", missing, MISSING)
    ranked, pool = _values("neutrality", neutrality), _values("background", _with_values(background, neutrality))
    n = depth(k, len(ranked))
    given = [value for value in [*(value for _, value in ranked), *(value for _, value in pool)] if value is not None]
    by_id = isinstance(neutrality, Mapping) and pool[:1] != [] and pool[0][0] is not None
    outsiders = _outsiders(ranked, pool, by_id)
    beyond = [ranked[place] for place in outsiders if place >= n and form == "corrected"]
    lacking = sum(value is None for _, value in [*ranked[:n], *pool, *beyond])
    if lacking and missing == "error":
        raise InputError.one(
            "neutrality",
            f"{lacking} documents without a value",
            "a number each",
            mend="Or missing='neutral' or 'drop'.",
        )
    together = [*pool, *(ranked[place] for place in outsiders)] if form == "corrected" else pool
    fill = 1.0 if missing == "neutral" else None
    values: Floats | None = _filled([value for _, value in ranked[:n]], 1.0 if missing == "neutral" else 0.0, clip)
    best = _filled([value for _, value in together if value is not None or fill is not None], 1.0, clip)
    found = {
        "outsiders": len(outsiders),
        "missing": lacking,
        "outside_0_1": sum(not 0.0 <= value <= 1.0 for value in given),
    }
    if fill is None and all(value is None for _, value in ranked[:n]):
        values = None if n else values
    return _record(values, best, depth(k, max(len(best), 1)) if k is None else int(k), form) | found


def _record(values: Floats | None, best: Floats, k: int, form: str) -> dict[str, Any]:
    """Return the parts; ``values`` are those of the ranked documents, None where none of them has one."""
    out: dict[str, Any] = dict.fromkeys(("nfairr", "fairr", "ideal", "agnostic", "agnostic_nfairr", "reason"))
    out["ideal"] = ideal = ideal_fairr(best, k)
    if len(best):
        ranks = k if form == "official" else min(k, len(best))
        out["agnostic"] = float(best.mean()) * float(log_weights(ranks).sum())
    if values is None or len(values) == 0:
        return out | {"reason": "no_labels" if values is None else "no_ranked_document"}
    out["fairr"] = fairr(values)
    defined = ideal > 0 if form == "corrected" else ideal != 0
    if not defined:
        return out | {"reason": "no_neutral_background"}
    agnostic = None if out["agnostic"] is None else out["agnostic"] / ideal
    return out | {"nfairr": out["fairr"] / ideal, "agnostic_nfairr": agnostic}


def fairr(values: Floats) -> float:
    """Return Σ n(d_i) / log2(1+i) of neutralities by rank, float64 (n,)."""
    return float(values @ log_weights(len(values)))


def ideal_fairr(values: Floats, k: int) -> float:
    """Return the largest FaiRR that k of these neutralities can have; all of them where there are fewer."""
    return fairr(np.sort(values)[::-1][:k])


def _values(name: str, given: Any) -> list[tuple[Any, float | None]]:
    """Return (document or None, value) pairs; the values are checked."""
    if isinstance(given, str):
        raise InputError.one(name, f"the text {given!r}", "numbers, or document -> number")
    items = list(given.items()) if isinstance(given, Mapping) else [(None, value) for value in given]
    out = []
    for doc, value in items:
        try:
            number = None if value is None else float(value)
        except (TypeError, ValueError):
            number = math.nan
        if number is not None and not math.isfinite(number):
            raise InputError.one(f"{name}{'' if doc is None else f', {doc}'}", repr(value), "a finite number, or None")
        out.append((doc, number))
    return out


def _with_values(background: Any, neutrality: Neutralities) -> Neutralities:
    """Return document -> value where a background is given by the ids of documents; InputError for two values of one.

    A list is one of ids where it has texts, or whole numbers that are all documents of ``neutrality``.
    """
    if not isinstance(neutrality, Mapping):
        return cast("Neutralities", background)
    if isinstance(background, Mapping):
        for doc in neutrality.keys() & background.keys():
            one, other = neutrality[doc], background[doc]
            if one is not None and other is not None and abs(float(one) - float(other)) > _ROUNDED:
                raise InputError.one(f"background, {doc}", str(other), f"{one}, as in neutrality")
        return background
    listed = list(background)
    if any(isinstance(doc, str) for doc in listed):
        strange = [doc for doc in listed if doc not in neutrality]
        if strange:
            raise InputError.one("background", f"{strange[0]!r}", "documents whose neutrality is given")
    elif not listed or not all(isinstance(doc, int) and doc in neutrality for doc in listed):
        return listed
    return {doc: neutrality[doc] for doc in listed}


def _outsiders(ranked: list[tuple[Any, float | None]], pool: list[tuple[Any, float | None]], by_id: bool) -> list[int]:
    """Return the places of ranked documents that the background lacks."""
    if by_id:
        known = {doc for doc, _ in pool}
        return [place for place, (doc, _) in enumerate(ranked) if doc not in known]
    left = Counter(value for _, value in pool)
    out = []
    for place, (_, value) in enumerate(ranked):
        left[value] -= 1
        if left[value] < 0:
            out.append(place)
    return out


def _filled(values: list[float | None], fill: float, clip: bool) -> Floats:
    vector = np.array([fill if value is None else value for value in values], dtype=np.float64)
    return np.clip(vector, 0.0, 1.0) if clip else vector
