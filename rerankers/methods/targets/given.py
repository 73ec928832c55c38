"""Targets that somebody states: in a file, in the config, or as found in training judgments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from rerankers._base.errors import ConfigError, InputError, Problems
from rerankers.methods.targets.base import aligned, all_but_unknown
from rerankers.methods.targets.base import shares as divided
from rerankers.methods.targets.file import ANY, Cell, Shares, read_shares, share_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from rerankers.values import Block, GroupAlignment, Judgments


def bound_shares(given: Shares, block: Block, attribute: str) -> NDArray[np.float64]:
    """Look up the shares of a block's queries: float64 (B, G); see `rerankers.methods.targets.base.Target`.

    Raises
    ------
    InputError
        for cells that are no groups of the block, shares that do not sum to 1, and a query without shares.
    """
    groups = aligned(block, attribute).groups
    given.check_groups({name: alignment.groups for name, alignment in block.groups.items()})
    vectors: dict[str, NDArray[np.float64]] = {}
    out = np.zeros((len(block.candidates), len(groups)))
    for row, stream in enumerate(block.stream):
        key = given.query(stream)
        if key is None:
            found = f"no rows for the query of row {row} of a block (code {int(block.candidates.query[row])})"
            raise InputError.one(given.where, found, f"rows of every query, or of {ANY!r} for all others")
        if key not in vectors:
            vectors[key] = given.vector(key, attribute, groups)
        out[row] = vectors[key]
    return out


def named_groups(given: Shares, groups: Sequence[str], attribute: str) -> NDArray[np.bool_]:
    """Return the groups that have a share, bool (G,): all, but for "unknown" where no cell names it."""
    named = [any(Cell(name, 0.0, None).group(attribute, groups) == group for name in given.cells) for group in groups]
    return all_but_unknown(groups) | np.array(named, dtype=np.bool_)


def stated(shares: Mapping[str, float], where: str) -> Shares:
    """Return shares for all queries from a mapping group -> share.

    Raises
    ------
    InputError
        for shares that are no finite numbers of at least 0.
    """
    problems = Problems(where)
    for name, value in shares.items():
        if share_of(value) is None:
            problems.add(None, f"{name}: {value!r}", "a finite number of at least 0")
    problems.raise_if_any()
    return Shares.of(where, {ANY: tuple(Cell(str(name), float(value), None) for name, value in shares.items())})


@dataclass(frozen=True, slots=True)
class Population:
    """The shares of a population, the same for all queries unless its file says otherwise.

    Attributes
    ----------
    shares
        group -> share, summing to 1; of several attributes ``attribute:group`` -> share.
    path
        a file ``qid,cell,value`` in its place.
    """

    shares: dict[str, float] | None = field(default=None, hash=False)
    path: str | None = None
    tier: ClassVar[str] = "given_groups"

    def given(self) -> Shares:
        """Return the shares; `ConfigError` unless exactly one of both options is set."""
        if (self.shares is None) == (self.path is None):
            found = "neither target.shares nor target.path" if self.path is None else "both"
            raise ConfigError(f"target=population: found {found}; expected one of them: target.path=FILE")
        if self.path is not None:
            return read_shares(self.path)
        return stated(self.shares or {}, "target.shares")

    def about(self, groups: Sequence[str], attribute: str) -> NDArray[np.bool_]:
        """Return bool (G,); see `rerankers.methods.targets.base.Target`."""
        return named_groups(self.given(), groups, attribute)

    def bind(self, block: Block, attribute: str) -> NDArray[np.float64]:
        """Return float64 (B, G); see `rerankers.methods.targets.base.Target` and `bound_shares`."""
        return bound_shares(self.given(), block, attribute)

    def check_queries(self, qids: Iterable[str]) -> None:
        """Raise `InputError` for queries of the file that the job does not have, and others without rows."""
        self.given().check_queries(qids)


@dataclass(frozen=True, slots=True)
class Custom:
    """Shares query by query.

    Attributes
    ----------
    path
        a file ``qid,cell,value``; qid ``*`` stands for all queries without rows.
    """

    path: str
    tier: ClassVar[str] = "given_groups"

    def about(self, groups: Sequence[str], attribute: str) -> NDArray[np.bool_]:
        """Return bool (G,); see `rerankers.methods.targets.base.Target`."""
        return named_groups(read_shares(self.path), groups, attribute)

    def bind(self, block: Block, attribute: str) -> NDArray[np.float64]:
        """Return float64 (B, G); see `rerankers.methods.targets.base.Target` and `bound_shares`."""
        return bound_shares(read_shares(self.path), block, attribute)

    def check_queries(self, qids: Iterable[str]) -> None:
        """Raise `InputError` for queries of the file that the job does not have, and others without rows."""
        read_shares(self.path).check_queries(qids)


@dataclass(frozen=True, slots=True)
class RelevantShare:
    """Shares of the judged relevant documents.

    Attributes
    ----------
    path
        a file ``qid,cell,value`` of such shares; None: those of training judgments (`fit`).
    judged
        the file comes from judgments of the queries that are ranked: the run is then of the tier ``judged``.
    shares
        ``attribute:group`` -> share, what `fit` found.
    """

    path: str | None = None
    judged: bool = False
    shares: dict[str, float] | None = field(default=None, hash=False)

    def __post_init__(self) -> None:
        if self.judged and self.path is None:
            raise ConfigError("target.judged: found true without target.path; expected the file of judged shares")

    @property
    def tier(self) -> str:
        """``judged`` where the shares are those of the ranked queries, else ``given_groups``."""
        return "judged" if self.judged else "given_groups"

    def fit(self, judgments: Judgments, groups: Mapping[str, GroupAlignment]) -> RelevantShare:
        """Return the target with the shares of training judgments.

        Parameters
        ----------
        judgments
            of training queries; a document is relevant if its grade is above 0.
        groups
            attribute -> resolved alignment over the same documents.

        Returns
        -------
        The target whose shares are the mean over queries of the group shares of their relevant documents; queries
        without a relevant document in any group are left out.

        Raises
        ------
        InputError
            where no training query has one.
        """
        found: dict[str, float] = {}
        for attribute, alignment in groups.items():
            relevant = (judgments.grade > 0).astype(np.float64)
            by_query = alignment.totals(judgments.row_index, judgments.doc, relevant, len(judgments))
            usable = by_query.sum(axis=1) > 0
            if not np.any(usable):
                raise InputError.one("training judgments", f"no relevant document with a {attribute}", "at least one")
            mean = divided(by_query[usable]).mean(axis=0)
            mean /= mean.sum()
            found |= {f"{attribute}:{name}": float(one) for name, one in zip(alignment.groups, mean, strict=True)}
        return replace(self, shares=found)

    def given(self) -> Shares:
        """Return the shares; `ConfigError` where there are none."""
        if self.path is not None:
            return read_shares(self.path)
        if self.shares is None:
            raise ConfigError(
                "target=relevant_share: found no shares; expected a file (target.path=FILE), or training judgments"
            )
        return stated(self.shares, "target.shares")

    def about(self, groups: Sequence[str], attribute: str) -> NDArray[np.bool_]:
        """Return bool (G,); see `rerankers.methods.targets.base.Target`."""
        return named_groups(self.given(), groups, attribute)

    def bind(self, block: Block, attribute: str) -> NDArray[np.float64]:
        """Return float64 (B, G); see `rerankers.methods.targets.base.Target` and `bound_shares`."""
        return bound_shares(self.given(), block, attribute)

    def check_queries(self, qids: Iterable[str]) -> None:
        """Raise `InputError` for queries of the file that the job does not have, and others without rows."""
        self.given().check_queries(qids)
