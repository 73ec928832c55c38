"""Wrong labels drawn at random: how much measures scatter at an error rate, and how often two systems swap."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.errors import InputError
from rerankers._base.streams import stream_key, uniforms
from rerankers.measures.unknown_labels.flips import check_rates
from rerankers.measures.unknown_labels.labels import hard_labels

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.measures.unknown_labels.flips import FlipPath
    from rerankers.measures.unknown_labels.form import GroupForm
    from rerankers.measures.unknown_labels.moments import Moments
    from rerankers.values import GroupAlignment

PURPOSE = "label_flip"
_NUMBERS = 1 << 23  # random numbers held at once: 64 MB


def drawn_sweep(
    forms: Mapping[str, GroupForm],
    moments: Mapping[str, Moments],
    alignment: GroupAlignment,
    path: FlipPath,
    rates: Sequence[float],
    stream: NDArray[np.uint64],
    repetitions: int = 200,
    seed: int = 0,
) -> dict[str, NDArray[np.float64]]:
    """Return each system's mean over queries under labels that are wrong at random.

    A document's label is the same for all systems and in all queries, and the documents that are labelled wrongly at
    a rate are wrong at every higher one.

    Parameters
    ----------
    forms, moments
        system -> what is measured, and its `Moments` under the same alignment.
    alignment
        not resolved, one group a document.
    path, rates
        how and how often labels go wrong.
    stream
        uint64 (D, 2), digests of the document ids (`query_streams`): a document's draws depend on its id and the seed
        alone.
    repetitions, seed
        of the draws.

    Returns
    -------
    system -> float64 (rates, repetitions)

    Raises
    ------
    InputError
        for rates as `check_rates`, or fewer than one repetition.
    """
    check_rates(rates, path)
    if repetitions < 1:
        raise InputError.one("repetitions", str(repetitions), "one or more")
    label = hard_labels(alignment)
    used = np.zeros(alignment.n_docs, dtype=bool)
    for form in forms.values():
        used[form.doc] = True
    docs = np.flatnonzero(used & (label >= 0))
    out = {name: np.empty((len(rates), repetitions)) for name in forms}
    step = max(1, _NUMBERS // max(2 * len(docs), 1))
    for start in range(0, repetitions, step):
        count = min(step, repetitions - start)
        numbers = np.empty((count, len(docs), 2))
        for place, doc in enumerate(docs.tolist()):
            numbers[:, place] = uniforms(stream_key(seed, stream[doc], PURPOSE), start, count, 2)
        for place, rate in enumerate(rates):
            drawn = np.repeat(label[None, :], count, axis=0)
            drawn[:, docs] = _flipped(label[docs], path.at(rate), numbers)
            for name, form in forms.items():
                out[name][place, start : start + count] = _means(form, moments[name], label, drawn)
    return out


def _flipped(label: NDArray[np.int64], matrix: NDArray[np.float64], numbers: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return labels int64 (draws, n): wrong where the first number is below the error of the label's group."""
    error = 1.0 - np.diag(matrix)
    off = matrix * (1.0 - np.eye(len(matrix)))
    total = off.sum(axis=1, keepdims=True)
    cumulative = np.cumsum(np.divide(off, total, out=np.zeros_like(off), where=total > 0), axis=1)
    reached = numbers[:, :, 1, None] >= cumulative[label][None, :, :]
    wrong = np.minimum(np.sum(reached, axis=2), _last_wrong(off)[label])
    return np.where(numbers[:, :, 0] < error[label], wrong, label)


def _last_wrong(off: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the last group that each label may be mistaken for, where a cumulative sum may round to less than 1."""
    last: NDArray[np.int64] = off.shape[1] - 1 - np.argmax(off[:, ::-1] > 0, axis=1)
    return last


def _means(
    form: GroupForm, moments: Moments, label: NDArray[np.int64], drawn: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return the mean over queries for each drawn labelling, float64 (draws,)."""
    known = label[form.doc] >= 0
    row, doc, left, right = form.row[known], form.doc[known], form.left[known], form.right[known]
    groups, size = moments.groups, len(form) * moments.groups
    means = np.empty(len(drawn))
    for place, labels in enumerate(drawn):
        cell = row * groups + labels[doc]
        of_left = _added(moments.fixed_left, cell, left, groups, size)
        of_right = of_left if form.squares else _added(moments.fixed_right, cell, right, groups, size)
        means[place] = np.sum(of_left * of_right) / len(form)
    return means


def _added(
    fixed: NDArray[np.float64], cell: NDArray[np.int64], value: NDArray[np.float64], groups: int, size: int
) -> NDArray[np.float64]:
    sums = fixed.copy()
    sums[:, :groups] += np.bincount(cell, weights=value, minlength=size).reshape(-1, groups)
    return sums
