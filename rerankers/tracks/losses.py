"""What a finite submission loses: its own expected-exposure loss beside that of the policy it was drawn from.

EEL is the squared distance of exposure from equal expected exposure, of documents or of groups (Diaz et al. 2020).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from rerankers._base.errors import InputError
from rerankers.exposure.browsing import GERR, Positions
from rerankers.measures.decomposition import decompose, mean_square
from rerankers.measures.evaluation import Evaluation, Options
from rerankers.tracks.candidates import read_queries
from rerankers.tracks.file_kinds import first_line
from rerankers.tracks.groups2020 import groups_of_file
from rerankers.tracks.trec2020 import CORRECTED
from rerankers.tracks.wiki_topics import read_relevant_pages
from rerankers.values import Ids
from rerankers.values.qrels import QrelsTable, read_qrels

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from rerankers.exposure.browsing import BrowsingModel
    from rerankers.policies import Policy
    from rerankers.tracks.groups2020 import PairGroups
    from rerankers.tracks.schedules import Part
    from rerankers.tracks.track import Track
    from rerankers.tracks.wiki_topics import RelevantPages
    from rerankers.values import GroupAlignment, Judgments

__all__ = ["Losses", "browsing_of", "losses", "read_judgments", "read_loss_groups"]

DRAWS = 1000  # where a policy has no closed form


@dataclass(frozen=True, slots=True)
class Losses:
    """Means over schedules (a query in a sequence) whose query is judged; lower is better.

    Attributes
    ----------
    attribute
        whose exposure it is: the groups of an attribute; None: documents.
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

    attribute: str | None
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


def read_judgments(path: str | Path, qids: Sequence[str], docs: Ids, track: Track) -> tuple[Judgments, Ids]:
    """Read judgments and code them.

    In 2020-retrieval only documents of a grade above 0 count, as in its evaluation: the others take ranks, no more.

    Parameters
    ----------
    path
        a file whose first line begins with a curly bracket is the track's own: queries with relevance (2019, 2020) or
        topics with ``rel_docs`` (2021, 2022), which are all of grade 1; any other file is TREC qrels.
    qids, docs
        the names behind the codes.

    Returns
    -------
    judgments, docs
        the names behind the document codes: those given, then documents that are judged for these queries and never
        ranked, which have no exposure but a target.
    """
    path = Path(path)
    own = first_line(path).startswith("{")
    if own and track.form == "tsv":
        relevant = read_relevant_pages(path)
        if not len(relevant.page):
            raise InputError.one(str(path), "no relevant page", 'lines of the form {"id": 12, "rel_docs": [3, 17]}')
        table = _of_relevant(relevant)
    elif own or (track.form == "jsonl" and {".json", ".jsonl"} & set(path.suffixes[-2:])):
        queries = read_queries(path).queries
        pairs = [(qid, docno, grade) for qid, query in queries.items() for docno, grade in query.grade.items()]
        qid, docno = (pa.array([pair[part] for pair in pairs], pa.large_string()) for part in (0, 1))
        table = QrelsTable(qid, docno, np.array([grade for _, _, grade in pairs], dtype=np.int16), {})
    else:
        table = read_qrels(path)
    if track.year == 2020 and not track.complete:
        kept = table.grade > 0
        table = QrelsTable(table.qid.filter(kept), table.docno.filter(kept), table.grade[kept], table.counts)
    never = Ids.union(table.docno.filter(docs.codes(table.docno) < 0))
    every = Ids.of(pa.concat_arrays([docs.names, never.names])) if len(never) else docs
    judgments, _ = table.bind(Ids.of(qids), every)
    return judgments, every


def _of_relevant(relevant: RelevantPages) -> QrelsTable:
    qid = pa.array(np.repeat(np.array(relevant.topics, dtype=object), np.diff(relevant.indptr)), pa.large_string())
    docno = pa.array(relevant.page).cast(pa.large_string())
    return QrelsTable(qid, docno, np.ones(len(relevant.page), dtype=np.int16), {})


def read_loss_groups(path: str | Path, docs: Ids, judgments: Judgments, attribute: str | None) -> PairGroups:
    """Read the groups of documents as the evaluation of 2020 does by default.

    Documents of several groups belong to the group "mixed", those without one make up the group "unknown".

    Parameters
    ----------
    path
        ``merged-annotations.json``, ``doc-annotations.csv``, or CSV ``docno,group[,weight]``.
    docs, judgments
        of `read_judgments`.
    attribute
        of the file; None: ``level`` of annotations, or the file's only one.

    Raises
    ------
    InputError
        with every problem of the file.
    ConfigError
        for an attribute that the file does not have, or a file of authors.
    """
    return groups_of_file(Path(path), docs, judgments, replace(CORRECTED, attribute=attribute).group_rules)


def losses(
    policy: Policy,
    parts: Sequence[Part],
    judgments: Judgments,
    track: Track,
    seed: int,
    groups: GroupAlignment | None = None,
) -> tuple[Losses, ...]:
    """Return the losses over judged documents, and over their groups where given; nothing where no query is judged.

    Parameters
    ----------
    policy
        over the rows that the parts name.
    seed
        of the draws of a policy without a closed form.
    groups
        resolved, over the document codes of policy and judgments.
    """
    model = browsing_of(track)
    options = Options(browsing=model, universe="judged", samples=DRAWS, seed=seed)
    aligned = {} if groups is None else {groups.attribute: groups}
    own = Evaluation(policy, judgments, aligned, options)
    judged = own.query_judged
    asked = [(part.rows[judged[part.rows]], part.rankings.take(np.flatnonzero(judged[part.rows]))) for part in parts]
    files = [
        (rows, Evaluation(rankings, judgments, aligned, options), rankings.counts)
        for rows, rankings in asked
        if len(rows)
    ]
    if not files:
        return ()
    browsing = str(model) if track.depth is None or track.year == 2020 else f"1/log2(max(rank, 2)) to {track.depth}"
    attributes: list[str | None] = [None, *aligned]
    return tuple(_losses(own, files, attribute, browsing) for attribute in attributes)


def _losses(
    own: Evaluation,
    files: Sequence[tuple[NDArray[np.int64], Evaluation, NDArray[np.int64]]],
    attribute: str | None,
    browsing: str,
) -> Losses:
    """Return the means over (rows of the policy, their rankings, how many those are)."""
    model = own.options.model
    terms = decompose(own, model, attribute)
    found: list[tuple[NDArray[np.float64], ...]] = []
    for rows, evaluation, count in files:
        file = decompose(evaluation, model, attribute).loss
        variance = np.maximum(mean_square(evaluation, model, attribute) - terms.disparity[rows], 0.0)
        found.append((file, terms.loss[rows], terms.loss[rows] + variance / count))
    file, mine, independent = (np.concatenate([part[place] for part in found]) for place in range(3))
    return Losses(
        attribute=attribute,
        file=float(np.mean(file)),
        policy=float(np.mean(mine)),
        independent=float(np.mean(independent)),
        exact=not own.estimated(model),
        schedules=len(file),
        browsing=browsing,
    )
