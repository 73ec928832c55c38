"""Bootstrap intervals of kappas and of their differences, on the same resamples of documents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.errors import InputError
from rerankers.labels.agreement import NO_DOCUMENTS, ONE_LABEL, kappas
from rerankers.stats.bootstrap import resample_counts

if TYPE_CHECKING:
    from numpy.typing import NDArray

FEW = "fewer_than_two_documents"


@dataclass(frozen=True, slots=True)
class KappaInterval:
    """A kappa, or a difference of two, with its interval.

    Attributes
    ----------
    value, low, high
        None where undefined, with the ``reason``.
    documents
        that it is about.
    undefined
        resamples in which it has no value, which are left out of the interval.
    """

    value: float | None
    low: float | None
    high: float | None
    documents: int
    undefined: int = 0
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Bootstrap:
    """Settings: seed, number of resamples, coverage of the percentile intervals (Efron & Tibshirani 1993, ch. 13)."""

    seed: int = 0
    resamples: int = 2000
    level: float = 0.95

    def __post_init__(self) -> None:
        if self.resamples < 1 or not 0 < self.level < 1:
            found = f"{self.resamples} resamples, level {self.level}"
            raise InputError.one("bootstrap", found, "at least 1 resample and a level between 0 and 1")


def kappa_interval(
    truth: NDArray[np.int64], given: NDArray[np.int64], size: int, bootstrap: Bootstrap | None = None
) -> KappaInterval:
    """Return Cohen's kappa of two annotators with its interval over documents.

    Parameters
    ----------
    truth, given
        int64 (n,), codes of labels from 0 to ``size`` - 1; -1 is no label, and leaves the document out.
    size
        number of labels.
    bootstrap
        its settings.
    """
    return _interval([(truth, given)], size, bootstrap or Bootstrap())


def kappa_difference(
    truth: NDArray[np.int64],
    first: NDArray[np.int64],
    second: NDArray[np.int64],
    size: int,
    bootstrap: Bootstrap | None = None,
) -> KappaInterval:
    """Return the kappa of the first annotator minus that of the second, on documents that both labelled.

    Both are judged on the same resamples of the same documents. Parameters as for `kappa_interval`.
    """
    both = (first >= 0) & (second >= 0)
    part = [(truth[both], annotator[both]) for annotator in (first, second)]
    return _interval(part, size, bootstrap or Bootstrap())


def _interval(
    pairs: list[tuple[NDArray[np.int64], NDArray[np.int64]]], size: int, bootstrap: Bootstrap
) -> KappaInterval:
    truth = pairs[0][0]
    kept = (truth >= 0) & np.all([given >= 0 for _, given in pairs], axis=0)
    cells = [one[kept] * size + given[kept] for one, given in pairs]
    number = int(kept.sum())
    once = np.ones((1, number))
    value = float(_differences(once, cells, size)[0]) if number else float("nan")
    if np.isnan(value):
        return KappaInterval(None, None, None, number, 0, ONE_LABEL if number else NO_DOCUMENTS)
    if number < 2:
        return KappaInterval(value, None, None, number, 0, FEW)
    draws = resample_counts(number, bootstrap.seed, bootstrap.resamples)
    found = np.concatenate([_differences(times, cells, size) for times in draws])
    defined = found[~np.isnan(found)]
    if not len(defined):
        return KappaInterval(value, None, None, number, len(found), ONE_LABEL)
    low, high = np.quantile(defined, [(1 - bootstrap.level) / 2, (1 + bootstrap.level) / 2])
    return KappaInterval(value, float(low), float(high), number, len(found) - len(defined))


def _differences(times: NDArray[np.float64], cells: list[NDArray[np.int64]], size: int) -> NDArray[np.float64]:
    """Return the kappa of the first annotator, less that of the second where there is one, in each resample."""
    found = []
    for of_annotator in cells:
        used, place = np.unique(of_annotator, return_inverse=True)
        tables = np.zeros((len(times), size * size))
        member = (place[:, np.newaxis] == np.arange(len(used))).astype(np.float64)
        tables[:, used] = times @ member  # whole numbers: exact in any order of adding
        found.append(kappas(tables.reshape(-1, size, size)))
    return found[0] if len(found) == 1 else found[0] - found[1]
