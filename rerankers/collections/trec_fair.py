"""The native folders of TREC Fair Ranking 2019 and 2020 as collections. The files are never part of this project.

Their licence (Semantic Scholar) is for non-commercial use and forbids passing them on; `official_files` knows where
they live.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.errors import choose
from rerankers._base.fingerprint import file_fingerprint, fingerprint
from rerankers.collections.annotations import ATTRIBUTES, read_annotations
from rerankers.collections.folder import find_file
from rerankers.collections.official_files import check_editions, need_official, need_official_folder
from rerankers.collections.paper_tables import PaperTable, read_author_numbers, read_paper_authors, read_papers
from rerankers.collections.ragged_labels import read_ragged_labels
from rerankers.collections.trec_samples import Sample, read_sample
from rerankers.values.authors import Authors
from rerankers.values.collection import Collection
from rerankers.values.ids import Ids
from rerankers.values.labels import Labels
from rerankers.values.qrels import met
from rerankers.values.ragged import Candidates

if TYPE_CHECKING:
    from numpy.typing import NDArray

SPLITS = ("eval", "train")
SAMPLES_2020 = {
    "eval": ("TREC-Fair-Ranking-eval-sample.json", "TREC-Fair-Ranking-eval-sample-no-rel.json"),
    "train": ("TREC-Fair-Ranking-training-sample.json",),
}
SAMPLES_2019 = {
    "eval": ("TREC-Competition-eval-sample-with-rel.json", "fair-TREC-evaluation-sample.json"),
    "train": ("fair-TREC-training-sample.json",),
}
ANNOTATIONS = ("merged-annotations.json", "2020-merged-annotations.json")
DOC_ANNOTATIONS = ("doc-annotations.csv", "2020-doc-annotations.csv")
TABLES = "corpus-subset-for-queries"
LABELS_2019 = {"level": ("article-level.csv",), "h_index": ("article-h_index_4.csv",)}


@dataclass(frozen=True, slots=True, eq=False)
class CandidateCollection(Collection):
    """A collection that says which documents are to be ranked for each query.

    Attributes
    ----------
    candidates
        one row a topic, documents in the order of the file; without scores.
    frequency
        float64 (topics,), how often each query is asked, NaN where it is not said.
    """

    candidates: Candidates = field(default_factory=Candidates.empty)
    frequency: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))

    def over(self, docs: Ids) -> CandidateCollection:
        """Return the collection over more documents; see `Collection.over`."""
        if docs.fingerprint == self.docs.fingerprint:
            return self
        moved = Collection.over(self, docs)
        candidates = self.candidates.recode(self.docs.recoder(docs))
        return replace(self, **{name: getattr(moved, name) for name in Collection.__slots__}, candidates=candidates)


@dataclass(frozen=True, slots=True)
class Trec2020:
    """The folder of 2020: a query file and, where they are there, tables of papers and authors, annotations.

    Parameters
    ----------
    path
        the folder.
    split
        ``eval`` or ``train``.
    """

    path: str
    split: str = "eval"

    def __post_init__(self) -> None:
        choose("collection.split", self.split, SPLITS)

    def load(self) -> CandidateCollection:
        """Read everything.

        Counts say what does not fit together: ``candidate_pairs_without_metadata``,
        ``candidate_documents_without_author``, all that the readers met, and copies of files that are not those that
        were tested (`check_editions`). The licence is shown once a machine.

        Raises
        ------
        MissingError
            when the folder or the query file is not there; the text says where it officially lives.
        InputError
            with every problem of a file and its line.
        """
        folder = need_official_folder(self.path, SAMPLES_2020[self.split])
        files = [need_official(folder, SAMPLES_2020[self.split])]
        sample = read_sample(files[0])
        paths = {name: find_file(folder, [f"{TABLES}.{name}.csv"]) for name in ("papers", "paper_authors", "authors")}
        papers = None if paths["papers"] is None else read_papers(paths["papers"])
        docs = Ids.union(sample.docno, *([] if papers is None else [papers.texts.docno]))
        counts = {**sample.counts, **({} if papers is None else papers.counts)}
        authors = _authors(paths["paper_authors"], paths["authors"], docs, counts)
        annotations = find_file(folder, ANNOTATIONS) or find_file(folder, DOC_ANNOTATIONS)
        groups: dict[str, Labels] = {}
        for attribute in ATTRIBUTES if annotations is not None else ():
            groups[attribute], found = read_annotations(annotations or "", attribute).labels(docs)
            counts |= {f"{attribute}_{name}": count for name, count in found.items()}
        files += [path for path in (*paths.values(), annotations) if path is not None]
        counts |= {**_reconciled(sample, docs, papers, authors, groups), **check_editions(files)}
        return _collection(f"trec2020 {self.split}", files, sample, docs, counts, groups, authors, papers)


@dataclass(frozen=True, slots=True)
class Trec2019:
    """The folder of 2019: a query file and, where they are there, the labels of authors by level and by h-index.

    There is no metadata for 2019: documents have ids only.

    Parameters
    ----------
    path
        the folder.
    split
        ``eval`` or ``train``.
    """

    path: str
    split: str = "eval"

    def __post_init__(self) -> None:
        choose("collection.split", self.split, SPLITS)

    def load(self) -> CandidateCollection:
        """Read everything; raises as `Trec2020.load`."""
        folder = need_official_folder(self.path, SAMPLES_2019[self.split])
        files = [need_official(folder, SAMPLES_2019[self.split])]
        sample = read_sample(files[0])
        docs = Ids.union(sample.docno)
        counts, groups = dict(sample.counts), dict[str, Labels]()
        for attribute, names in LABELS_2019.items():
            path = find_file(folder, names)
            if path is not None:
                files.append(path)
                groups[attribute], found = read_ragged_labels(path).labels(attribute, docs)
                counts |= {f"{attribute}_{name}": count for name, count in found.items()}
        counts |= {**_reconciled(sample, docs, None, None, groups), **check_editions(files)}
        return _collection(f"trec2019 {self.split}", files, sample, docs, counts, groups, None, None)


def _authors(links: Path | None, table: Path | None, docs: Ids, counts: dict[str, int]) -> Authors | None:
    if links is None:
        return None
    authors, found = read_paper_authors(links, docs)
    counts |= found
    if table is None:
        return authors
    numbers = read_author_numbers(table)
    fields, bound = numbers.bind(authors.ids)
    counts |= {**numbers.counts, **bound}
    return replace(authors, fields=fields)


def _reconciled(
    sample: Sample, docs: Ids, papers: PaperTable | None, authors: Authors | None, groups: Mapping[str, Labels]
) -> dict[str, int]:
    """Count candidates that other files do not know."""
    doc = docs.codes(sample.docno)
    distinct = np.unique(doc)
    found = {"candidate_documents": len(distinct)}
    if papers is not None:
        known = np.isin(doc, docs.codes(papers.texts.docno))
        found["candidate_pairs_without_metadata"] = int(np.sum(~known))
    if authors is not None:
        found["candidate_documents_without_author"] = int(np.sum(np.diff(authors.indptr)[distinct] == 0))
    for attribute, labels in groups.items():
        known = np.zeros(labels.n_docs, dtype=bool)
        known[labels.doc[labels.label >= 0]] = True
        found[f"candidate_documents_without_{attribute}"] = int(np.sum(~known[distinct]))
        found[f"candidate_pairs_without_{attribute}"] = int(np.sum(~known[doc]))
    return dict(met(**found))


def _collection(
    name: str,
    files: list[Path],
    sample: Sample,
    docs: Ids,
    counts: Mapping[str, int],
    groups: Mapping[str, Labels],
    authors: Authors | None,
    papers: PaperTable | None,
) -> CandidateCollection:
    judgments, bound = sample.qrels().bind(sample.topics.ids, docs)
    rows = np.arange(len(sample.topics), dtype=np.int32)
    fields = {}
    for key, column in ({} if papers is None else papers.fields).items():
        fields[key] = np.full(len(docs), np.nan)
        fields[key][docs.codes(papers.texts.docno if papers is not None else [])] = column
    return CandidateCollection(
        name=name,
        docs=docs,
        topics=sample.topics,
        judgments=judgments,
        fingerprint=fingerprint("trec fair", name, [file_fingerprint(path) for path in files]),
        groups=groups,
        authors=authors,
        fields=fields,
        documents=None if papers is None else papers.texts,
        counts={**counts, **bound},
        candidates=Candidates(rows, sample.indptr, docs.codes(sample.docno)),
        frequency=sample.frequency,
    )
