r"""Group measures when labels are random: replace each label by an independent vector of known mean.

The label of a document is a vector v_i of one 1 and zeros, and a measure is \sum_{i,j} a_i c_j v_i·v_j. If the vectors
are independent with means m_i, and |v_i|^2 = 1, its expectation is that of the means with the diagonal put right:
\sum_g A_g C_g + \sum_i a_i c_i (1 - |m_i|^2), with A and C the sums of a_i m_i and c_i m_i. With m_i a row of a
confusion matrix this is what wrong labels do to a measure; with a row of its inverse, the estimate that undoes it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.errors import InputError
from rerankers.measures.unknown_labels.form import GroupForm
from rerankers.measures.unknown_labels.labels import hard_labels
from rerankers.values import GroupAlignment

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class Moments:
    """What a measure needs of Q queries' labelled documents, by observed label.

    Attributes
    ----------
    fixed_left, fixed_right
        float64 (Q, G'), group sums of the documents without a label; G' is G, or G + 1 where they are counted as a
        group of their own.
    left, right, product
        float64 (Q, G), sums of a, c and a c over the documents of each label.
    """

    fixed_left: NDArray[np.float64]
    fixed_right: NDArray[np.float64]
    left: NDArray[np.float64]
    right: NDArray[np.float64]
    product: NDArray[np.float64]

    @classmethod
    def of(cls, form: GroupForm, alignment: GroupAlignment, unknown: str = "count") -> Moments:
        """Sum up a form.

        Parameters
        ----------
        form
            what is measured.
        alignment
            not resolved, one group a document.
        unknown
            what becomes of documents without a label (`GroupAlignment.resolve`); they are never changed.

        Raises
        ------
        InputError
            where a document belongs to several groups.
        ConfigError
            for another word.
        """
        label = hard_labels(alignment)
        resolved = alignment.resolve(unknown)
        doc = np.repeat(np.arange(resolved.n_docs), np.diff(resolved.indptr))
        fixed = replace(resolved, weight=np.where(label[doc] < 0, resolved.weight, 0.0))
        row, known = form.row, alignment
        product = known.totals(row, form.doc, form.left * form.right, len(form))
        left, right = form.sums(known)
        fixed_left, fixed_right = form.sums(fixed)
        return cls(fixed_left, fixed_right, left, right, product)

    @property
    def groups(self) -> int:
        """Number of groups G that labels name."""
        return int(self.left.shape[1])

    def under(self, means: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the measure of every query, float64 (Q,), when label g is replaced by vectors of mean ``means[g]``.

        Parameters
        ----------
        means
            float64 (G, G).

        Raises
        ------
        InputError
            for another shape.
        """
        if means.shape != (self.groups, self.groups):
            raise InputError.one("matrix", f"shape {means.shape}", f"({self.groups}, {self.groups}), a row a group")
        left, right = self.fixed_left.copy(), self.fixed_right.copy()
        left[:, : self.groups] += self.left @ means
        right[:, : self.groups] += self.right @ means
        lost = 1.0 - np.sum(means * means, axis=1)
        value: NDArray[np.float64] = np.sum(left * right, axis=1) + self.product @ lost
        return value
