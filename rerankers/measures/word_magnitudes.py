"""How strongly texts speak of groups, and its means over ranks: RaB, ARaB and nDRaB.

RaB_t is the mean magnitude of the first t documents, ARaB@k the mean of RaB_t over t = 1..n with n = min(k, length)
(Rekabsaz & Schedl 2020), nDRaB@k the mean under the weights 1/log2(1+i) (the released code of 2024, which gives no
value for lists shorter than k; here the documents that are there count and the list is flagged). Magnitudes of words
are as the released code has them: ``tf`` is the logarithm of one plus the sum of all counts, where the paper writes a
sum of logarithms.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from rerankers._base.errors import InputError, choose
from rerankers.measures.presence_lists import GENDERS, arab_weights, depth, finite, log_weights, signed_gap

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]
    OfDocuments = Sequence[Mapping[str, float]] | Sequence[tuple[float, float, float]] | Sequence[float] | NDArray[Any]

KINDS = ("tf", "tc", "bool")
_ROUNDED = 1e-5
"""By how much the first number of a triple may miss the difference: files carry six decimals."""
_SHORT = {"m": "male", "f": "female", "M": "male", "F": "female"}


def rank_weights(measure: str, n: int) -> Floats:
    """Return the weights of ranks 1..n, which sum to 1 for n > 0: ``RaB``, ``ARaB`` or ``nDRaB``."""
    if measure == "RaB":
        return np.full(n, 1.0 / max(n, 1))
    if measure == "ARaB":
        return arab_weights(n)
    weights = log_weights(n)
    return weights / weights.sum() if n else weights


MEASURES = ("RaB", "ARaB", "nDRaB")


def magnitude(counts: ArrayLike, kind: str = "tf") -> Floats:
    """Return the magnitude of numbers of words, of the same shape.

    Parameters
    ----------
    counts
        numbers of at least 0, NaN where not known (and so is the magnitude).
    kind
        ``tc``: the number itself; ``tf``: ln(1 + number); ``bool``: 1 where there is a word.

    Raises
    ------
    InputError
        for negative or infinite numbers.
    ConfigError
        for another kind.
    """
    choose("kind", kind, KINDS)
    number = np.asarray(counts, dtype=np.float64)
    if np.any(number < 0) or np.any(np.isinf(number)):
        raise InputError.one("counts", "a number that is negative or infinite", "numbers of words, at least 0")
    if kind == "bool":
        return np.where(np.isnan(number), np.nan, (number > 0).astype(np.float64))
    return np.log1p(number) if kind == "tf" else number


def magnitudes(
    documents: Sequence[str] | Mapping[str, Sequence[float]] | Sequence[Mapping[str, float]],
    kind: str = "tf",
    words: Mapping[str, Iterable[str]] | None = None,
    *,
    tokens: Callable[[str], list[str]] | None = None,
) -> dict[str, Floats]:
    """Return group -> magnitude of every document, float64 (n,).

    Parameters
    ----------
    documents
        texts, best rank first; or counts: group -> one number a document, or one ``{group: number}`` a document.
    kind
        as of `magnitude`.
    words
        group -> its words, needed for texts. A word may be of several groups. Compared in lower case, unless ``tokens``
        is given: then they are as these cut them.
    tokens
        what cuts a text into words; lower case split at single blanks unless given, as the released code does, which
        misses words beside punctuation.

    Raises
    ------
    InputError
        for texts without words, and counts that are no numbers of at least 0 or not of the same groups everywhere.
    """
    if isinstance(documents, Mapping):
        counts = {group: np.asarray(values, dtype=np.float64) for group, values in documents.items()}
        if len({values.shape for values in counts.values()}) > 1:
            raise InputError.one("documents", "groups of different lengths", "one number a document for every group")
    elif all(isinstance(one, Mapping) for one in documents):
        rows = cast("Sequence[Mapping[str, float]]", documents)
        names = list(rows[0]) if rows else list(words or GENDERS)
        if any(set(row) != set(names) for row in rows):
            raise InputError.one("documents", "counts of other groups", f"counts of {', '.join(names)} everywhere")
        counts = {name: np.array([float(row[name]) for row in rows], dtype=np.float64) for name in names}
    else:
        counts = _counted(documents, words, tokens)
    return {_SHORT.get(group, group): magnitude(values, kind) for group, values in counts.items()}


def arab(magnitudes: Mapping[str, Sequence[float]] | OfDocuments, k: int | None) -> dict[str, Any]:
    """Return RaB@k, ARaB@k and nDRaB@k of one ranking.

    Parameters
    ----------
    magnitudes
        group -> magnitude of every document, best rank first, as `magnitudes` returns them; or one mapping a document;
        or one triple a document as the released code stores them, (female minus male, female, male); or one number a
        document, for the means of that. ``m`` and ``f`` are short for male and female.
    k
        depth; None for the whole list.

    Returns
    -------
    dict
        ``RaB``, ``ARaB`` and ``nDRaB``, each a dict with the value of every group, ``gap``: the largest minus the
        smallest, and for the groups male and female ``delta``: male minus female, and ``triple``: (female minus male,
        female, male), the order and sign of the released code by document, which it turns in its last table; numbers
        where one number a document was given; ``documents``: how many counted; ``short``: whether these are fewer than
        k; ``reason``: None, or ``no_ranked_document``, where the values are None.

    Raises
    ------
    InputError
        for fewer than two groups, lengths that differ, magnitudes that are not finite numbers below 1e150, and triples
        whose first number is not the second minus the third.
    """
    single = not isinstance(magnitudes, Mapping) and len(magnitudes) > 0 and all(map(_is_number, magnitudes))
    names, table = ([""], finite("magnitudes", cast("Any", magnitudes))[np.newaxis]) if single else _table(magnitudes)
    n = depth(k, table.shape[1])
    out: dict[str, Any] = {}
    for measure in MEASURES:
        mean = (table[:, :n] @ rank_weights(measure, n)).tolist() if n else [None] * len(names)
        out[measure] = mean[0] if single else _compared(dict(zip(names, mean, strict=True)))
    return out | {
        "documents": n,
        "short": k is not None and n < k,
        "reason": None if n else "no_ranked_document",
    }


def _is_number(value: object) -> bool:
    return isinstance(value, int | float | np.integer | np.floating)


def _compared(mean: dict[str, Any]) -> dict[str, Any]:
    """Return the means of the groups with their differences, None where they are."""
    there = None not in mean.values()
    out = {**mean, "gap": max(mean.values()) - min(mean.values()) if there else None}
    if set(mean) == set(GENDERS):
        delta = signed_gap(mean) if there else None
        out |= {"delta": delta, "triple": None if delta is None else (-delta, mean["female"], mean["male"])}
    return out


def _table(given: Any) -> tuple[list[str], Floats]:
    if not isinstance(given, Mapping):
        triples = len(given) > 0 and all(np.shape(one) == (3,) and not isinstance(one, Mapping) for one in given)
        given = _of_triples(given) if triples else magnitudes(given, "tc")
    names = [_SHORT.get(name, name) for name in given]
    rows = [finite(f"magnitudes, {name}", values) for name, values in given.items()]
    if len(set(names)) < 2 or len(set(names)) < len(names):
        raise InputError.one("magnitudes", f"the groups {', '.join(names) or 'none'}", "two different groups or more")
    if len({len(row) for row in rows}) > 1:
        raise InputError.one("magnitudes", "groups of different lengths", "one magnitude a document for every group")
    return names, np.stack(rows)


def _of_triples(given: Any) -> dict[str, Floats]:
    """Return the magnitudes of the genders; InputError where a triple is of another order."""
    apart, female, male = np.asarray(given, dtype=np.float64).T
    wrong = np.flatnonzero(
        ~(np.abs(apart - (female - male)) <= _ROUNDED * np.maximum(1.0, np.abs(female) + np.abs(male)))
    )
    if len(wrong):
        one = int(wrong[0])
        raise InputError.one(
            f"magnitudes, document {one + 1}",
            str(tuple(float(value) for value in given[one])),
            "(female minus male, female, male)",
        )
    return {"male": male, "female": female}


def _counted(
    texts: Sequence[Any], words: Mapping[str, Iterable[str]] | None, tokens: Callable[[str], list[str]] | None
) -> dict[str, Floats]:
    if isinstance(texts, str) or not all(isinstance(one, str) for one in texts):
        raise InputError.one("documents", "neither texts nor counts", "a list of texts, or counts by group")
    if words is None:
        raise InputError.one("words", "None", "group -> words, for texts")
    lists = word_sets(words, lower=tokens is None)
    cut = [(tokens or _at_blanks)(text) for text in texts]
    return {
        group: np.array([sum(token in known for token in one) for one in cut], dtype=np.float64)
        for group, known in lists.items()
    }


def word_sets(words: Mapping[str, Iterable[str]], lower: bool) -> dict[str, frozenset[str]]:
    """Return group -> its words, in lower case where they are compared so.

    Raises
    ------
    InputError
        for words that are not listed by group.
    """
    if not isinstance(words, Mapping):
        raise InputError.one("words", f"a {type(words).__name__}", "group -> its words")
    out = {}
    for group, listed in words.items():
        found = [] if isinstance(listed, str) else list(listed)
        if isinstance(listed, str) or not all(isinstance(word, str) for word in found):
            raise InputError.one(f"words, {group}", repr(listed), "a list of words")
        out[group] = frozenset(word.lower() if lower else word for word in found)
    return out


def _at_blanks(text: str) -> list[str]:
    return text.lower().split(" ")
