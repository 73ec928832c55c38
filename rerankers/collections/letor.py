"""Learning-to-rank data sets as collections: candidates with features, and labels as judgments."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from rerankers._base.errors import ConfigError, MissingError, Problems
from rerankers._base.fingerprint import file_fingerprint, fingerprint
from rerankers.collections.folder import need_file
from rerankers.collections.svmlight import SvmlightTable, read_svmlight
from rerankers.collections.trec_fair import CandidateCollection
from rerankers.values.collection import Topics
from rerankers.values.ids import Ids
from rerankers.values.qrels import QrelsTable, met
from rerankers.values.ragged import Candidates

if TYPE_CHECKING:
    from numpy.typing import NDArray

FILE_NAMES = ("{}.txt", "{}.svm", "{}.svmlight", "{}.libsvm", "{}.letor", "rank.{}", "{}")
_ALSO = {"valid": ("vali", "validation"), "vali": ("valid", "validation"), "validation": ("vali", "valid")}
_LOWEST, _HIGHEST = -32768, 32767
MOST_FEATURES = 10_000  # unless the config says that there are more: columns are dense


@dataclass(frozen=True, slots=True)
class Letor:
    """A file of labels and features (see `read_svmlight`), or a folder with one for each split.

    Attributes
    ----------
    path
        the file, or the folder.
    split
        of a folder: ``train`` is the one file of the names train.txt, train.svm, train.svmlight, train.libsvm,
        train.letor, rank.train and train (``vali``, ``valid`` and ``validation`` are one); of a file: null.
    groups
        a file of the number of lines of each query; null takes NAME.query or NAME.group beside the file.
    features
        number of features, for files whose last ones happen not to occur; null takes the highest that occurs.

    Notes
    -----
    Queries have no text. Feature 7 is the candidates' column ``f7``, or has the name that the file gives it. The
    document is what a line's comment names, else ``QID-N`` for the N-th line of its query, N with zeros in front: so
    documents of equal scores are in the order of the file.
    """

    path: str
    split: str | None = None
    groups: str | None = None
    features: int | None = None

    def __post_init__(self) -> None:
        if self.features is not None and self.features < 1:
            raise ConfigError(f"collection.features: found {self.features}; expected at least 1, or null")

    def load(self) -> CandidateCollection:
        """Read everything.

        Counts, where there are any: those of `read_svmlight`, ``queries_in_several_pieces`` (their lines are brought
        together, in the order of the file), ``queries_of_one_document``, ``queries_without_relevant``.

        Raises
        ------
        InputError
            with every problem of the file and its line: those of `read_svmlight`, labels that are no whole numbers,
            a document twice in a query, more features than there should be.
        ConfigError
            for a split of a file, or a folder without one.
        MissingError
            when there is no such file.
        """
        path = self._file()
        table = read_svmlight(path, self.groups)
        problems = Problems(str(path))
        grade = _grades(table, problems)
        names = self._names(table, problems)
        query, first = _codes(table.qid)
        order = np.argsort(query, kind="stable")
        docno = _docnos(table, query, order)
        docs, doc = Ids.coded(docno)
        _note_twice(query, doc, docs, table, problems)
        problems.raise_if_any()
        qids = table.qid.take(pa.array(first)).to_pylist()
        topics = Topics.of(qids, [""] * len(qids))
        judgments, found = QrelsTable(table.qid, docno, grade, {}).bind(topics.ids, docs)
        lengths = np.bincount(query, minlength=len(topics))
        found = {
            **table.counts,
            **met(
                queries_in_several_pieces=int(np.count_nonzero(np.diff(query))) + 1 - len(topics),
                queries_of_one_document=int(np.sum(lengths == 1)),
            ),
            **found,
        }
        matrix = table.columns(len(names))
        if np.any(np.diff(order) < 0):
            matrix = matrix[:, order]
        rows = np.arange(len(topics), dtype=np.int32)
        indptr = np.concatenate([[0], np.cumsum(lengths)])
        return CandidateCollection(
            name=f"letor {path.name}",
            docs=docs,
            topics=topics,
            judgments=judgments,
            fingerprint=fingerprint("letor", file_fingerprint(path), qids, list(names)),
            counts=found,
            candidates=Candidates(rows, indptr, doc[order], dict(zip(names, matrix, strict=True))),
            frequency=np.full(len(topics), np.nan),
        )

    def _file(self) -> Path:
        path = Path(self.path)
        if path.is_dir():
            if self.split is None:
                raise ConfigError(f"collection.split: found null; {path} is a folder: name a split, such as train")
            words = (self.split, *_ALSO.get(self.split, ()))
            return need_file(path, [name.format(word) for word in words for name in FILE_NAMES])
        if not path.is_file():
            raise MissingError(f"{path}: no such file or folder. Check collection.path; it starts at {Path.cwd()}")
        if self.split is not None:
            found = f"{self.split!r} and the file {path}"
            raise ConfigError(f"collection.split: found {found}; expected null for a file, or the folder as path")
        return path

    def _names(self, table: SvmlightTable, problems: Problems) -> tuple[str, ...]:
        width = table.width
        if self.features is None and width > MOST_FEATURES:
            mend = "Mend the file, or say so: collection.features=N"
            problems.add(None, f"a feature number of {width:,}", f"at most {MOST_FEATURES:,}", mend)
            problems.raise_if_any()
        if self.features is not None and width > self.features:
            problems.add(None, f"{width} features", f"at most {self.features}, as collection.features says")
        count = max(width, self.features or 0, 1)
        given = table.names or ()
        names = (*given, *(f"f{number}" for number in range(len(given) + 1, count + 1)))
        for taken in set(names) & {"score", "estimates"}:
            problems.add(None, f"a feature {taken!r}", "other names: candidates have columns of that name")
        return names


def _grades(table: SvmlightTable, problems: Problems) -> NDArray[np.int16]:
    label = table.label
    wrong = (label != np.rint(label)) | (label < _LOWEST) | (label > _HIGHEST)
    for row in np.flatnonzero(wrong).tolist():
        problems.add(int(table.line[row]), f"label {label[row]!s}", f"a whole number from {_LOWEST} to {_HIGHEST}")
    grade: NDArray[np.int16] = np.where(wrong, 0, label).astype(np.int16)
    return grade


def _codes(qid: pa.LargeStringArray) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the number of each line's query in order of appearance, and the first line of each query."""
    code = qid.dictionary_encode().indices.to_numpy().astype(np.int64)
    _, first = np.unique(code, return_index=True)
    return code, first


