"""Grep-BiasIR: bias-sensitive queries, each with a relevant and another text, in three wordings.

A wording speaks of women (F), of men (M) or of neither (N); the relevant text has all three, so that relevance and
wording are separate: whoever ranks by relevance alone may choose any of them (Krieg, Parada-Cabaleiro, Medicus,
Lesota, Schedl and Rekabsaz 2023, "Grep-BiasIR: a dataset for investigating gender representation-bias in information
retrieval results").
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
import pyarrow as pa

from rerankers._base.fingerprint import fingerprint
from rerankers.collections.grep_biasir_files import GrepFiles, read_grep_biasir
from rerankers.collections.paper_tables import PaperTexts
from rerankers.collections.split import check_split, split_collection
from rerankers.values.collection import Collection, Topics
from rerankers.values.ids import Ids
from rerankers.values.labels import NO_LABEL, Labels
from rerankers.values.qrels import QrelsTable, met

if TYPE_CHECKING:
    from numpy.typing import NDArray

GENDER: Final = "gender"
STEREOTYPE: Final = "expected_stereotype"
GENDERS: Final = {"N": "neutral", "M": "male", "F": "female"}
STEREOTYPES: Final = {
    "no annotation agreement": "no_agreement",
    "towards male": "towards_male",
    "towards female": "towards_female",
}


@dataclass(frozen=True, slots=True)
class GrepBiasIR:
    """The folder of Grep-BiasIR (`read_grep_biasir`).

    Parameters
    ----------
    path
        the folder.
    split
        ``train`` or ``eval``: the queries of that side; None: all.
    train_share
        share of the queries in ``train``, strictly between 0 and 1.

    Notes
    -----
    Attributes are ``gender`` (``neutral``, ``male``, ``female``: ``content_gender`` N, M, F) and
    ``expected_stereotype`` (``no_agreement``, ``towards_male``, ``towards_female``, which belongs to the query). Any
    other word, such as the ``both`` and ``botrh`` of five rows, is an unknown group and counted.
    """

    path: str
    split: str | None = None
    train_share: float = 0.5

    def __post_init__(self) -> None:
        check_split(self.split, self.train_share)

    def load(self) -> Collection:
        """Read everything; texts stay in memory, in the fields ``title`` and ``text``.

        Counts are those of `read_grep_biasir` and ``gender_labels_unknown``, ``expected_stereotype_labels_unknown``.

        Raises
        ------
        MissingError
            when the files are not there.
        InputError
            with every problem of the files and its line.
        """
        files = read_grep_biasir(self.path)
        docs, code = Ids.coded([row.docno for row in files.rows])
        topics = Topics.of(list(files.queries), list(files.queries.values()))
        qrels = QrelsTable(
            pa.array([row.query for row in files.rows], pa.large_string()),
            pa.array([row.docno for row in files.rows], pa.large_string()),
            np.array([row.relevant for row in files.rows], np.int16),
            met(judgments=len(files.rows)),
        )
        judgments, bound = qrels.bind(topics.ids, docs)
        place = np.argsort(code, kind="stable")
        gender, odd = _labels(GENDER, GENDERS, [row.gender for row in files.rows], place)
        words = [row.stereotype.casefold() for row in files.rows]
        stereotype, vague = _labels(STEREOTYPE, STEREOTYPES, words, place)
        collection = Collection(
            name="grep-biasir",
            docs=docs,
            topics=topics,
            judgments=judgments,
            fingerprint=fingerprint("grep-biasir", dict(files.queries), [_content(row) for row in files.rows]),
            groups={GENDER: gender, STEREOTYPE: stereotype},
            documents=_texts(files, place),
            counts={
                **files.counts,
                **qrels.counts,
                **bound,
                **met(gender_labels_unknown=odd, expected_stereotype_labels_unknown=vague),
            },
        )
        return split_collection(collection, self.split, self.train_share)


def _content(row: object) -> list[str]:
    return [str(getattr(row, name)) for name in ("query", "docno", "relevant", "title", "text", "gender", "stereotype")]


def _labels(
    attribute: str, names: Mapping[str, str], words: Sequence[str], place: NDArray[np.int64]
) -> tuple[Labels, int]:
    """Return the labels of documents by code, and how many say something else."""
    known = {word: number for number, word in enumerate(names)}
    label = np.array([known.get(word, NO_LABEL) for word in words], np.int32)[place]
    indptr = np.arange(len(words) + 1, dtype=np.int64)
    return Labels(attribute, tuple(names.values()), "document", indptr, label), int(np.sum(label == NO_LABEL))


def _texts(files: GrepFiles, place: NDArray[np.int64]) -> PaperTexts:
    ordered = [files.rows[row] for row in place.tolist()]
    columns = {
        "title": pa.array([row.title for row in ordered], pa.large_string()),
        "text": pa.array([row.text for row in ordered], pa.large_string()),
    }
    names = pa.array([row.docno for row in ordered], pa.large_string())
    mark = fingerprint("grep-biasir texts", [[row.docno, row.title, row.text] for row in ordered])
    return PaperTexts(names, columns, mark)
