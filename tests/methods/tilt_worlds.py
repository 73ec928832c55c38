"""Small blocks with groups, and twins that enumerate all rankings."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

import numpy as np

from rerankers._base.streams import query_streams
from rerankers.methods.kl_tilt import Tilted
from rerankers.methods.targets import believed_browsing
from rerankers.values import Block, Candidates, GroupAlignment

Labels = Sequence[str | Mapping[str, float] | None]


def alignment(attribute: str, labels: Labels, unknown: str = "count", names: Sequence[str] = ()) -> GroupAlignment:
    """Align documents 0..n-1 with a label each, or with a mapping group -> weight."""
    found = sorted({name for label in labels for name in ([label] if isinstance(label, str) else label or {})})
    groups = tuple(names) or tuple(found)
    doc, code, weight = [], [], []
    for d, label in enumerate(labels):
        for name, part in ({label: 1.0} if isinstance(label, str) else label or {}).items():
            doc.append(d)
            code.append(groups.index(name))
            weight.append(part)
    entries = (np.array(doc, dtype=np.int64), np.array(code, dtype=np.int64), np.array(weight, dtype=np.float64))
    return GroupAlignment.of_entries(attribute, groups, *entries, len(labels)).resolve(unknown)


def block(
    scores: Sequence[Sequence[float]],
    groups: Mapping[str, GroupAlignment],
    estimates: Sequence[Sequence[float]] | None = None,
    **fields: object,
) -> Block:
    """Return a block of queries q0, q1, …, whose documents are numbered through."""
    lengths = [len(row) for row in scores]
    columns = {"score": np.array([one for row in scores for one in row], dtype=np.float64)}
    if estimates is not None:
        columns["estimates"] = np.array([one for row in estimates for one in row], dtype=np.float64)
    indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    candidates = Candidates(np.arange(len(scores)), indptr, np.arange(indptr[-1]), columns)
    stream = query_streams([f"q{row}" for row in range(len(scores))])
    return Block(candidates, stream, dict(groups), **fields)  # type: ignore[arg-type]


def enumerated_exposure(logit: np.ndarray, continuation: np.ndarray, position: np.ndarray | None = None) -> np.ndarray:
    """Return Plackett-Luce exposure (n,) by all rankings of n documents."""
    n, weight = len(logit), np.exp(logit - np.max(logit))
    exposure = np.zeros(n)
    for ranking in itertools.permutations(range(n)):
        left, chance, seen = weight.sum(), 1.0, 1.0
        shown = np.zeros(n)
        for rank, d in enumerate(ranking):
            chance *= weight[d] / weight[list(ranking[rank:])].sum()
            shown[d] = seen * (1.0 if position is None else position[rank])
            seen *= continuation[d]
            left -= weight[d]
        exposure += chance * shown
    return exposure


def shares(exposure: np.ndarray, part: np.ndarray) -> np.ndarray:
    """Return group shares (G,) of exposure (n,) by memberships (n, G)."""
    total = part.T @ exposure
    return total / total.sum()


def divergence(p: np.ndarray, q: np.ndarray) -> float:
    """Return KL(p || q) in nats."""
    return float(sum(a * np.log(a / b) if b > 0 else np.inf for a, b in zip(p, q, strict=True) if a > 0))


def left(found: Tilted, part: Block) -> np.ndarray:
    """Return KL(target || exact shares) of each row, summed over attributes, from the policy alone."""
    exposure = found.policy.exposure(believed_browsing(part))
    assert exposure is not None
    groups = found.groups
    own = groups.shares(groups.totals(exposure.value))
    np.testing.assert_allclose(own, found.tilts.share, rtol=0, atol=1e-13)
    rows = np.split(np.arange(len(own)), groups.columns[1:-1])
    return np.array([divergence(groups.target[row], own[row]) for row in rows])
