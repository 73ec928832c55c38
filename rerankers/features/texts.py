"""The words of candidates and queries, read once; how many documents of the collection have each."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Final

import numpy as np

from rerankers.features.word_lists import Vocabulary, Words
from rerankers.features.words import stem, words_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.values import DocumentStore, Ids

_DOCUMENTS_A_STEP: Final = 5_000
_FORMS_KEPT: Final = 1_000_000  # forms of words that are not among the candidates, remembered


@dataclass(frozen=True, slots=True, eq=False)
class FieldTexts:
    """The words of one field.

    Attributes
    ----------
    doc
        int64 (T,), codes of candidate documents with at least one word there, ascending.
    words
        of these documents, in this order.
    """

    doc: NDArray[np.int64]
    words: Words

    @property
    def lengths(self) -> NDArray[np.int64]:
        """int64 (T,), the number of words of each document."""
        return np.diff(self.words.indptr)

    def find(self, doc: NDArray[np.int32]) -> NDArray[np.int64]:
        """Return the row of each document, int64, -1 where it has no word there."""
        if not len(self.doc):
            return np.full(len(doc), -1, dtype=np.int64)
        place = np.minimum(np.searchsorted(self.doc, doc), len(self.doc) - 1)
        found: NDArray[np.int64] = np.where(self.doc[place] == doc, place, -1)
        return found


@dataclass(frozen=True, slots=True, eq=False)
class Frequencies:
    """In how many documents of the collection words occur.

    Attributes
    ----------
    documents
        number of documents with at least one word in the field.
    having
        int64 (V,), how many of them have each word.
    """

    documents: int
    having: NDArray[np.int64]

    @property
    def idf(self) -> NDArray[np.float64]:
        """float64 (V,), log(1 + (N - n + 0.5) / (n + 0.5)), above 0: the form of Robertson et al. that Lucene uses."""
        weight: NDArray[np.float64] = np.log1p((self.documents - self.having + 0.5) / (self.having + 0.5))
        return weight


@dataclass(frozen=True, slots=True, eq=False)
class Texts:
    """The words of the candidates' documents and of the queries.

    Attributes
    ----------
    fields
        name -> the words of a text field; at last, where there are several, all of them joined under `joined_name`.
    queries
        the words of the query of each row.
    """

    fields: Mapping[str, FieldTexts]
    queries: Words


def joined_name(fields: Sequence[str]) -> str:
    """Return the name of all fields together."""
    return "all" if "all" not in fields else "+".join(fields)


def read_texts(
    store: DocumentStore, fields: Sequence[str], docs: Ids, wanted: NDArray[np.bool_], queries: Sequence[str]
) -> Texts:
    """Read the words of documents and queries.

    Parameters
    ----------
    fields
        of the store, at least one.
    docs, wanted
        document ids; bool (D,), which of them to read.
    queries
        the text of each row's query.
    """
    codes = _Codes()
    query_ends, query = _words_of_all(queries, codes)
    names = [*fields, joined_name(fields)] if len(fields) > 1 else list(fields)
    rows: dict[str, tuple[array[int], array[int], array[int]]] = {
        name: (array("q"), array("q", [0]), array("q")) for name in names
    }
    for code, texts in documents_of(store, fields, docs):
        if code < 0 or not wanted[code]:
            continue
        parts = [[codes[word] for word in words_of(text)] for text in texts]
        if len(parts) > 1:
            parts.append([word for part in parts for word in part])
        for (doc, ends, flat), part in zip(rows.values(), parts, strict=True):
            if part:
                doc.append(code)
                flat.extend(part)
                ends.append(len(flat))
    vocabulary, moved = codes.sorted()
    found = {
        name: FieldTexts(
            np.array(doc, np.int64), Words(np.array(ends, np.int64), moved[np.array(flat, np.int64)], vocabulary)
        )
        for name, (doc, ends, flat) in rows.items()
    }
    return Texts(found, Words(query_ends, moved[query], vocabulary))


def count_documents(
    store: DocumentStore, fields: Sequence[str], docs: Ids, wanted: NDArray[np.bool_], texts: Texts
) -> Mapping[str, Frequencies]:
    """Return in how many documents of the whole store each word occurs, by field and for all of them joined.

    Documents that were read are counted from their words, the others are read here.
    """
    vocabulary = texts.queries.vocabulary
    size = len(vocabulary)
    having = {
        name: np.bincount(field.words.distinct.item, minlength=size).astype(np.int64)
        for name, field in texts.fields.items()
    }
    number = {name: len(field.doc) for name, field in texts.fields.items()}
    forms = _Known({word: code for code, word in enumerate(vocabulary.words)})
    waiting: dict[str, array[int]] = {name: array("q") for name in texts.fields}
    for code, parts in documents_of(store, fields, docs):
        if code >= 0 and wanted[code]:
            continue
        sets = [{forms[word] for word in words_of(text)} for text in parts]
        if len(sets) > 1:
            sets.append(set().union(*sets))
        for name, words in zip(texts.fields, sets, strict=True):
            number[name] += bool(words)
            waiting[name].extend(words)
            if len(waiting[name]) > _FORMS_KEPT:
                having[name] += _times(waiting[name], size)
                waiting[name] = array("q")
    return {name: Frequencies(number[name], having[name] + _times(waiting[name], size)) for name in texts.fields}


def _times(words: array[int], size: int) -> NDArray[np.int64]:
    codes = np.array(words, dtype=np.int64)
    return np.bincount(codes[codes >= 0], minlength=size).astype(np.int64)


def _words_of_all(texts: Sequence[str], codes: _Codes) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    ends, flat = array("q", [0]), array("q")
    for text in texts:
        flat.extend([codes[word] for word in words_of(text)])
        ends.append(len(flat))
    return np.array(ends, dtype=np.int64), np.array(flat, dtype=np.int64)


def documents_of(store: DocumentStore, fields: Sequence[str], docs: Ids) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Yield (code, the texts of the fields) of every document of the store; -1 for one that ``docs`` does not have."""
    stream = zip(*(store.texts([name]) for name in fields), strict=True)
    while batch := list(islice(stream, _DOCUMENTS_A_STEP)):
        codes = docs.codes([parts[0][0] for parts in batch]).tolist()
        for code, parts in zip(codes, batch, strict=True):
            yield code, tuple(text for _, text in parts)


class _Codes(dict[str, int]):
    """Word, as it stands in a text -> number of its stem; new ones are numbered as they come."""

    def __init__(self) -> None:
        super().__init__()
        self._stems: dict[str, int] = {}

    def __missing__(self, word: str) -> int:
        code = self._stems.setdefault(stem(word), len(self._stems))
        self[word] = code
        return code

    def sorted(self) -> tuple[Vocabulary, NDArray[np.int64]]:
        """Return the vocabulary, and the place of each number there, int64 (V,)."""
        ordered = sorted(self._stems)
        place = np.empty(len(ordered), dtype=np.int64)
        place[[self._stems[word] for word in ordered]] = np.arange(len(ordered))
        return Vocabulary(tuple(ordered)), place


class _Known(dict[str, int]):
    """Word, as it stands in a text -> code of its stem, -1 where the vocabulary lacks it; memory is bounded."""

    def __init__(self, stems: dict[str, int]) -> None:
        super().__init__()
        self._stems = stems

    def __missing__(self, word: str) -> int:
        code = self._stems.get(stem(word), -1)
        if len(self) < _FORMS_KEPT:
            self[word] = code
        return code
