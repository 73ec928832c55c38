"""Targets made of the candidates and of what is believed about them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from rerankers._base.errors import choose
from rerankers.exposure.rankings import exposure_of
from rerankers.methods.belief import probabilities
from rerankers.methods.targets.base import aligned, all_but_unknown, shares, totals
from rerankers.methods.targets.believed import aimed_model, believed_browsing
from rerankers.methods.targets.expected_target import expected_equal_exposure
from rerankers.policies import static

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from rerankers.values import Block

OF = ("documents", "exposure")


@dataclass(frozen=True, slots=True)
class _OfCandidates:
    """All groups have a share, the unknown one as well."""

    tier: ClassVar[str] = "given_groups"

    def about(self, groups: Sequence[str], attribute: str) -> NDArray[np.bool_]:
        """Return True for each group; see `rerankers.methods.targets.base.Target`."""
        return np.ones(len(groups), dtype=np.bool_)


@dataclass(frozen=True, slots=True)
class EqualExposure(_OfCandidates):
    """Shares of the exposure that equally relevant documents would equally get (Diaz et al. 2020).

    Notes
    -----
    The target exposure of a document is its mean over which documents are relevant, independently, with the
    probabilities that the block believes in: exact, see `rerankers.methods.targets.expected_target`. Where a block has
    scores only, `rerankers.methods.belief.probabilities` guesses the probabilities. The browsing model is the block's.
    """

    def bind(self, block: Block, attribute: str) -> NDArray[np.float64]:
        """Return float64 (B, G); see `rerankers.methods.targets.base.Target`."""
        alignment = aligned(block, attribute)
        exposure = expected_equal_exposure(block.candidates.indptr, probabilities(block), aimed_model(block))
        return shares(totals(block, alignment, exposure))


@dataclass(frozen=True, slots=True)
class Uniform:
    """Each group of a query the same.

    Attributes
    ----------
    present
        share among the groups that a query has candidates of; else among all, and methods move the shares of absent
        groups to the others.
    unknown
        "unknown", where it is a group (``groups.unknown=count``), has a share like any other; else its documents are
        left where they are.
    """

    present: bool = True
    unknown: bool = False
    tier: ClassVar[str] = "given_groups"

    def about(self, groups: Sequence[str], attribute: str) -> NDArray[np.bool_]:
        """Return bool (G,); see `rerankers.methods.targets.base.Target`."""
        return np.ones(len(groups), dtype=np.bool_) if self.unknown else all_but_unknown(groups)

    def bind(self, block: Block, attribute: str) -> NDArray[np.float64]:
        """Return float64 (B, G); see `rerankers.methods.targets.base.Target`."""
        alignment = aligned(block, attribute)
        here = totals(block, alignment, np.ones(block.candidates.nnz)) > 0
        if not self.present:
            here = np.ones_like(here)
        return shares((here & self.about(alignment.groups, attribute)).astype(np.float64))


@dataclass(frozen=True, slots=True)
class EstimatedShare(_OfCandidates):
    """Shares of the documents that are expected to be relevant: the sum of probabilities by group.

    Exposure in proportion to it is exposure in proportion to merit, document for document (Singh & Joachims 2018).
    """

    def bind(self, block: Block, attribute: str) -> NDArray[np.float64]:
        """Return float64 (B, G); see `rerankers.methods.targets.base.Target`."""
        return shares(totals(block, aligned(block, attribute), probabilities(block)))


@dataclass(frozen=True, slots=True)
class FirstStageShare(_OfCandidates):
    """Shares of what the first stage found.

    Attributes
    ----------
    of
        ``documents``: of the candidates, one like the other; ``exposure``: of what the candidates get in first-stage
        order, under the block's browsing model.
    """

    of: str = "documents"

    def __post_init__(self) -> None:
        choose("target.of", self.of, OF)

    def bind(self, block: Block, attribute: str) -> NDArray[np.float64]:
        """Return float64 (B, G); see `rerankers.methods.targets.base.Target`."""
        alignment, candidates = aligned(block, attribute), block.candidates
        value = np.ones(candidates.nnz)
        if self.of == "exposure":
            value = exposure_of(static(candidates).rankings, believed_browsing(block)).value
        return shares(totals(block, alignment, value))


@dataclass(frozen=True, slots=True)
class Merit(_OfCandidates):
    """Shares in proportion to the mean probability of relevance of a group's candidates, however many they are."""

    def bind(self, block: Block, attribute: str) -> NDArray[np.float64]:
        """Return float64 (B, G); see `rerankers.methods.targets.base.Target`."""
        alignment = aligned(block, attribute)
        size = totals(block, alignment, np.ones(block.candidates.nnz))
        merit = totals(block, alignment, probabilities(block))
        return shares(np.where(size > 0, merit / np.where(size > 0, size, 1.0), 0.0))
