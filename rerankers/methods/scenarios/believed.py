r"""What is believed about the relevance of a block, given that every query has a relevant document.

Documents are relevant independently of each other with chances \rho, but the queries of a test collection have a
relevant document by construction. With P_0 = \prod_d (1 - \rho_d) the mean of anything is then (mean - P_0 value where
nothing is relevant) / (1 - P_0), and the chance of a document is \rho_d / (1 - P_0).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rerankers.exposure.rows import row_sums
from rerankers.exposure.targets import equal_exposure
from rerankers.methods.belief import probabilities
from rerankers.methods.targets.believed import aimed_model, relevant_grade
from rerankers.methods.targets.expected_target import expected_equal_exposure

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from rerankers.exposure.browsing import BrowsingModel
    from rerankers.values import Block

LEAST_EXPECTED = 1e-8
"""Relevant documents expected in a row that is known to have one: smaller chances are scaled up to this sum, which
changes what follows by about as little, where a division by 1 - P_0 would leave noise."""


@dataclass(frozen=True, slots=True, eq=False)
class Believed:
    """The beliefs of a block in the form that optimisation needs.

    Attributes
    ----------
    model
        the browsing model that is aimed at.
    indptr
        int64 (B + 1,), the rows.
    chance
        float64 (nnz,), the chance that a document is relevant, before what is known about the query.
    possible
        float64 (B,), 1 - P_0 of rows that are known to have a relevant document; 1 for others, among them those whose
        chances are all 0.
    counts
        of rows: ``rows_without_chance``, where no document may be relevant; ``rows_with_guessed_probabilities``.
    """

    model: BrowsingModel
    indptr: NDArray[np.int64]
    chance: NDArray[np.float64]
    possible: NDArray[np.float64]
    counts: Mapping[str, int]

    @classmethod
    def of(cls, block: Block, at_least_one: bool) -> Believed:
        """Return the beliefs of a block; see `of_chances`."""
        model, indptr = aimed_model(block), block.candidates.indptr
        guessed = len(block.candidates) if block.relevance.probability is None else 0
        return cls.of_chances(model, indptr, probabilities(block), at_least_one, guessed)

    @classmethod
    def of_chances(
        cls,
        model: BrowsingModel,
        indptr: NDArray[np.int64],
        chance: NDArray[np.float64],
        at_least_one: bool,
        guessed: int = 0,
    ) -> Believed:
        """Return beliefs from chances (nnz,) in [0, 1].

        Parameters
        ----------
        at_least_one
            whether every query is known to have a relevant document.
        guessed
            rows whose chances were guessed from scores.
        """
        lengths = np.diff(indptr)
        total = row_sums(chance, indptr)
        empty = (total <= 0) & (lengths > 0)
        possible = np.ones(len(lengths))
        if at_least_one:
            small = (total > 0) & (total < LEAST_EXPECTED)
            scale = np.where(small, LEAST_EXPECTED / np.where(small, total, 1.0), 1.0)
            chance = np.minimum(chance * np.repeat(scale, lengths), 1.0)
            with np.errstate(divide="ignore"):
                some = -np.expm1(row_sums(np.log1p(-chance), indptr))
            possible = np.where(some > 0, some, 1.0)
        counts = {"rows_without_chance": int(empty.sum()), "rows_with_guessed_probabilities": guessed}
        return cls(model, indptr, chance, possible, {name: number for name, number in counts.items() if number})

    def worth(self) -> NDArray[np.float64]:
        """Return float64 (nnz,), what a unit of exposure of a document is worth on average.

        It is the chance of relevance, given what is known about the query, times the satisfaction of the model. With
        the exposure under `rerankers.methods.targets.believed_browsing` it gives the expected utility exactly:
        where nothing is relevant, nothing is gained.
        """
        grade = np.full(len(self.chance), relevant_grade(self.model))
        satisfaction = self.model.bind(grade, self.indptr).satisfaction
        worth: NDArray[np.float64] = self.chance * satisfaction / np.repeat(self.possible, np.diff(self.indptr))
        return worth

    def target(self) -> NDArray[np.float64]:
        """Return float64 (nnz,), the mean of the equal-exposure target over what may be relevant.

        Raises
        ------
        ConfigError
            for a model whose continuation differs between documents of the same relevance.
        """
        mean = expected_equal_exposure(self.indptr, self.chance, self.model)
        zeros, lengths = np.zeros(len(mean)), np.diff(self.indptr)
        never = equal_exposure(self.indptr, zeros, self.model.bind(zeros, self.indptr))
        possible = np.repeat(self.possible, lengths)
        return np.maximum((mean - (1.0 - possible) * never) / possible, 0.0)
