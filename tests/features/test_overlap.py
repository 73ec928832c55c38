"""Comparisons of queries with texts, and of candidates with each other, against plain twins."""

from __future__ import annotations

import itertools
import math
import re
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from feature_worlds import Store, collection, made_up
from hypothesis import given, settings
from hypothesis import strategies as st

from rerankers.features import FeatureSet, FeatureTable
from rerankers.features.matches import FORMULAS
from rerankers.features.words import stem, trigrams, words_of
from rerankers.values import Candidates, Collection

TEXT_FAMILIES = ["lengths", "overlap"]
FIELDS = {"title": ["title"], "abstract": ["abstract"], "all": ["title", "abstract"]}


def stems(text: str) -> list[str]:
    """The twin of the words: lower case, letters and digits, Harman's endings."""
    out = []
    for word in re.findall(r"[a-zà-ÿ0-9]+", text.lower()):
        if len(word) > 3:
            for ending, instead, spared in (("ies", "y", "ea"), ("es", "e", "aeo"), ("s", "", "us")):
                if word.endswith(ending):
                    if word[-len(ending) - 1] not in spared:
                        word = word[: -len(ending)] + instead
                    break
        out.append(word)
    return out


def triples(words: list[str]) -> set[str]:
    return {f" {word} "[at : at + 3] for word in words for at in range(len(word))}


def idf_of(words: set[str], every: list[list[str]]) -> dict[str, float]:
    having = {word: sum(word in other for other in every) for word in words}
    return {word: math.log(1 + (len(every) - n + 0.5) / (n + 0.5)) for word, n in having.items()}


def twin(query: list[str], text: list[str], every: list[list[str]]) -> dict[str, float]:
    """Return every comparison of one query and one text, both with words; ``every`` text of the collection's field."""
    asked, there = set(query), set(text)
    idf = idf_of(asked | there, every)
    vectors = [{word: (1 + math.log(n)) * idf[word] for word, n in Counter(words).items()} for words in (query, text)]
    dot = sum(weight * vectors[1].get(word, 0.0) for word, weight in vectors[0].items())
    places = [at for at, word in enumerate(text) if word in asked]
    pairs = set(itertools.pairwise(query))
    common = triples(query) & triples(text)
    return {
        "coverage": len(asked & there) / len(asked),
        "idf_coverage": sum(idf[word] for word in asked & there) / sum(idf[word] for word in asked),
        "idf_precision": sum(idf[word] for word in asked & there) / sum(idf[word] for word in there),
        "cosine": dot / math.prod(math.hypot(*vector.values()) for vector in vectors),
        "jaccard": len(asked & there) / len(asked | there),
        "density": len(places) / len(text),
        "first_match": 1 / (1 + places[0]) if places else 0.0,
        "phrase": float(any(text[at : at + len(query)] == query for at in range(len(text)))),
        "bigrams": len(pairs & set(itertools.pairwise(text))) / len(pairs) if pairs else math.nan,
        "trigrams": 2 * len(common) / (len(triples(query)) + len(triples(text))),
        "length": float(len(text)),
    }


def compare(world: Collection, candidates: Candidates, table: FeatureTable) -> None:
    store = world.documents
    assert isinstance(store, Store)
    for field, parts in FIELDS.items():
        texts = {docno: stems(" ".join(row.get(part, "") for part in parts)) for docno, row in store.rows.items()}
        every = [words for words in texts.values() if words]
        row = candidates.row_index
        for pair in range(candidates.nnz):
            query = stems(world.topics.text[candidates.query[row[pair]]])
            text = texts.get(world.docs.name(candidates.doc[pair]), [])
            expected = twin(query, text, every) if query and text else {}
            if text:
                expected["length"] = float(len(text))
            for formula in FORMULAS:
                check_value(table, f"{formula}.{field}", pair, expected.get(formula, math.nan))
            check_value(table, f"length.{field}", pair, expected.get("length", math.nan))
            check_value(table, "length.query", pair, len(query) or math.nan)
            check_value(table, "length.candidates", pair, candidates.lengths[row[pair]])


def check_value(table: FeatureTable, name: str, pair: int, expected: float) -> None:
    found = table.values[pair, table.names.index(name)]
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-15, err_msg=f"{name} of pair {pair}")


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_overlap_is_its_twin(seed: int, tmp_path: Path) -> None:
    world, candidates = made_up(seed)
    table = FeatureSet(families=TEXT_FAMILIES, relative=[]).compute(world, candidates, tmp_path)
    compare(world, candidates, table)
    assert len(table.names) == 3 * 10 + 2 + 3
    assert table.tier == "blind"


def test_small_steps_change_no_bit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    world, candidates = made_up(3)
    options = FeatureSet(families=["overlap", "peers"])
    whole = options.compute(world, candidates, tmp_path / "one")
    for module, name in (
        ("overlap", "_TRIPLES_A_STEP"),
        ("peers", "_ENTRIES_A_STEP"),
        ("gather", "_OWNERS_A_STEP"),
        ("texts", "_DOCUMENTS_A_STEP"),
        ("texts", "_FORMS_KEPT"),
    ):
        monkeypatch.setattr(f"rerankers.features.{module}.{name}", 2)
    small = options.compute(world, candidates, tmp_path / "two")
    assert small.values.tobytes() == whole.values.tobytes()


