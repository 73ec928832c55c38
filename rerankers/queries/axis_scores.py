"""An axis of balance as one query has it, and where a list or a policy stands on it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from rerankers._base.errors import InputError, choose
from rerankers.queries.closeness import CLOSENESS, closeness, closenesses
from rerankers.queries.distributions import distribution
from rerankers.queries.masses import masses_of, shares_of
from rerankers.values.groups import UNKNOWN, UNKNOWN_POLICIES, GroupAlignment

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

LOW_COVERAGE: Final = "coverage_below_least"
"""Why a stand has no closeness although some weight is known."""
_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True)
class Stand:
    """Where something stands on an axis.

    Attributes
    ----------
    closeness
        0 to 1; None without known weight.
    distribution
        group -> share; None likewise.
    unknown_share
        weight on documents without a label out of all weight; None without weight.
    reason
        why there is no closeness, ``""`` where there is: ``no_document``, ``no_known_weight`` or `LOW_COVERAGE`.
    """

    closeness: float | None
    distribution: Mapping[str, float] | None
    unknown_share: float | None
    reason: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Axis:
    """One axis of balance with the target of one query.

    Attributes
    ----------
    name
        in objectives, such as the attribute.
    alignment
        of the attribute, not resolved: it states what is unknown.
    target
        group -> share, at least 0 with a positive sum; groups that it leaves out have 0. None for ``entropy`` only.
    kind
        of closeness, one of `rerankers.queries.distributions.CLOSENESS`.
    unknown
        what becomes of documents without a label, see `rerankers.queries.distributions.distribution`.
    least_coverage
        with less than this share of the weight on documents with a label there is no closeness.

    Raises
    ------
    ConfigError
        for other words.
    InputError
        for a target that is missing, has groups that the attribute does not have, or no positive share.
    """

    name: str
    alignment: GroupAlignment
    target: Mapping[str, float] | None
    kind: str = "jsd"
    unknown: str = "drop"
    least_coverage: float = 0.0

    def __post_init__(self) -> None:
        choose("closeness", self.kind, CLOSENESS)
        choose("unknown", self.unknown, UNKNOWN_POLICIES)
        where = f"target of {self.name}"
        if self.target is None:
            if self.kind != "entropy":
                raise InputError.one(where, "none", f"shares, which closeness {self.kind} needs")
            return
        strange = [group for group in self.target if group not in self.groups]
        if strange:
            raise InputError.one(where, f"the group {strange[0]!r}", f"some of {list(self.groups)}")
        values = np.array(list(self.target.values()), dtype=np.float64)
        if not (np.all(np.isfinite(values)) and np.all(values >= 0) and values.sum() > 0):
            raise InputError.one(where, f"{dict(self.target)}", "shares of at least 0, one above 0")

    @property
    def groups(self) -> tuple[str, ...]:
        """The groups that have a share: those of the attribute, and ``unknown`` where it counts as one."""
        return (*self.alignment.groups, UNKNOWN) if self.unknown == "count" else self.alignment.groups

    @property
    def shares(self) -> Floats | None:
        """The target as float64 (G,) with sum 1 in the order of `groups`, None without one."""
        if self.target is None:
            return None
        values = np.array([float(self.target.get(group, 0.0)) for group in self.groups])
        normalised: Floats = values / values.sum()
        return normalised

    @property
    def aim(self) -> Floats:
        """The shares that a method aims at, float64 (G,): the target; without one (``entropy``) equal shares."""
        shares = self.shares
        return np.full(len(self.groups), 1.0 / len(self.groups)) if shares is None else shares

    def stand(self, docs: NDArray[np.integer], weights: Floats) -> Stand:
        """Return where documents with these weights stand.

        Parameters
        ----------
        docs, weights
            int (m,), float64 (m,), see `rerankers.queries.distributions.distribution`.
        """
        found = distribution(self.alignment, docs, weights, self.unknown)
        if found.shares is None:
            return Stand(None, None, found.unknown_share, found.reason)
        lost = 1.0 if found.unknown_share is None else found.unknown_share
        if 1.0 - lost < self.least_coverage - _ROUNDING:
            return Stand(None, found.named(), lost, LOW_COVERAGE)
        return Stand(closeness(found.shares, self.shares, self.kind), found.named(), lost)

    def stands(self, lists: Sequence[NDArray[np.int64]], weights: Floats) -> Floats:
        """Return the closeness of each of several lists under weights of ranks, float64 (lists,), NaN without one."""
        return self.stands_of(*self.masses(lists, weights))

    def masses(self, lists: Sequence[NDArray[np.int64]], weights: Floats) -> tuple[Floats, Floats, Floats]:
        """Return the masses of lists under weights of ranks, as `masses_of`; beyond the last weight nothing counts."""
        kept = [one[: len(weights)] for one in lists]
        return masses_of(self.alignment, kept, [weights[: len(one)] for one in kept])

    def stands_of(self, mass: Floats, lost: Floats, total: Floats) -> Floats:
        """Return the closeness of each row of masses (`masses_of`), float64 (rows,), NaN without one.

        Masses of a mixture of lists are the mixture of their masses.
        """
        found = closenesses(shares_of(mass, lost, self.unknown), self.shares, self.kind)
        covered = total - lost >= (self.least_coverage - _ROUNDING) * total
        out: Floats = np.where(covered, found, np.nan)
        return out


def joint_axis(axes: Sequence[Axis], separator: str = " & ") -> Axis:
    """Return the axis of all combinations of the groups of several axes.

    A document belongs to a combination by the product of its shares, and its part that has a label on every axis is
    what is known. The target is the product of the targets: what it would be if the attributes were independent.

    Parameters
    ----------
    axes
        at least two, over the same documents; the kind of closeness and the least coverage are those of the first,
        and weight without a label is dropped.
    separator
        between the names of groups, and those of axes.

    Raises
    ------
    InputError
        for fewer than two axes, other documents, and targets that leave nothing to known groups.
    """
    if len(axes) < 2 or len({axis.alignment.n_docs for axis in axes}) > 1:
        found = f"{len(axes)}: {', '.join(axis.name for axis in axes)}"
        raise InputError.one("axes", found, "two or more over the same documents")
    groups: list[str] = [""]
    table: Floats = np.ones((axes[0].alignment.n_docs, 1))
    target: Floats = np.ones(1)
    for axis in axes:
        names = axis.alignment.groups
        groups = [separator.join(filter(None, (before, name))) for before in groups for name in names]
        table = (table[:, :, None] * _dense(axis.alignment)[:, None, :]).reshape(len(table), -1)
        target = (target[:, None] * axis.aim[: len(names)]).ravel()  # "unknown" comes last
    if not target.sum() > 0:
        raise InputError.one("axes", "targets that leave nothing to known groups", "a positive share of one")
    doc, group = np.nonzero(table)
    name = separator.join(axis.name for axis in axes)
    alignment = GroupAlignment.of_entries(name, tuple(groups), doc, group, table[doc, group], len(table), "share")
    shares = dict(zip(groups, (target / target.sum()).tolist(), strict=True))
    return Axis(name, alignment, shares, axes[0].kind, "drop", axes[0].least_coverage)


def described(axis: Axis) -> dict[str, Any]:
    """Return what an axis is, JSON-ready: ``target``, ``closeness``, ``unknown``, ``groups`` (how many)."""
    shares = axis.shares
    target = None if shares is None else dict(zip(axis.groups, shares.tolist(), strict=True))
    return {"target": target, "closeness": axis.kind, "unknown": axis.unknown, "groups": len(axis.groups)}


def _dense(alignment: GroupAlignment) -> Floats:
    """Return shares of documents that sum to at most 1, float64 (D, G): several memberships share a document."""
    out = np.zeros((alignment.n_docs, len(alignment.groups)))
    doc = np.repeat(np.arange(alignment.n_docs), np.diff(alignment.indptr))
    np.add.at(out, (doc, alignment.group), alignment.weight)
    shares: Floats = out / np.maximum(out.sum(axis=1, keepdims=True), 1.0)
    return shares
