r"""Estimates for all documents from labels of some that were drawn with known probabilities (Kirnap et al., WWW 2021).

Sums over groups: the Horvitz-Thompson estimate \sum_{i in S} x_i / p_i. Measures are sums over pairs of documents,
\sum_i w_ii + \sum_{i != j} w_ij [same group]; the first needs no label, and each labelled pair of the second is divided
by p_ij, the probability that both are drawn. (The square of an estimated sum is too large by its variance.)
Estimates and their variances are unbiased under the design alone: nothing is assumed about documents or labels.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.errors import InputError
from rerankers.measures.unknown_labels.pairs import diagonal, pair_weights

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.measures.unknown_labels.form import GroupForm


@dataclass(frozen=True, slots=True, eq=False)
class Design:
    """How documents were drawn for labelling.

    Attributes
    ----------
    probability
        float64 (D,), of each document to be drawn, in (0, 1].
    drawn
        bool (D,), which ones were.
    population
        bool (D,), the documents that could be drawn.
    fixed_size
        False: each was drawn independently (Poisson). True: a simple random sample without replacement.
    """

    probability: NDArray[np.float64]
    drawn: NDArray[np.bool_]
    population: NDArray[np.bool_]
    fixed_size: bool

    @property
    def size(self) -> int:
        """Number of documents drawn."""
        return int(self.drawn.sum())

    @property
    def together(self) -> tuple[float, float, float]:
        """Probabilities that given 2, 3 and 4 documents are all in a simple random sample."""
        n, total = self.size, int(self.population.sum())
        found = [math.comb(total - k, n - k) / math.comb(total, n) if n >= k else 0.0 for k in (2, 3, 4)]
        return found[0], found[1], found[2]


@dataclass(frozen=True, slots=True)
class Estimate:
    """An unbiased estimate.

    Attributes
    ----------
    value
        the estimate; of a sum of squares, too, it may be below 0.
    variance
        unbiased estimate of its variance, may be below 0; None for a simple sample of fewer than four documents.
    """

    value: float
    variance: float | None

    @property
    def standard_error(self) -> float | None:
        """Root of the variance, None where that is unknown or below 0."""
        return None if self.variance is None or self.variance < 0 else math.sqrt(self.variance)


def independent_design(
    probability: NDArray[np.float64], drawn: NDArray[np.bool_], population: NDArray[np.bool_]
) -> Design:
    """Return the design in which each document is drawn independently of the others.

    Raises
    ------
    InputError
        for shapes that differ, probabilities of documents outside of (0, 1], or draws outside of the population.
    """
    _check_drawn(drawn, population)
    if probability.shape != drawn.shape:
        raise InputError.one("probability", f"shape {probability.shape}", f"{drawn.shape}, one a document")
    own = probability[population]
    if not np.all((own > 0) & (own <= 1)):
        mend = "A document that can never be labelled makes every estimate biased."
        raise InputError.one("probability", "probabilities outside of (0, 1]", "numbers in (0, 1]", mend=mend)
    return Design(np.where(population, probability, 1.0), drawn, population, fixed_size=False)


def simple_design(drawn: NDArray[np.bool_], population: NDArray[np.bool_]) -> Design:
    """Return the design in which every set of that many documents is equally likely.

    Raises
    ------
    InputError
        for fewer than two drawn documents, of which no pair is known, or draws outside of the population.
    """
    _check_drawn(drawn, population)
    if int(drawn.sum()) < 2:
        raise InputError.one("labels", f"{int(drawn.sum())} labelled documents", "two or more")
    share = float(drawn.sum()) / float(population.sum())
    return Design(np.full(len(drawn), share), drawn, population, fixed_size=True)


def group_sum(value: NDArray[np.float64], member: NDArray[np.bool_], design: Design) -> Estimate:
    """Return the estimate of the sum of a value over the documents of a group.

    Parameters
    ----------
    value
        float64 (D,), known of every document.
    member
        bool (D,), whether a drawn document is of the group; others are not looked at.
    design
        how documents were drawn.
    """
    own = np.where(member, value, 0.0)[design.drawn]
    weight = design.probability[design.drawn]
    estimate = float(np.sum(own / weight))
    if not design.fixed_size:
        return Estimate(estimate, float(np.sum((1 - weight) * (own / weight) ** 2)))
    n, total = design.size, int(design.population.sum())
    return Estimate(estimate, total * (total - n) * float(np.var(own, ddof=1)) / n)


def mean_measure(form: GroupForm, label: NDArray[np.int64], design: Design) -> Estimate:
    """Return the estimate of a measure's mean over queries if every document of the population were labelled.

    Parameters
    ----------
    form
        what is measured; `difference_form` gives the difference of two systems.
    label
        int64 (D,), groups of the drawn documents; others are not looked at.
    design
        how documents were drawn.

    Raises
    ------
    InputError
        where a document of the form is not of the population, or a drawn one has no label.
    """
    if not np.all(design.population[form.doc]):
        raise InputError.one("population", "documents that were never to be drawn", "all documents that are measured")
    if np.any(label[design.drawn] < 0):
        raise InputError.one("labels", "drawn documents without a label", "a label of each")
    row, square, joint = _pair_sums(form, label, design)
    known = diagonal(form)
    if not design.fixed_size:
        spread = 1 - design.probability
        variance = 4 * float(np.sum(spread * (row * row - square))) + 2 * float(np.sum(square - joint))
        return Estimate(known + float(row.sum()), variance)
    two, three, four = design.together
    total = float(row.sum())
    estimate = total / two
    if design.size == int(design.population.sum()):
        return Estimate(known + estimate, 0.0)
    if design.size < 4:
        return Estimate(known + estimate, None)
    both = 2 * float(square.sum())
    one = 4 * float(np.sum(row * row - square))
    variance = estimate * estimate - (both / two + one / three + (total * total - one - both) / four)
    return Estimate(known + estimate, variance)


def _pair_sums(
    form: GroupForm, label: NDArray[np.int64], design: Design
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    r"""Return by document, float64 (D,) each, \sum_j w_ij, \sum_j w_ij^2 and \sum_j w_ij^2 p_i p_j of drawn pairs.

    Only pairs of one group count. Under independent draws w_ij is divided by p_i p_j.
    """
    size = len(design.drawn)
    row, square, joint = np.zeros(size), np.zeros(size), np.zeros(size)
    for first, second, weight in pair_weights(form, design.drawn):
        same = label[first] == label[second]
        first, second, weight = first[same], second[same], weight[same]
        both = design.probability[first] * design.probability[second]
        if not design.fixed_size:
            weight = weight / both
        row += np.bincount(first, weights=weight, minlength=size)
        square += np.bincount(first, weights=weight * weight, minlength=size)
        joint += np.bincount(first, weights=weight * weight * both, minlength=size)
    return row, square, joint


def _check_drawn(drawn: NDArray[np.bool_], population: NDArray[np.bool_]) -> None:
    if drawn.shape != population.shape:
        raise InputError.one("drawn", f"shape {drawn.shape}", f"that of the population, {population.shape}")
    if np.any(drawn & ~population):
        raise InputError.one("drawn", "documents outside of the population", "some of its documents")