@pytest.mark.parametrize(
    ("query", "text", "phrase", "bigrams"),
    [
        ("net box", "a net box", 1, 1),
        ("net box", "box net", 0, 0),
        ("net box net", "net box, box net box net", 1, 1),
        ("net net", "net box net", 0, 0),
        ("nets", "NET", 1, math.nan),
        ("a b c d", "a b c c b a b c d", 1, 1),
        ("a b c d", "c d a b", 0, 2 / 3),
        ("longer than text", "than text", 0, 1 / 2),
    ],
)
def test_phrases(query: str, text: str, phrase: float, bigrams: float, tmp_path: Path) -> None:
    world = collection({"d": {"title": text}, "e": {"title": "z"}}, [query], text_fields=("title",))
    candidates = Candidates(np.array([0]), np.array([0, 2]), np.array([0, 1]))
    table = FeatureSet(families=["overlap"], relative=[]).compute(world, candidates, tmp_path)
    check_value(table, "phrase.title", 0, phrase)
    check_value(table, "bigrams.title", 0, bigrams)
    check_value(table, "phrase.title", 1, 0)


def test_words() -> None:
    assert words_of("Ünïcode ﬁne, snake_case 3.5 don't") == ["ünïcode", "fine", "snake", "case", "3", "5", "don", "t"]
    assert [stem(word) for word in ("flies", "ties", "boxes", "horses", "shoes", "bus", "glass", "nets", "gas")] == [
        "fly", "ty", "boxe", "horse", "shoes", "bus", "glass", "net", "gas",
    ]  # fmt: skip
    assert trigrams("aaaa") == [" aa", "aaa", "aa "]
    assert trigrams("a") == [" a "]


def cosine_twin(texts: list[list[str]], every: list[list[str]]) -> list[float]:
    def vector(words: list[str]) -> dict[str, float]:
        raw = {
            word: (1 + math.log(times)) * math.log(1 + (len(every) - n + 0.5) / (n + 0.5))
            for word, times in Counter(words).items()
            for n in [sum(word in other for other in every)]
        }
        norm = math.sqrt(sum(value**2 for value in raw.values()))
        return {word: value / norm for word, value in raw.items()}

    vectors = [vector(words) for words in texts]
    out = []
    for at, own in enumerate(vectors):
        others = Counter[str]()
        for other in vectors[:at] + vectors[at + 1 :]:
            others.update(other)
        norm = math.sqrt(sum(value**2 for value in others.values()))
        out.append(sum(value * others[word] for word, value in own.items()) / norm if norm else math.nan)
    return out


def test_peers_are_their_twins(tmp_path: Path) -> None:
    world, candidates = made_up(4)
    table = FeatureSet(families=["peers"], relative=[]).compute(world, candidates, tmp_path)
    store, authors = world.documents, world.authors
    assert isinstance(store, Store)
    assert authors is not None
    assert table.tier == "metadata"
    joined = {docno: stems(" ".join(row.values())) for docno, row in store.rows.items()}
    every = [words for words in joined.values() if words]
    for row in range(len(candidates)):
        pairs = range(*candidates.indptr[row : row + 2])
        texts = {pair: joined.get(world.docs.name(candidates.doc[pair]), []) for pair in pairs}
        filled = [pair for pair in pairs if texts[pair]]
        cosines = dict(zip(filled, cosine_twin([texts[pair] for pair in filled], every), strict=True))
        people = {}
        for pair in pairs:
            doc = candidates.doc[pair]
            people[pair] = set(authors.author[authors.indptr[doc] : authors.indptr[doc + 1]].tolist()) - {-1}
        for pair in pairs:
            check_value(table, "peers.text", pair, cosines.get(pair, math.nan))
            others = [names for other, names in people.items() if other != pair and names]
            shared = [bool(names & people[pair]) for names in others]
            check_value(table, "peers.authors", pair, np.mean(shared) if others and people[pair] else math.nan)


LETTERS = st.text("ab s", max_size=12)


@settings(max_examples=40)
@given(st.lists(st.tuples(LETTERS, LETTERS), min_size=1, max_size=5), st.lists(LETTERS, min_size=1, max_size=4))
def test_any_texts(tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, str]], queries: list[str]) -> None:
    texts = {f"d{number}": {"title": title, "abstract": abstract} for number, (title, abstract) in enumerate(rows)}
    world = collection(texts, queries)
    count = len(rows)
    candidates = Candidates(
        np.arange(len(queries)), np.arange(len(queries) + 1) * count, np.tile(np.arange(count), len(queries))
    )
    table = FeatureSet(families=TEXT_FAMILIES).compute(world, candidates, tmp_path_factory.mktemp("any"))
    compare(world, candidates, table)
    overlap = [at for at, name in enumerate(table.names) if not name.startswith("length") and "zscore" not in name]
    inside = table.values[:, overlap]
    assert np.all(np.isnan(inside) | ((inside >= 0) & (inside <= 1)))
