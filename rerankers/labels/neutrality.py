"""Neutrality of a document: how evenly its words speak of the groups."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.errors import InputError
from rerankers.measures.word_magnitudes import magnitudes

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


class NeutralityWarning(UserWarning):
    """Neutralities are below 0, since the target is not uniform or there are more than two groups."""


def neutrality(
    counts: ArrayLike, tau: float = 1, target: Sequence[float] | None = None, clip: bool = False
) -> NDArray[np.float64]:
    r"""Return the neutrality of documents (Rekabsaz, Kopeinik & Schedl 2021).

    .. math:: n(d) = 1 - \sum_g |m_g / M - J_g| \text{ if } M = \sum_g m_g > \tau, \text{ else } 1

    Parameters
    ----------
    counts
        (n, G), words of each group in each document, at least 0.
    tau
        documents with no more gendered words than this are neutral, whatever these are.
    target
        J, shares of the groups, which sum to 1; None for equal shares.
    clip
        raise values below 0 to 0.

    Returns
    -------
    float64 (n,)
        In [0, 1] for two groups and equal shares. For other targets or more groups it can fall to
        1 - 2 (1 - min J), below 0: then a warning is given, unless ``clip``.

    Raises
    ------
    InputError
        for another shape, counts that are negative or not finite, or a target that is no distribution over G groups.
    """
    table = np.asarray(counts, dtype=np.float64)
    if table.ndim != 2 or table.shape[1] < 1:
        raise InputError.one("counts", f"shape {table.shape}", "(documents, groups)")
    if not np.all(np.isfinite(table)) or np.any(table < 0):
        raise InputError.one("counts", "a negative or non-finite number", "numbers of words, at least 0")
    shares = target_shares(table.shape[1], target)
    total = table.sum(axis=1)
    apart = np.abs(table / np.where(total > 0, total, 1)[:, np.newaxis] - shares).sum(axis=1)
    found: NDArray[np.float64] = np.where(total > tau, 1 - apart, 1.0)
    if clip:
        return np.maximum(found, 0.0)
    below = int(np.sum(found < 0))
    if below:
        text = f"{below} neutralities are below 0, for the target is not uniform over two groups"
        warnings.warn(text, NeutralityWarning, stacklevel=2)
    return found


def neutralities(
    texts: Sequence[str],
    words: Mapping[str, Iterable[str]],
    tau: float = 1,
    target: Mapping[str, float] | Sequence[float] | None = None,
    clip: bool = False,
    *,
    tokens: Callable[[str], list[str]] | None = None,
) -> NDArray[np.float64]:
    """Return the neutrality of texts by counting words, as `neutrality` does of counts.

    Parameters
    ----------
    texts
        n texts.
    words
        group -> its words; in each group that lists it, a word counts.
    tau, target, clip
        as of `neutrality`; the target by name or in the order of ``words``.
    tokens
        what cuts a text into words; lower case split at single blanks unless given, as the released code does.

    Returns
    -------
    float64 (n,)

    Raises
    ------
    InputError
        as of `neutrality` and `rerankers.measures.magnitudes`, and for a target of other groups.
    """
    if isinstance(target, Mapping):
        if set(target) != set(words):
            raise InputError.one("target", f"the groups {', '.join(target)}", f"the groups {', '.join(words)}")
        target = [target[group] for group in words]
    counts = magnitudes(texts, "tc", words, tokens=tokens)
    return neutrality(np.stack(list(counts.values()), axis=1), tau, target, clip)


def target_shares(groups: int, target: Sequence[float] | None = None) -> NDArray[np.float64]:
    """Return the target, float64 (G,): equal shares where none is given; `InputError` for no distribution."""
    if target is None:
        return np.full(groups, 1 / groups)
    shares = np.asarray(target, dtype=np.float64)
    if shares.shape != (groups,):
        raise InputError.one("target", f"shape {shares.shape}", f"a share for each of {groups} groups")
    if not np.all(np.isfinite(shares)) or np.any(shares < 0) or abs(float(shares.sum()) - 1) > 1e-9:
        raise InputError.one("target", f"{shares.tolist()}", "shares of at least 0 that sum to 1")
    return shares
