"""The method's own account of a query, if it has one, and only where it made the policy that is looked at."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rerankers.methods.explanation import explained
from rerankers.policies import Mixture

if TYPE_CHECKING:
    from rerankers.stages.side_by_side_numbers import Numbers

SAME = 1e-9  # of exposure: a policy that is made again may differ by rounding on another machine


def method_account(found: Numbers) -> dict[str, Any] | None:
    """Return what the method says, ``{"reason": …}`` where it can say nothing about this policy, None if it never does.

    The account is of the policy that the method makes now. So it is made, and its exposures have to be those of the
    stored one.
    """
    side = found.side
    if side.block is None or side.job is None:
        return None
    method: Any = side.job.method
    if getattr(method, "explain", None) is None:
        return None
    made = method.policy(side.block)
    browsing = side.options.model.bind(_grades(found), made.over.indptr)
    now = made.exposure(browsing)
    if now is None:
        kept = isinstance(made, type(side.policy)) and not isinstance(made, Mixture)
        if not kept:
            return {"reason": "the method makes another kind of policy than the stored one"}
    elif np.max(np.abs(now.value - found.account.exposure), initial=0.0) > SAME:
        return {"reason": "the method, as its options and version are now, makes another policy than the stored one"}
    return explained(method, side.block)


def _grades(found: Numbers) -> Any:
    grade = np.zeros(found.side.policy.over.nnz)
    inside = found.place >= 0
    grade[found.place[inside]] = np.nan_to_num(found.grade[inside])
    return grade
