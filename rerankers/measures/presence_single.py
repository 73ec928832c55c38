"""Measures of gender presence by name, of single lists of documents instead of an evaluation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.errors import ConfigError
from rerankers.measures.cwex_pool import ncwex
from rerankers.measures.cwex_score import cwex
from rerankers.measures.names import Measure, parse
from rerankers.measures.neutrality_measures import nfairr
from rerankers.measures.presence_lists import GENDERS, depth
from rerankers.measures.texfair_score import target_of, texfair_of
from rerankers.measures.word_magnitudes import arab, magnitude, rank_weights

if TYPE_CHECKING:
    from numpy.typing import NDArray

DEFAULT = (
    "CWEx@10",
    "CWEx(alpha=0.25)@10",
    "CWEx(alpha=0.75)@10",
    "nCWEx@10",
    "FaiRR@10",
    "NFaiRR@10",
    "RaB@10",
    "ARaB@10",
    "nDRaB@10",
    "TExFAIR@10",
)
MADE_TOKENS, MADE_WORDS = 10, 4


@dataclass(frozen=True, slots=True, eq=False)
class Listed:
    """The documents of one ranking, best first.

    Attributes
    ----------
    labels
        (n,), ``neutral``, ``male``, ``female`` or their first letters, None where not known.
    words
        float64 (n, 2), numbers of male and of female words, NaN where not known; None where nobody counted.
    tokens
        float64 (n,), tokens of each document; None likewise.
    neutrality
        (n,), None where not known.
    """

    labels: Sequence[str | None]
    words: NDArray[np.float64] | None = None
    tokens: NDArray[np.float64] | None = None
    neutrality: Sequence[float | None] = ()

    @classmethod
    def made(cls, labels: Sequence[str]) -> Listed:
        """Return documents that are what their labels say: 4 words of their gender among 10, or none."""
        words = np.array([[MADE_WORDS * (label == gender) for gender in "MF"] for label in labels], dtype=np.float64)
        neutrality = [1.0 if label == "N" else 0.0 for label in labels]
        return cls(labels, words.reshape(-1, 2), np.full(len(labels), float(MADE_TOKENS)), neutrality)


def fairness(text: str) -> Callable[[Listed], float | None]:
    """Return a function that gives a list's value under a measure, turned so that more is fairer.

    RaB, ARaB and nDRaB become minus the absolute difference of the genders; the background of NFaiRR and the pool of
    nCWEx are the list's own documents. None where a list has no value.

    Parameters
    ----------
    text
        a measure of gender presence as written, such as ``CWEx(alpha=0.4)@10``; of its parameters ``alpha``, ``words``
        and the cutoff count.

    Raises
    ------
    ConfigError
        for another measure or parameter.
    """
    measure = parse(text)
    if measure.name not in _BY_NAME:
        raise ConfigError(f"measure {text}: found {measure.name}; expected one of {', '.join(_BY_NAME)}")
    other = {name for name, _ in measure.params} - {"alpha", "words"}
    if other:
        raise ConfigError(
            f"measure {text}: found {', '.join(sorted(other))}; expected alpha or words, for single lists"
        )
    function = _BY_NAME[measure.name]
    return lambda listed: function(measure, listed)


def _cwex(measure: Measure, listed: Listed) -> float | None:
    value: float | None = cwex(listed.labels, float(measure.get("alpha") or 0.0), measure.cutoff)["cwex"]
    return value


def _ncwex(measure: Measure, listed: Listed) -> float | None:
    alpha = float(measure.get("alpha") or 0.0)
    value: float | None = ncwex(listed.labels, listed.labels, alpha, measure.cutoff)["ncwex"]
    return value


def _fairr(measure: Measure, listed: Listed) -> float | None:
    if len(listed.neutrality) < len(listed.labels) or any(value is None for value in listed.neutrality):
        return None
    found = nfairr(listed.neutrality, listed.neutrality, measure.cutoff)
    value: float | None = found["nfairr" if measure.name == "NFaiRR" else "fairr"]
    return value


def _arab(measure: Measure, listed: Listed) -> float | None:
    n = depth(measure.cutoff, len(listed.labels))
    if listed.words is None or not n or np.any(np.isnan(listed.words[:n])):
        return None
    strength = magnitude(listed.words[:n], str(measure.get("words")))
    found = arab(dict(zip(GENDERS, strength.T.tolist(), strict=True)), None)
    return -abs(float(found[measure.name]["delta"]))


def _texfair(measure: Measure, listed: Listed) -> float | None:
    n = depth(measure.cutoff, len(listed.labels))
    if (
        listed.words is None
        or listed.tokens is None
        or not n
        or np.any(np.isnan([*listed.words[:n].T, listed.tokens[:n]]))
    ):
        return None
    shares = listed.words[:n] / np.maximum(listed.tokens[:n, np.newaxis], 1.0)
    weights = rank_weights("nDRaB", n)
    seen = np.array([weights @ (shares > 0).any(axis=1)])
    return float(texfair_of((weights @ shares)[np.newaxis], seen, target_of(None, GENDERS))[0][0])


_BY_NAME: dict[str, Callable[[Measure, Listed], float | None]] = {
    "CWEx": _cwex,
    "nCWEx": _ncwex,
    "FaiRR": _fairr,
    "NFaiRR": _fairr,
    "RaB": _arab,
    "ARaB": _arab,
    "nDRaB": _arab,
    "TExFAIR": _texfair,
}
