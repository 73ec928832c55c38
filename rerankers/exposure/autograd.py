"""Exact Plackett-Luce exposure of torch tensors, with its exact gradient. Only this module of the package loads torch.

The values are computed in float64 on the host, whatever the input is, and returned in its dtype on its device: a tensor
of a GPU is copied there and back. The gradient is the analytic one, not that of a chain of tensor operations, so that
a backward pass costs about as much as a forward one; it cannot be differentiated again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch.autograd.function import Function, once_differentiable

from rerankers._base.errors import InputError
from rerankers.exposure._binding import bound_to_row
from rerankers.exposure.checks import logit_array
from rerankers.exposure.closed_form import plackett_luce
from rerankers.exposure.gradients import plackett_luce_gradient

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from rerankers.exposure.browsing import Browsing, BrowsingModel


def pl_exposure(
    scores: torch.Tensor, browsing: BrowsingModel, grades: torch.Tensor | ArrayLike | None = None
) -> torch.Tensor:
    """Return the exact expected exposure of documents under Plackett-Luce rankings, differentiable in the scores.

    Parameters
    ----------
    scores
        (n,), logits: finite, or minus infinity for documents that come after all others.
    browsing
        the browsing model.
    grades
        (n,), negative ones count as 0; a tensor gets no gradient.

    Returns
    -------
    (n,), of the dtype and on the device of ``scores``.

    Raises
    ------
    ValueError
        for scores that are not numbers or no floating-point tensor, and where the model needs grades and there are
        none.
    """
    _check(scores, "scores")
    plain = grades.detach().cpu().numpy() if isinstance(grades, torch.Tensor) else grades
    indptr = np.array([0, len(scores)], dtype=np.int64)
    return plackett_luce_exposure(indptr, scores, bound_to_row(browsing, len(scores), plain))


def plackett_luce_exposure(indptr: NDArray[np.int64], logits: torch.Tensor, browsing: Browsing) -> torch.Tensor:
    """Return the exact expected exposure of a whole block of queries, differentiable in the logits.

    Parameters
    ----------
    indptr
        int64 (B + 1,), the rows.
    logits
        (nnz,), finite, or minus infinity for documents that come after all others of their row.
    browsing
        the model, bound to the rows.

    Returns
    -------
    (nnz,), of the dtype and on the device of ``logits``.

    Raises
    ------
    ValueError
        for logits that are not numbers or no floating-point tensor, or other lengths.
    """
    _check(logits, "logits")
    exposure: torch.Tensor = _Exposure.apply(logits, indptr, browsing)  # type: ignore[no-untyped-call]
    return exposure


def _check(values: torch.Tensor, name: str) -> None:
    if not isinstance(values, torch.Tensor) or not values.is_floating_point():
        found = f"a tensor of {values.dtype}" if isinstance(values, torch.Tensor) else type(values).__name__
        raise InputError.one(name, found, "a tensor of floating-point numbers")
    logit_array(_plain(values), name)


class _Exposure(Function):
    @staticmethod
    def forward(ctx: Any, logits: torch.Tensor, indptr: NDArray[np.int64], browsing: Browsing) -> torch.Tensor:
        ctx.save_for_backward(logits)
        ctx.indptr, ctx.browsing = indptr, browsing
        return _like(plackett_luce.plackett_luce_exposure(indptr, _plain(logits), browsing), logits)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, pull: torch.Tensor) -> tuple[torch.Tensor, None, None]:
        (logits,) = ctx.saved_tensors
        gradient = plackett_luce_gradient(ctx.indptr, _plain(logits), ctx.browsing, _plain(pull))
        return _like(gradient, logits), None, None


def _plain(values: torch.Tensor) -> NDArray[np.float64]:
    array: NDArray[np.float64] = values.detach().to("cpu", torch.float64).contiguous().numpy()
    return array


def _like(values: NDArray[np.float64], model: torch.Tensor) -> torch.Tensor:
    return torch.from_numpy(values).to(model.device, model.dtype)
