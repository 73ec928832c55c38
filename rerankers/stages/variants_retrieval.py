"""What the variants of all sets retrieve: one batch through the retriever, or runs that are there already."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from rerankers._base.errors import ConfigError, InputError
from rerankers.queries.ranked import Ranked
from rerankers.retrieval.listed import read_listed, trusted_scores
from rerankers.values import Candidates, Ids, Judgments, Topics
from rerankers.values.qrels import met

if TYPE_CHECKING:
    from pathlib import Path

    from rerankers.queries.variant_files import VariantFile
    from rerankers.retrieval import Retriever
    from rerankers.stages.variants_sets import Sets
    from rerankers.values import Collection, Counts

Places = Mapping[str, tuple[int, ...]]
"""Topic id -> row of each of its distinct variants in a set, in their order."""


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """The rankings of all variants.

    Attributes
    ----------
    docs
        the ids behind the document codes.
    candidates
        B rows of at most ``depth`` documents, one row a variant of a topic; variants that several sets share have one
        row, unless a run is of one set only. ``query`` is the row's number.
    topics
        the rows as queries: id, text, and the number of the topic in `Sets.topics`.
    rows
        name of a set -> `Places`.
    counts
        what was met on the way.
    seconds
        wall time by step.
    """

    docs: Ids
    candidates: Candidates
    topics: Topics
    rows: Mapping[str, Places]
    counts: Counts
    seconds: Mapping[str, float] = field(default_factory=dict)

    def ranked(self) -> dict[str, dict[str, list[Ranked]]]:
        """Return set -> topic -> ranking of each distinct variant."""
        doc, score = self.candidates.doc.astype(np.int64), self.candidates.score
        each = [Ranked(doc[part], score[part]) for part in map(self.candidates.row, range(len(self)))]
        return {
            name: {topic: [each[row] for row in rows] for topic, rows in of.items()} for name, of in self.rows.items()
        }

    def over(self, docs: Ids) -> Found:
        """Return the same rankings under the codes of more documents."""
        return replace(self, docs=docs, candidates=self.candidates.recode(self.docs.recoder(docs)))

    def __len__(self) -> int:
        return len(self.candidates)


def row_id(topic: str, text: str, of: str = "") -> str:
    """Return the query id of a variant: its draws depend on topic and text, not on what else there is."""
    return f"{of}{topic}#{hashlib.sha256(text.encode()).hexdigest()[:12]}"


def retrieve_variants(
    sets: Sets,
    runs: Mapping[str, str],
    collection: Collection | None,
    retriever: Retriever,
    depth: int,
    cache: Path,
) -> Found:
    """Return the first ``depth`` documents of every distinct variant.

    Parameters
    ----------
    sets
        the sets.
    runs
        name of a set -> file of its run, a ranking a variant under the variant's id (`VariantFile.ids`).
    collection
        that the retriever searches for the sets without a run; None where every set has one.
    retriever
        asked once, for all of them.
    depth
        how many documents are kept.
    cache
        folder of the retriever's cache.

    Raises
    ------
    ConfigError
        for runs of sets that there are not, sets without a run where there is no collection, and a retriever that
        finds nothing at all.
    InputError, MissingError
        of runs and retriever; and for a run that names no variant of its set.
    """
    lost = [name for name in runs if name not in sets.files]
    if lost:
        raise ConfigError(f"runs: found {lost[0]!r}; expected names of sets: {', '.join(sets.files)}")
    asked = [name for name in sets.files if name not in runs]
    if asked and collection is None:
        raise ConfigError(f"runs: none for {', '.join(asked)}; expected one a set, or a collection to search")
    number = {topic: place for place, topic in enumerate(sets.topics)}
    parts: list[_Part] = []
    if asked and collection is not None:
        parts.append(_searched(sets, asked, collection, retriever, depth, cache))
    parts += [_stored(name, sets.files[name], runs[name], depth) for name in sets.files if name in runs]
    base = [] if collection is None else [collection.docs]
    docs = Ids.union(*base, *(part.docs for part in parts))
    counts: dict[str, int] = {}
    keys: list[tuple[str, str, str]] = []
    places: dict[tuple[str, str, str], int] = {}
    rows: list[Candidates] = []
    for part in parts:
        counts |= part.counts
        rows.append(part.rows.recode(part.docs.recoder(docs)))
        for key in part.keys:
            places[key] = len(keys)
            keys.append(key)
    candidates = _joined(rows)
    topics = Topics.of(
        [row_id(topic, text, of) for of, topic, text in keys],
        [text for _, _, text in keys],
        [number[topic] for _, topic, _ in keys],
    )
    of_set = {name: f"{name}:" if name in runs else "" for name in sets.files}
    found = {
        name: {
            topic: tuple(places[of_set[name], topic, text] for text in file.variants.distinct(topic))
            for topic in file.variants.texts
        }
        for name, file in sets.files.items()
    }
    counts |= met(
        distinct_variants=len(keys),
        variants_without_hits=int(np.sum(candidates.lengths == 0)),
    )
    seconds = {name: value for part in parts for name, value in part.seconds.items()}
    return Found(docs, candidates, topics, found, counts, seconds)


@dataclass(frozen=True, slots=True, eq=False)
class _Part:
    """Rows from one source, each under (prefix of its set, topic, text)."""

    docs: Ids
    rows: Candidates
    keys: Sequence[tuple[str, str, str]]
    counts: Mapping[str, int]
    seconds: Mapping[str, float] = field(default_factory=dict)


def _searched(
    sets: Sets, names: Sequence[str], collection: Collection, retriever: Any, depth: int, cache: Path
) -> _Part:
    pairs = dict.fromkeys(
        (topic, text) for topic in sets.topics for name in names for text in sets.files[name].variants.distinct(topic)
    )
    topics = Topics.of([row_id(*pair) for pair in pairs], [text for _, text in pairs])
    judged = Judgments.empty().with_columns(grade=np.empty(0, np.int16))
    if hasattr(retriever, "k"):  # deeper candidates would be cut off again
        retriever = replace(retriever, k=depth)
    found = retriever.retrieve(replace(collection, topics=topics, judgments=judged), cache)
    if not found.candidates.nnz:
        raise ConfigError(
            f"retriever: {type(retriever).__name__} found nothing for any of {len(topics):,} variants; expected a "
            "retriever that searches texts, such as bm25, or stored runs of the sets: runs=[NAME:FILE,…]"
        )
    counts = {name: count for name, count in found.counts.items() if name != "queries_without_candidates"}
    keys = [("", *pair) for pair in pairs]
    return _Part(found.docs, _cut(found.candidates, depth), keys, counts, found.seconds)


def _stored(name: str, file: VariantFile, path: str, depth: int) -> _Part:
    run, listed, repeated = read_listed(path)
    score, replaced = trusted_scores(listed)
    listed = listed.with_columns(score=score)
    row = {run.qids[query]: place for place, query in enumerate(listed.query.tolist())}
    keys: list[tuple[str, str, str]] = []
    chosen: list[int] = []
    used = set()
    for topic in file.variants.texts:
        ids: dict[str, list[str]] = {}
        for own, text in file.names_of(topic).items():
            ids.setdefault(text, []).append(own)
        for text in file.variants.distinct(topic):
            used.update(ids[text])
            keys.append((f"{name}:", topic, text))
            chosen.append(next((row[own] for own in ids[text] if own in row), -1))
    if max(chosen, default=-1) < 0:
        some = next(iter(file.ids.values()))
        found = f"queries {', '.join(list(row)[:5])}"
        raise InputError.one(path, found, f"ids of the variants of {name}: {', '.join(some[:5])} and so on")
    empty = Candidates(np.array([0]), np.array([0, 0]), np.empty(0, np.int32), {"score": np.empty(0)})
    whole = _joined([Candidates(listed.query, listed.indptr, listed.doc, {"score": score}), empty])
    rows = whole.take(np.array([place if place >= 0 else len(listed) for place in chosen]))
    counts = met(
        **run.counts,
        queries_whose_one_ranking_is_repeated=repeated,
        queries_whose_scores_are_1_over_rank=replaced,
        variants_without_a_ranking=sum(place < 0 for place in chosen),
        rankings_of_no_variant=sum(qid not in used for qid in row),
    )
    return _Part(run.docs, _cut(rows, depth), keys, {f"run_{name}_{what}": count for what, count in counts.items()})


def _cut(rows: Candidates, depth: int) -> Candidates:
    keep = np.arange(rows.nnz) - rows.indptr[rows.row_index] < depth
    indptr = np.concatenate([[0], np.cumsum(np.minimum(rows.lengths, depth))])
    return Candidates(rows.query, indptr, rows.doc[keep], {name: column[keep] for name, column in rows.columns.items()})


def _joined(parts: Sequence[Candidates]) -> Candidates:
    """Return the rows of all parts one after another, numbered anew, with their scores."""
    lengths = np.concatenate([part.lengths for part in parts])
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    score = np.concatenate([part.score for part in parts])
    return Candidates(
        np.arange(len(lengths), dtype=np.int32), indptr, np.concatenate([part.doc for part in parts]), {"score": score}
    )
