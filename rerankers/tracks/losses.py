"""What a finite submission loses: its own expected-exposure loss beside that of the policy it was drawn from."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from rerankers.exposure.browsing import GERR, Positions
from rerankers.measures.decomposition import decompose, mean_square
from rerankers.measures.evaluation import Evaluation, Options
from rerankers.tracks.candidates import read_queries
from rerankers.values import Ids
from rerankers.values.qrels import QrelsTable, read_qrels

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from rerankers.exposure.browsing import BrowsingModel
    from rerankers.policies import Policy
    from rerankers.tracks.schedules import Part
    from rerankers.tracks.track import Track
    from rerankers.values import Judgments, Rankings

__all__ = ["Losses", "browsing_of", "losses", "read_judgments"]

DRAWS = 1000  # where a policy has no closed form


@dataclass(frozen=True, slots=True)
class Losses:
    """Means over schedules (a query in a sequence) whose query is judged; lower is better.

    Attributes
    ----------
    file
        EEL of the published rankings: their mean exposure against the target, nothing corrected.
    policy
        EEL of the policy itself, which a file comes near to with the number of its rankings.
    independent
        what as many independent draws lose on average: policy + (E|X|^2 - |E X|^2) / n over one draw's exposure X.
    exact
        whether ``policy`` is in closed form; else it is an unbiased estimate from draws.
    schedules
        how many these are means over.
    browsing
        the browsing model, as text.
    """

    file: float
    policy: float
    independent: float
    exact: bool
    schedules: int
    browsing: str


def browsing_of(track: Track) -> BrowsingModel:
    """Return the browsing model of a year.

    GERR with satisfaction 0.7 (2019) or 0.5 (2020); 1 / log2(max(rank, 2)) with ranks from 1 to the track's depth
    (2021, 2022).
    """
    if track.year < 2021:
        return GERR(0.5, 0.7 if track.year == 2019 else 0.5)
    rank = np.arange(1, (track.depth or 0) + 1)
    return Positions(tuple((1.0 / np.log2(np.maximum(rank, 2))).tolist()))


def read_judgments(path: str | Path, qids: Sequence[str], docs: Ids) -> Judgments:
    """Read judgments and code them.

    Parameters
    ----------
    path
        ``*.json`` and ``*.jsonl`` (perhaps ``.gz``, ``.zst``) are the track's own queries with relevance; any other
        file is TREC qrels.
    qids, docs
        the names behind the codes.
    """
    path = Path(path)
    if {".json", ".jsonl"} & set(path.suffixes[-2:]):
        queries = read_queries(path).queries
        pairs = [(qid, docno, grade) for qid, query in queries.items() for docno, grade in query.grade.items()]
        qid, docno = (pa.array([pair[part] for pair in pairs], pa.large_string()) for part in (0, 1))
        table = QrelsTable(qid, docno, np.array([grade for _, _, grade in pairs], dtype=np.int16), {})
    else:
        table = read_qrels(path)
    judgments, _ = table.bind(Ids.of(qids), docs)
    return judgments


def losses(policy: Policy, parts: Sequence[Part], judgments: Judgments, track: Track, seed: int) -> Losses | None:
    """Return the losses over judged documents, or None where no query is judged.

    Parameters
    ----------
    policy
        over the rows that the parts name.
    seed
        of the draws of a policy without a closed form.
    """
    model = browsing_of(track)
    options = Options(browsing=model, universe="judged", samples=DRAWS, seed=seed)
    own = Evaluation(policy, judgments, {}, options)
    terms = decompose(own, own.options.model, None)
    judged = own.query_judged
    found: list[tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]] = []
    for part in parts:
        rows = part.rows[judged[part.rows]]
        if len(rows):
            file, square, count = _of_rankings(
                part.rankings.take(np.flatnonzero(judged[part.rows])), judgments, options
            )
            variance = np.maximum(square - terms.disparity[rows], 0.0)
            found.append((file, terms.loss[rows], terms.loss[rows] + variance / count))
    if not found:
        return None
    file, mine, independent = (np.concatenate([part[place] for part in found]) for place in range(3))
    return Losses(
        file=float(np.mean(file)),
        policy=float(np.mean(mine)),
        independent=float(np.mean(independent)),
        exact=not own.estimated(model),
        schedules=len(file),
        browsing=str(model) if track.depth is None or track.year == 2020 else f"1/log2(max(rank, 2)) to {track.depth}",
    )


def _of_rankings(
    rankings: Rankings, judgments: Judgments, options: Options
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int64]]:
    """Return the loss of each row's rankings, the mean squared norm of one ranking's exposure, and their number."""
    evaluation = Evaluation(rankings, judgments, {}, options)
    loss = decompose(evaluation, options.model, None).loss
    return loss, mean_square(evaluation, options.model, None), rankings.counts
