"""A policy with the names of its queries and documents: draws and exposures as tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from rerankers._base.errors import ConfigError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.exposure.browsing import BrowsingModel
    from rerankers.measures.evaluation import Options
    from rerankers.policies import Policy
    from rerankers.values import Ids


@dataclass(frozen=True, eq=False)
class Draws:
    """Drawn rankings, a row a ranked document, by query, sample and rank.

    Attributes
    ----------
    qids, docs
        the names behind the codes.
    query, doc
        int32 (items,), codes.
    sample, rank
        int64 (items,), from 0 and from 1.
    score
        float64 (items,), 1 / rank, strictly decreasing within a ranking.
    """

    qids: tuple[str, ...]
    docs: Ids
    query: NDArray[np.int32]
    doc: NDArray[np.int32]
    sample: NDArray[np.int64]
    rank: NDArray[np.int64]
    score: NDArray[np.float64]

    def table(self) -> pa.Table:
        """Return an Arrow table ``qid, sample, rank, docno, score``, as ``run.parquet`` has it."""
        return pa.table(
            {
                "qid": pa.array(list(self.qids), pa.string()).take(pa.array(self.query)),
                "sample": pa.array(self.sample.astype(np.int32)),
                "rank": pa.array(self.rank.astype(np.int32)),
                "docno": self.docs.names.take(pa.array(self.doc)).cast(pa.string()),
                "score": pa.array(self.score),
            }
        )


@dataclass(frozen=True, eq=False)
class NamedPolicy:
    """A distribution over rankings for each query of a frame.

    Attributes
    ----------
    policy
        of `rerankers.policies`, over rows in the order of ``qids``; its documents are codes of ``docs``.
    qids, docs
        names.
    seed
        of draws that name no other.
    options
        browsing model and cutoff.
    counts
        what the method met, for instance ``targets_reached``.
    """

    policy: Policy
    qids: tuple[str, ...]
    docs: Ids
    seed: int
    options: Options
    counts: Mapping[str, int]

    def sample(self, n: int, seed: int | None = None, depth: int | None = None, first: int = 0) -> Draws:
        """Draw n independent rankings a query; draw i does not depend on how many are drawn.

        Parameters
        ----------
        n
            0 or more.
        seed
            None: that of the reranker.
        depth
            ranks kept; None for all.
        first
            number of the first draw.

        Raises
        ------
        InputError
            for numbers out of range.
        """
        drawn = self.policy.sample(n, self.seed if seed is None else seed, first, depth)
        over, flat, ranking = drawn.over, drawn.flat, drawn.ranking_of_item
        rank = drawn.rank + 1
        return Draws(
            self.qids,
            self.docs,
            over.query[drawn.row_of_ranking][ranking],
            over.doc[flat],
            drawn.label[ranking].astype(np.int64),
            rank,
            1.0 / rank,
        )

    def exposure(self, browsing: BrowsingModel | None = None, qrels: Any = None, samples: int = 1000) -> pa.Table:
        """Return the expected exposure of each candidate: Arrow table ``qid, docno, exposure``.

        Exact wherever the policy has a closed form under the browsing model, else the mean over draws.

        Parameters
        ----------
        browsing
            None: that of the reranker.
        qrels
            a frame or ``{qid: {docno: grade}}``, for models that look at relevance (GERR, ERR); whatever is not
            judged counts as grade 0. None: every grade is 0, so that nobody is satisfied and users only tire.
        samples
            draws, where there is no closed form.

        Raises
        ------
        ConfigError
            for what is no browsing model.
        InputError
            for judgments that are wrong.
        """
        from rerankers.exposure.rankings import exposure_of

        check_browsing(browsing)
        model = self.options.model if browsing is None else browsing
        over = self.policy.over
        bound = model.bind(self._grades(qrels), over.indptr)
        exact = self.policy.exposure(bound)
        found = exposure_of(self.policy.sample(samples, self.seed), bound) if exact is None else exact
        return pa.table(
            {
                "qid": pa.array(list(self.qids), pa.string()).take(pa.array(over.query[over.row_index])),
                "docno": self.docs.names.take(pa.array(over.doc)).cast(pa.string()),
                "exposure": pa.array(found.value),
            }
        )

    def _grades(self, qrels: Any) -> NDArray[np.float64]:
        over = self.policy.over
        if qrels is None:
            return np.zeros(over.nnz)
        from rerankers.api.inputs import judgments_of

        judged = judgments_of(qrels)
        names = self.docs.names.take(pa.array(over.doc)).to_pylist()
        rows = over.query[over.row_index].tolist()
        pairs = zip(rows, names, strict=True)
        return np.array([max(judged.get(self.qids[row], {}).get(name, 0), 0) for row, name in pairs], dtype=np.float64)


def check_browsing(browsing: object) -> None:
    """Raise `ConfigError` for what is neither None nor a browsing model, such as the name of one."""
    if browsing is not None and (isinstance(browsing, type) or not callable(getattr(browsing, "bind", None))):
        raise ConfigError(
            f"browsing: found {browsing!r}; expected None or an object of rerankers.exposure, for instance RBP(0.8)"
        )
