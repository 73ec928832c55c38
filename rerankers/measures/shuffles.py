"""Shuffled group labels: the same documents and exposures, the labels of each query dealt out anew.

Draw r of a query depends on the seed, the query and r alone: every system of a job is judged under the same shuffles
where as many documents count, and neither blocks nor workers matter.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from rerankers._base.streams import query_streams, stream_key, uniforms
from rerankers.measures.evaluation import Evaluation
from rerankers.measures.universe import Universe
from rerankers.values import Exposure, GroupAlignment, Rankings, outer_join

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.exposure.browsing import BrowsingModel
    from rerankers.measures.hits import Hits
    from rerankers.values import Ragged

_CELLS = 1 << 22  # places of shuffled documents held at once: 32 MB
_TILE = 1 << 14  # places sorted together, in the cache
PURPOSE = "placebo"


def shuffled(seed: int, qid: str, n: int, draws: int, first: int = 0) -> NDArray[np.int32]:
    """Return uniform orders of n documents, int32 (draws, n): document order[r, j] gets the labels of document j.

    Documents are numbered in the order of their codes (`by_code`), whatever order a system ranks or lists them in.

    Parameters
    ----------
    seed, qid
        what the draws depend on.
    n
        documents of the query that count.
    draws, first
        number of draws, and which is the first.
    """
    key = stream_key(seed, query_streams([qid])[0], PURPOSE)
    order = np.empty((draws, n), dtype=np.int32)
    step = max(1, _TILE // max(n, 1))
    for start in range(0, draws, step):
        stop = min(start + step, draws)
        order[start:stop] = np.argsort(uniforms(key, first + start, stop - start, n), axis=1)
    return order


def by_code(over: Ragged) -> NDArray[np.int64]:
    """Return the places of the documents of every row by their codes, int64 (nnz,)."""
    return np.lexsort((over.doc, over.row_index))


@dataclass(frozen=True, eq=False)
class Relabelled(Evaluation):
    """An evaluation whose labels were shuffled; all that has nothing to do with labels is that of its origin.

    Every pair of query and document is a document of its own here, since the same document may get other labels in
    another query. A measure may use all that `Evaluation` offers, but for the policy's own draws and log probability.
    """

    origin: Origin | None = field(default=None, kw_only=True)

    @property
    def _origin(self) -> Origin:
        return cast("Origin", self.origin)

    @property
    def universe(self) -> Universe:
        """The documents that count, one code a pair."""
        return self._origin.universe

    @property
    def draws(self) -> Rankings:
        """The draws of the origin."""
        return self._origin.draws

    @property
    def rankings(self) -> Rankings:
        """The rankings of the origin."""
        return self._origin.rankings

    @property
    def hits(self) -> Hits:
        """Where relevant documents stand."""
        return self._origin.base.hits

    def candidate_exposure(self, model: BrowsingModel) -> Exposure:
        """Return the exposure of the origin."""
        return replace(self._origin.base.candidate_exposure(model), over=self.source.over)

    def exposure(self, model: BrowsingModel) -> NDArray[np.float64]:
        """Return the exposure of the origin."""
        return self._origin.base.exposure(model)

    def target(self, model: BrowsingModel) -> NDArray[np.float64]:
        """Return the target of the origin."""
        return self._origin.base.target(model)

    def estimated(self, model: BrowsingModel) -> bool:
        """Whether the origin's exposure comes from draws."""
        return self._origin.base.estimated(model)


@dataclass(frozen=True, eq=False)
class Origin:
    """An evaluation with one document code a pair of query and document, ready to have its labels shuffled."""

    base: Evaluation

    @cached_property
    def universe(self) -> Universe:
        """The documents that count under the codes of pairs."""
        old = self.base.universe
        join = outer_join(old.candidates, old.own)
        candidates = replace(old.candidates, doc=join.left.astype(np.int32))
        return Universe(candidates, replace(old.own, doc=join.right.astype(np.int32)), old.rule)

    @cached_property
    def draws(self) -> Rankings:
        """The draws under the codes of pairs."""
        return replace(self.base.draws, over=self.universe.candidates)

    @property
    def rankings(self) -> Rankings:
        """What classic measures are averaged over, under the codes of pairs."""
        return self.draws if self.base.rankings is self.base.draws else self._own_rankings

    @cached_property
    def _own_rankings(self) -> Rankings:
        return replace(self.base.rankings, over=self.universe.candidates)

    @cached_property
    def source(self) -> Any:
        """Rankings as they are; of a policy, its rows and streams."""
        if isinstance(self.base.source, Rankings):
            return self.draws
        return SimpleNamespace(over=self.universe.candidates, stream=self.base.source.stream)

    @cached_property
    def alignments(self) -> Mapping[str, GroupAlignment]:
        """The labels of every pair before they are shuffled."""
        docs = self.base.universe.union.doc
        return {name: _rows_of(alignment, docs) for name, alignment in self.base.groups.items()}

    def shuffles(self, units: Sequence[str], draws: int) -> Iterator[Relabelled]:
        """Yield the evaluation under each draw of labels, dealt out among the documents of a query that count.

        Parameters
        ----------
        units
            ids of the B queries.
        draws
            number of draws.
        """
        over, seed = self.universe.over, self.base.options.seed
        place = by_code(self.base.over)
        step = max(1, _CELLS // max(over.nnz, 1))
        for first in range(0, draws, step):
            count = min(step, draws - first)
            gets = np.empty((count, over.nnz), dtype=np.int64)
            for row, qid in enumerate(units):
                part = over.row(row)
                order = shuffled(seed, qid, part.stop - part.start, count, first)
                gets[np.arange(count)[:, None], place[part][order]] = place[part]
            for label_of in gets:
                yield self._with(label_of)

    def _with(self, label_of: NDArray[np.int64]) -> Relabelled:
        pair = self.universe.over.doc
        row = np.arange(self.universe.union.nnz)
        row[pair] = pair[label_of]
        groups = {name: _rows_of(alignment, row) for name, alignment in self.alignments.items()}
        return Relabelled(self.source, self.universe.own, groups, self.base.options, origin=self)


def _rows_of(alignment: GroupAlignment, docs: NDArray[np.integer]) -> GroupAlignment:
    """Return an alignment whose document i is document docs[i] of another."""
    _, group, weight = alignment.entries(docs)
    counts = np.diff(alignment.indptr)[docs]
    indptr = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    return replace(alignment, indptr=indptr, group=group, weight=weight, unknown=alignment.unknown[docs])
