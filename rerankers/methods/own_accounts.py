"""What built-in methods say about a row of the policy that they made; the form is that of `explanation`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from rerankers.methods.tilting.descent_loops import PROJECTED, REACHED

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.methods.kl_tilt import Tilted
    from rerankers.methods.pareto_optimal import Optimal
    from rerankers.methods.tilting.problem import GroupRows
    from rerankers.values import Block

PREFIXES = (1, 3, 5, 10, 20, 50, 100)
"""Ranks at which the groups so far are told."""


def logit_account(logit: NDArray[np.float64], temperature: float) -> dict[str, Any]:
    """Return the account of a Plackett-Luce policy: float64 (n,) logits, temperature included."""
    return {"facts": {"temperature": temperature}, "documents": {"logit": logit}}


def tilt_account(found: Tilted, block: Block, before: NDArray[np.float64], row: int) -> dict[str, Any]:
    """Return the tilts of a row's groups, what they multiply weights by, and the shares without and with them.

    Parameters
    ----------
    found
        the tilted policy of the block.
    block
        of which it is.
    before
        float64 (C,), the shares of the groups without tilts, as `found.groups` numbers them.
    row
        the row.
    """
    groups, own = found.groups, slice(int(found.groups.columns[row]), int(found.groups.columns[row + 1]))
    names = _group_names(block, found.attributes, groups, own)
    rows = [
        {
            "group": name,
            "share_without_tilts": before[at],
            "target": groups.target[at],
            "share": found.tilts.share[at],
            "tilt_in_nats": found.tilts.tilt[at],
            "weights_times": np.exp(found.tilts.tilt[at]),
        }
        for name, at in zip(names, range(own.start, own.stop), strict=True)
    ]
    status = int(found.tilts.status[row])
    ended = {REACHED: "the target is reached", PROJECTED: "no tilts reach the target: the nearest shares there are"}
    return {
        "says": ["The logit of a document is its own and the tilts of its groups, each at its weight there."],
        "facts": {
            "ended": ended.get(status, "not settled" if len(rows) else "no target for the groups of this query"),
            "divergence_from_target_in_nats": found.tilts.divergence[row],
        },
        "documents": {"logit": found.policy.logit[found.policy.over.row(row)]},
        "tables": {"Groups": rows},
    }


def prefix_account(
    block: Block,
    attributes: Sequence[str],
    groups: GroupRows,
    ranked: NDArray[np.int64],
    row: int,
    score: NDArray[np.float64],
) -> dict[str, Any]:
    """Return the shares of groups among the first documents of a ranking, beside the target.

    Parameters
    ----------
    ranked
        int64 (n,), the documents of the row as places in it, best first.
    score
        float64 (n,), what the method ranks by.
    """
    own = slice(int(groups.columns[row]), int(groups.columns[row + 1]))
    parts = groups.parts_of(row)[ranked]
    so_far = np.cumsum(parts, axis=0)
    part = groups.part[own]
    total = so_far @ (part[:, None] == part[None, :])
    share = so_far / np.where(total > 0.0, total, 1.0)
    rows = []
    for column, name in enumerate(_group_names(block, attributes, groups, own)):
        told = {f"share_of_first_{k}": share[k - 1, column] for k in PREFIXES if k <= len(ranked)}
        rows.append({"group": name, "target": groups.target[own][column], **told})
    return {"documents": {"score": score}, "tables": {"Groups of the first documents": rows}}


def minima_account(
    minima: NDArray[np.int64], protected: NDArray[np.bool_], order: NDArray[np.int64], share: float
) -> dict[str, Any]:
    """Return where the minima of FA*IR bind: the ranks that a protected document has because a prefix needs it.

    Parameters
    ----------
    minima
        int64 (k,), protected documents that the first 1, …, k ranks need.
    protected
        bool (m,), of the documents by score.
    order
        int64 (m,), the ranking, as places in ``protected``.
    share
        the wanted share, not a number where the pool has its own.
    """
    held, rows, better = 0, [], np.minimum.accumulate(order[::-1])[::-1]
    for rank, minimum in enumerate(minima.tolist(), 1):
        at = int(order[rank - 1])
        forced = bool(protected[at]) and held < minimum and better[rank - 1] < at
        held += int(protected[at])
        if forced:
            rows.append({"rank": rank, "minimum": minimum, "place_by_score_among_ranked": at + 1})
    facts: dict[str, Any] = {"ranks_with_a_minimum": len(minima), "ranks_where_it_binds": len(rows)}
    if np.isfinite(share):
        facts["wanted_share_of_protected"] = share
    return {
        "says": ["At a rank where the minimum binds a protected document stands before better ones that are not."],
        "facts": facts,
        "tables": {"Ranks where the minimum binds": rows},
    }


def optimal_account(found: Optimal, row: int) -> dict[str, Any]:
    """Return what certifies an optimal policy of a row, and what is believed of it."""
    return {
        "says": ["Among all policies none has a believed objective lower by more than the gap."],
        "facts": {
            "gap": found.gap[row],
            "believed_loss_of_documents": found.documents[row],
            "believed_loss_of_groups": found.groups[row],
            "believed_utility": found.utility[row],
        },
    }


def _group_names(block: Block, attributes: Sequence[str], groups: GroupRows, own: slice) -> list[str]:
    named: list[Mapping[int, str]] = [dict(enumerate(block.groups[attribute].groups)) for attribute in attributes]
    pairs = zip(groups.part[own].tolist(), groups.code[own].tolist(), strict=True)
    return [f"{attributes[part]}: {named[part][code]}" for part, code in pairs]
