"""TExFAIR of texts: how exposure is shared among the words of groups, discounted by how much of it meets any of them.

As we read the paper (Abolghasemi et al. 2024, arXiv 2403.05975), whose code is not public; the last line is from its
text:

    po(r)   = p(r) / Σ_{j≤n} p(j), p(r) = 1/log2(1+r)
    TE(t)   = Σ_r po(r) tf(t, d_r) / |d_r|                      (an empty document adds 0)
    share_g = Σ_{t in V_g} TE(t) / Σ_x Σ_{t in V_x} TE(t)
    TED     = Σ_g |share_g - J_g|
    RBDF    = Σ of po(r) over documents with a word of any group
    TExFAIR = 1 - TED · RBDF                                    (no such word at all: TED 0, TExFAIR 1)

A long neutral text hides one gendered sentence, and a list with one gendered document at its end scores high through
RBDF: read TED and RBDF beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from rerankers._base.errors import InputError
from rerankers.measures.presence_lists import depth
from rerankers.measures.scaling import near_one
from rerankers.measures.word_magnitudes import rank_weights, word_sets

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


def texfair(
    texts: Sequence[str],
    words: Mapping[str, Iterable[str]],
    target: Mapping[str, float] | Sequence[float] | None = None,
    k: int | None = 10,
    *,
    tokens: Callable[[str], list[str]] | None = None,
) -> dict[str, Any]:
    """Return TExFAIR of one ranking with its parts.

    Parameters
    ----------
    texts
        (n,), best rank first.
    words
        group -> its words. A word may be of several groups, and counts in each. Compared in lower case, unless
        ``tokens`` is given.
    target
        J, what share of the word exposure each group is due, by name or in the order of ``words``; divided by its sum.
        None for equal shares.
    k
        depth; None for the whole list.
    tokens
        what cuts a text into words; lower case split at white space unless given.

    Returns
    -------
    dict
        ``texfair``, ``TED``, ``RBDF``; ``exposure`` and ``shares`` by group (shares None where there is no word of any
        group); ``lowest``: the smallest value that this target allows, 1 - 2 (1 - min J), 0 for two equal groups and
        otherwise below 0: nothing is clipped; ``empty_documents``; ``reason``: None or ``no_ranked_document``.

    Raises
    ------
    InputError
        for fewer than two groups, a target of other groups or that is not a distribution, and texts that are none.
    """
    if isinstance(texts, str) or not all(isinstance(text, str) for text in texts):
        raise InputError.one("texts", "no list of texts", "a list of texts, best rank first")
    lists = word_sets(words, lower=tokens is None)
    due = target_of(target, tuple(lists))
    n = depth(k, len(texts))
    cut = [(tokens or _at_white_space)(text) for text in texts[:n]]
    table = np.array(
        [[sum(token in known for token in one) / max(len(one), 1) for known in lists.values()] for one in cut]
    ).reshape(n, len(lists))
    out: dict[str, Any] = dict.fromkeys(("texfair", "TED", "RBDF", "exposure", "shares"))
    out |= {"lowest": 2.0 * float(due.min()) - 1.0, "empty_documents": sum(not one for one in cut), "reason": None}
    if n == 0:
        return out | {"reason": "no_ranked_document"}
    weights = rank_weights("nDRaB", n)
    exposure = weights @ table
    seen = weights @ (table > 0).any(axis=1)
    score, ted = (float(one[0]) for one in texfair_of(exposure[np.newaxis], np.array([seen]), due))
    total = exposure.sum()
    shares = dict(zip(lists, (exposure / total).tolist(), strict=True)) if total > 0 else None
    named = dict(zip(lists, exposure.tolist(), strict=True))
    return out | {"texfair": score, "TED": ted, "RBDF": float(seen), "exposure": named, "shares": shares}


def texfair_of(exposure: Floats, seen: Floats, due: Floats) -> tuple[Floats, Floats]:
    """Return TExFAIR and TED, float64 (B,) each, of what one list or many in expectation give.

    Parameters
    ----------
    exposure
        (B, G), word exposure of each group.
    seen
        (B,), RBDF.
    due
        (G,), J, which sums to 1.
    """
    total = exposure.sum(axis=1)
    shares = exposure / np.where(total > 0, total, 1.0)[:, np.newaxis]
    ted = np.where(total > 0, np.abs(shares - due).sum(axis=1), 0.0)
    return 1.0 - ted * seen, ted


def target_of(target: Mapping[str, float] | Sequence[float] | None, groups: tuple[str, ...]) -> Floats:
    """Return what each group is due, float64 (G,), which sums to 1.

    Raises
    ------
    InputError
        for fewer than two groups, and a target of other groups, with negative values or without a positive one.
    """
    if len(groups) < 2:
        raise InputError.one("words", f"the groups {', '.join(groups) or 'none'}", "two groups or more")
    if target is None:
        return np.full(len(groups), 1.0 / len(groups))
    if isinstance(target, Mapping):
        if set(target) != set(groups):
            raise InputError.one(
                "target", f"the groups {', '.join(map(str, target))}", f"the groups {', '.join(groups)}"
            )
        target = [target[group] for group in groups]
    due = np.asarray(target, dtype=np.float64)
    if due.shape != (len(groups),) or not np.all(np.isfinite(due)) or np.any(due < 0) or not np.any(due > 0):
        raise InputError.one("target", str(target), f"{len(groups)} numbers of at least 0 with a positive sum")
    due = near_one(due)
    shares: Floats = due / due.sum()
    return shares


def _at_white_space(text: str) -> list[str]:
    return text.lower().split()