def _docnos(table: SvmlightTable, query: NDArray[np.int64], order: NDArray[np.int64]) -> pa.LargeStringArray:
    """Return the document of each line; one without a name is called by its query and its place in it, from 1."""
    missing = np.flatnonzero(table.docno.is_null().to_numpy(zero_copy_only=False))
    if not len(missing):
        return table.docno
    place = np.empty(len(query), dtype=np.int64)
    ends = np.concatenate([[0], np.cumsum(np.bincount(query))])
    place[order] = np.arange(len(query)) - ends[query[order]] + 1
    qids, numbers = table.qid.take(pa.array(missing)).to_pylist(), place[missing].tolist()
    wide = len(str(int(np.bincount(query).max())))  # so that equal scores stay in the order of the file
    made = pa.array([f"{qid}-{number:0{wide}d}" for qid, number in zip(qids, numbers, strict=True)], pa.large_string())
    if len(missing) == len(query):
        return made
    source = np.arange(len(query))
    source[missing] = len(query) + np.arange(len(missing))
    return pa.concat_arrays([table.docno, made]).take(pa.array(source))


def _note_twice(
    query: NDArray[np.int64], doc: NDArray[np.int32], docs: Ids, table: SvmlightTable, problems: Problems
) -> None:
    key = query << 32 | doc
    _, first, inverse = np.unique(key, return_index=True, return_inverse=True)
    for row in np.flatnonzero(first[inverse] != np.arange(len(key))).tolist():
        found = f"document {docs.name(doc[row])!r} of query {table.qid[row].as_py()!r} again"
        before = int(table.line[first[inverse[row]]])
        problems.add(int(table.line[row]), f"{found}, as in line {before}", "each document once a query")
