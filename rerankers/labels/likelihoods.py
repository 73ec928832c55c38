"""Labels by how likely a model finds each of them as its answer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from rerankers._base.errors import InputError
from rerankers.labels.votes import TIE

if TYPE_CHECKING:
    from rerankers.llm.base import Request

NO_LIKELIHOOD = "no_likelihood"


def likelihood_scores(
    session: Any, requests: Sequence[Request], labels: Sequence[str], answers: Sequence[str]
) -> Iterator[tuple[str | None, str, dict[str, float]]]:
    """Yield (label or None, reason, share of each label) for each request.

    The shares are exp of the labels' log-likelihoods, scaled to sum to 1. A label of several tokens is less likely than
    one of a single token for that alone, which the shares do not undo.

    Parameters
    ----------
    session
        with ``likelihoods(requests, answers)``, which returns (n, L) natural log-likelihoods, at most 0.
    requests
        n, one a text.
    labels
        L of them.
    answers
        L texts, how the model would reply with each label.

    Raises
    ------
    InputError
        for likelihoods of another shape.
    """
    found = np.asarray(session.likelihoods(requests, list(answers)) if requests else [], dtype=np.float64)
    found = found.reshape(0, len(labels)) if not requests else found
    if found.shape != (len(requests), len(labels)):
        raise InputError.one("likelihoods", f"shape {found.shape}", f"({len(requests)}, {len(labels)})")
    for row in found:
        if not np.all(np.isfinite(row)):
            yield None, NO_LIKELIHOOD, {}
            continue
        shares = np.exp(row - row.max())
        scores = dict(zip(labels, (shares / shares.sum()).tolist(), strict=True))
        best = np.flatnonzero(row == row.max())
        yield (None, TIE, scores) if len(best) > 1 else (labels[int(best[0])], "", scores)
