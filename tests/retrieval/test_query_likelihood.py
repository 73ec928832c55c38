"""Query likelihood of given documents, against its formula, and what it refuses."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from rerankers._base.errors import ConfigError, MissingError
from rerankers.collections import Generated
from rerankers.retrieval import BM25
from rerankers.retrieval.jvm import find_jar, find_java
from rerankers.retrieval.lucene import LuceneIndex, build_index

pytestmark = pytest.mark.java
WORDS = [f"w{number}x" for number in range(30)]


@pytest.fixture(scope="module", autouse=True)
def _java() -> None:
    pytest.importorskip("jnius_config", reason="pyjnius is not installed")
    try:
        find_java()
        find_jar()
    except MissingError as error:
        pytest.skip(f"no Java or no pyserini: {error}")


DRAW = random.Random(4)
# At most 39 words, whose number Lucene keeps exactly; one text is empty, and one longer than any other.
DOCUMENTS = [(f"doc{n:03d}", " ".join(DRAW.choices(WORDS, range(30, 0, -1), k=DRAW.randint(1, 39)))) for n in range(80)]
DOCUMENTS += [("empty", ""), ("zz", " ".join(["w1x"] * 39))]
QUERIES = [" ".join(DRAW.choices(WORDS, k=DRAW.randint(1, 5))) for _ in range(12)] + ["w1x w1x w2x", "unknown", ""]


def twin(query: str, text: str, mu: float) -> float:
    """Return the likelihood as Zhai and Lafferty have it, over the terms that the text has, none below 0."""
    everything = Counter(word for _, text in DOCUMENTS for word in text.split())
    bag = Counter(text.split())
    total = 0.0
    for word in query.split():
        if bag[word]:
            p = (everything[word] + 1) / (everything.total() + 1)
            total += max(0.0, math.log(1 + bag[word] / (mu * p)) + math.log(mu / (bag.total() + mu)))
    return total


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LuceneIndex]:
    folder = tmp_path_factory.mktemp("likelihood") / "index"
    build_index(DOCUMENTS, folder, threads=1)
    with LuceneIndex(folder) as opened:
        yield opened


@pytest.mark.parametrize("mu", [0.5, 20.0, 1000.0])
def test_likelihood_is_its_formula(index: LuceneIndex, mu: float) -> None:
    names = [docno for docno, _ in reversed(DOCUMENTS)]
    indptr = np.arange(len(QUERIES) + 1) * len(names)
    found = index.score(QUERIES, indptr, names * len(QUERIES), mu=mu)
    expected = [twin(query, text, mu) for query in QUERIES for _, text in reversed(DOCUMENTS)]
    np.testing.assert_allclose(found, expected, rtol=2e-6, atol=1e-6)
    assert np.any(found > 0)
    again = index.score(QUERIES, indptr, names * len(QUERIES), mu=mu, threads=3)
    assert again.tobytes() == found.tobytes()


def test_bm25_is_what_it_was(index: LuceneIndex) -> None:
    hits = index.search(QUERIES, 10)
    assert index.score(QUERIES, hits.indptr, hits.docnos).tobytes() == hits.score.tobytes()


@pytest.mark.parametrize("mu", [0.0, -1.0, math.inf, math.nan])
def test_wrong_mu(index: LuceneIndex, mu: float) -> None:
    with pytest.raises(ConfigError, match="mu: found"):
        index.score(["w1x"], [0, 1], ["zz"], mu=mu)


def test_the_first_stage_gives_it_for_candidates(tmp_path: Path) -> None:
    world = Generated(documents=80, topics=4).load()
    bm25 = BM25(k=10)
    candidates = bm25.retrieve(world, tmp_path).candidates
    found = bm25.likelihoods(world, candidates, tmp_path)
    assert found.shape == (candidates.nnz,)
    assert np.all(np.isfinite(found))
    assert np.any(found > 0)
    assert not np.array_equal(found, bm25.likelihoods(world, candidates, tmp_path, mu=50.0))
    assert len(list(tmp_path.glob("index-*/*"))) == 1, "one index for both"
    one = bm25.likelihoods(world, candidates.rows(2, 3), tmp_path)
    assert one.tobytes() == found[candidates.row(2)].tobytes()
