"""The Lucene adapter: scores against an independent BM25, ties, odd input, atomic building."""

from __future__ import annotations

import itertools
import json
import math
import random
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from rerankers._base.errors import ConfigError, InputError, MissingError
from rerankers.retrieval.jvm import find_jar, find_java
from rerankers.retrieval.lucene import Hits, LuceneIndex, build_index, read_stats

pytestmark = pytest.mark.java
ROOT = Path(__file__).resolve().parents[2]
WORDS = [f"w{number}x" for number in range(60)]


@pytest.fixture(scope="module", autouse=True)
def _java() -> None:
    pytest.importorskip("jnius_config", reason="pyjnius is not installed")
    try:
        find_java()
        find_jar()
    except MissingError as error:
        pytest.skip(f"no Java or no pyserini: {error}")


def words(text: str) -> list[str]:
    """Return what analysis makes of the made-up texts here: lower-case words without punctuation."""
    return re.findall(r"w\d+x", text.lower())


class Reference:
    """BM25 as published for Lucene, over texts of at most 39 words (whose lengths Lucene keeps exactly)."""

    def __init__(self, documents: Sequence[tuple[str, str]]) -> None:
        self.bags = {docno: Counter(words(text)) for docno, text in documents}
        lengths = [bag.total() for bag in self.bags.values() if bag]
        self.count, self.mean = len(lengths), sum(lengths) / len(lengths)
        self.frequency = Counter(term for bag in self.bags.values() for term in bag)

    def score(self, query: str, docno: str, k1: float, b: float) -> float:
        bag = self.bags[docno]
        norm = k1 * (1 - b + b * bag.total() / self.mean)
        total = 0.0
        for term, times in Counter(words(query)).items():
            if bag[term]:
                df = self.frequency[term]
                idf = math.log(1 + (self.count - df + 0.5) / (df + 0.5))
                total += times * idf * bag[term] / (bag[term] + norm)
        return total


def made_up(count: int, seed: int) -> list[tuple[str, str]]:
    draw = random.Random(seed)
    texts = [" ".join(draw.choices(WORDS, weights=range(60, 0, -1), k=draw.randint(0, 39))) for _ in range(count)]
    documents = [(f"doc{number}", text) for number, text in enumerate(texts)]
    draw.shuffle(documents)
    return documents


def rows(hits: Hits) -> list[list[tuple[str, float]]]:
    docnos = hits.docnos.to_pylist()
    ends = hits.indptr.tolist()
    return [
        list(zip(docnos[start:stop], hits.score[start:stop].tolist(), strict=True))
        for start, stop in itertools.pairwise(ends)
    ]


@pytest.fixture(scope="module")
def documents() -> list[tuple[str, str]]:
    return made_up(400, seed=1)


@pytest.fixture(scope="module")
def queries() -> list[str]:
    draw = random.Random(2)
    return [" ".join(draw.choices(WORDS, k=draw.randint(1, 6))) for _ in range(30)] + ["w1x w1x w2x"]


@pytest.fixture(scope="module")
def index(documents: list[tuple[str, str]], tmp_path_factory: pytest.TempPathFactory) -> Iterator[LuceneIndex]:
    folder = tmp_path_factory.mktemp("lucene") / "index"
    build_index(documents, folder, threads=2)
    with LuceneIndex(folder) as opened:
        yield opened


@pytest.mark.parametrize(("k1", "b"), [(0.9, 0.4), (1.2, 0.75), (0.0, 0.0), (2.0, 1.0)])
def test_search_is_bm25(
    index: LuceneIndex, documents: list[tuple[str, str]], queries: list[str], k1: float, b: float
) -> None:
    reference = Reference(documents)
    for query, found in zip(queries, rows(index.search(queries, 1000, k1=k1, b=b)), strict=True):
        expected = {docno: score for docno, _ in documents if (score := reference.score(query, docno, k1, b)) > 0}
        assert {docno for docno, _ in found} == set(expected)
        np.testing.assert_allclose([score for _, score in found], [expected[docno] for docno, _ in found], rtol=1e-6)


def test_order_is_score_then_docno_and_k_cuts_it(index: LuceneIndex, queries: list[str]) -> None:
    every = rows(index.search(queries, 1000))
    assert all(found == sorted(found, key=lambda hit: (-hit[1], hit[0])) for found in every)
    for k in (1, 7, 50):
        assert rows(index.search(queries, k)) == [found[:k] for found in every]


@pytest.mark.parametrize("threads", [1, 3])
def test_ties_at_the_cut_are_resolved_by_docno(tmp_path: Path, threads: int) -> None:
    docnos = [f"{name}{number}" for number in range(700) for name in ("B", "a", "é", "\uffee", "\U0001f600")]
    random.Random(3).shuffle(docnos)
    build_index([(docno, "w1x w2x") for docno in docnos] + [("zz", "w1x w1x")], tmp_path / "i", threads=threads)
    expected = ["zz", *sorted(docnos)]  # Python sorts by code point
    with LuceneIndex(tmp_path / "i") as index:
        for k in (1, 2, 1000, 1001, 3499, 4000):
            hits = index.search(["w1x"], k)
            assert hits.docnos.to_pylist() == expected[:k]
        assert len(set(hits.score.tolist())) == 2


def test_same_bits_for_any_threads_order_and_buffer(
    documents: list[tuple[str, str]], queries: list[str], index: LuceneIndex, tmp_path: Path
) -> None:
    expected = index.search(queries, 20, threads=1)
    build_index(sorted(documents, reverse=True), tmp_path / "i", threads=4, memory_mb=1)
    with LuceneIndex(tmp_path / "i") as other:
        for threads in (1, 2, 4):
            for found in (index.search(queries, 20, threads=threads), other.search(queries, 20, threads=threads)):
                assert found.docnos.equals(expected.docnos)
                assert found.score.tobytes() == expected.score.tobytes()
                assert found.indptr.tobytes() == expected.indptr.tobytes()


def test_score_is_that_of_search_and_right_elsewhere(
    index: LuceneIndex, documents: list[tuple[str, str]], queries: list[str]
) -> None:
    hits = index.search(queries, 10)
    assert index.score(queries, hits.indptr, hits.docnos).tobytes() == hits.score.tobytes()
    reference = Reference(documents)
    names = [docno for docno, _ in documents][::-1]
    given = [names[number % 17 :: 9] for number in range(len(queries))]
    indptr = np.cumsum([0, *map(len, given)])
    flat = [docno for part in given for docno in part]
    got = index.score(queries, indptr, flat, k1=1.2, b=0.75, threads=3)
    expected = [
        reference.score(query, docno, 1.2, 0.75) for query, part in zip(queries, given, strict=True) for docno in part
    ]
    np.testing.assert_allclose(got, expected, rtol=1e-6)
    assert np.count_nonzero(got) < len(got)


def test_score_takes_repeated_documents_empty_rows_and_queries_without_terms(index: LuceneIndex) -> None:
    names = index.docnos.to_pylist()
    twice = index.score(["w1x", "w2x", "the"], [0, 4, 4, 5], [names[3], names[9], names[3], names[9], names[0]])
    assert twice[0] == twice[2]
    assert twice[1] == twice[3]
    assert twice[4] == 0
    assert index.score([], [0], []).shape == (0,)


def test_score_names_unknown_docnos(index: LuceneIndex) -> None:
    with pytest.raises(InputError, match="1 docnos that are not in it: 'nowhere'"):
        index.score(["w1x"], [0, 2], ["doc1", "nowhere"])
    with pytest.raises(InputError, match="1 docnos that are not in it: None"):
        index.score(["w1x"], [0, 2], pa.array(["doc1", None]))
    with pytest.raises(InputError, match="2 numbers that rise from 0 to 1"):
        index.score(["w1x"], [0, 2], ["doc1"])


def test_odd_docnos_survive(tmp_path: Path) -> None:
    docnos = [
        " a b ", "a,b;c", "'\"`", "../../x", "Ünï©ødé", "\U0001f98a", "a\tb\nc", "x" * 5000, "0", "null", "\x00", "{}",
    ]  # fmt: skip
    build_index([(docno, f"w{number}x") for number, docno in enumerate(docnos)], tmp_path / "i")
    with LuceneIndex(tmp_path / "i") as index:
        hits = index.search([f"w{number}x" for number in range(len(docnos))], 5)
        assert hits.docnos.to_pylist() == docnos
        assert (index.score(["w3x"], [0, len(docnos)], docnos) > 0).tolist() == [docno == "../../x" for docno in docnos]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["i"]


@pytest.mark.parametrize("docno", ["", "x" * 32_767, "\ud800", None, 7])
def test_impossible_docnos_are_named(tmp_path: Path, docno: object) -> None:
    with pytest.raises(InputError, match="document number 2: found"):
        build_index([("a", "w1x"), (docno, "w1x")], tmp_path / "i")  # type: ignore[list-item]
    assert list(tmp_path.iterdir()) == []


def test_docnos_must_be_unique(tmp_path: Path) -> None:
    twice = [(f"d{number % 6000}", "w1x") for number in range(6001)]
    with pytest.raises(InputError, match="1 docnos more than once: 'd0'"):
        build_index(twice, tmp_path / "i")
    assert list(tmp_path.iterdir()) == []


def test_empty_documents_exist_and_are_counted(tmp_path: Path) -> None:
    texts = {"a": "", "b": "the of and", "c": "... !", "d": "w1x w1x w2x", "e": "w1x"}
    stats = build_index(texts.items(), tmp_path / "i")
    assert (stats.documents, stats.empty, stats.terms, stats.tokens) == (5, 3, 2, 4)
    assert read_stats(tmp_path / "i") == stats
    with LuceneIndex(tmp_path / "i") as index:
        assert index.docnos.to_pylist() == ["a", "b", "c", "d", "e"]
        scores = index.score(["w1x"], [0, 5], ["a", "b", "c", "d", "e"])
        reference = Reference(list(texts.items()))
        np.testing.assert_allclose(scores, [reference.score("w1x", docno, 0.9, 0.4) for docno in texts], rtol=1e-6)


@pytest.mark.parametrize("texts", [[], ["", "the"]])
def test_index_without_terms(tmp_path: Path, texts: list[str]) -> None:
    stats = build_index([(f"d{number}", text) for number, text in enumerate(texts)], tmp_path / "i")
    assert (stats.documents, stats.empty, stats.terms) == (len(texts), len(texts), 0)
    with LuceneIndex(tmp_path / "i") as index:
        assert index.search(["w1x", ""], 10).indptr.tolist() == [0, 0, 0]
        assert index.score(["w1x"], [0, len(texts)], index.docnos).tolist() == [0.0] * len(texts)


def test_queries_are_plain_text_and_those_without_terms_are_counted(index: LuceneIndex) -> None:
    plain = index.search(["w1x w2x w3x w4x"], 1000)
    odd = [
        "",
        'w1x AND (w2x:"w3x"~3 OR -w4x^2 [* TO *]) && ! / \\',
        "the of",
        "?* ~ \x00",
        "w1x \ud800 w2x w3x w4x",
        " ".join([f"q{number}" for number in range(5000)] + ["w1x", "w2x", "w3x", "w4x"]),
    ]
    hits = index.search(odd, 1000)
    assert hits.without_terms.tolist() == [0, 2, 3]
    found = rows(hits)
    assert [len(part) > 0 for part in found] == [False, True, False, False, True, True]
    assert found[4] == rows(plain)[0]
    assert found[5] == rows(plain)[0]
    assert {docno for docno, _ in found[1]} >= {docno for docno, _ in found[4]}


def test_no_queries_and_k_beyond_the_index(index: LuceneIndex) -> None:
    assert index.search([], 10).indptr.tolist() == [0]
    assert rows(index.search(["w1x"], 10**9)) == rows(index.search(["w1x"], 400))


def test_wrong_options_are_config_errors(index: LuceneIndex, tmp_path: Path) -> None:
    for options in ({"k": 0}, {"k1": -1.0}, {"b": 1.1}, {"k1": math.nan}, {"threads": 0}):
        with pytest.raises(ConfigError, match="found"):
            index.search(["w1x"], **options)
    with pytest.raises(ConfigError, match="threads"):
        build_index([], tmp_path / "i", threads=0)


def test_failure_in_the_middle_leaves_nothing(tmp_path: Path) -> None:
    def failing() -> Iterator[tuple[str, str]]:
        yield from ((f"d{number}", "w1x") for number in range(12_000))
        raise RuntimeError("the disk of the documents broke")

    with pytest.raises(RuntimeError, match="broke"):
        build_index(failing(), tmp_path / "deep" / "i")
    assert list((tmp_path / "deep").iterdir()) == []
    assert build_index([("d", "w1x")], tmp_path / "deep" / "i").documents == 1


def test_finished_index_is_kept_and_other_folders_are_not_taken(tmp_path: Path) -> None:
    first = build_index([("d", "w1x")], tmp_path / "i")
    assert build_index(iter([("other", "w2x")]), tmp_path / "i") == first
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "letter.txt").write_text("dear")
    with pytest.raises(InputError, match="the counts of an index"):
        build_index([("d", "w1x")], tmp_path / "mine")
    assert (tmp_path / "mine" / "letter.txt").read_text() == "dear"
    counts = json.loads((tmp_path / "i" / "index.json").read_text())
    (tmp_path / "i" / "index.json").write_text(json.dumps(counts | {"format": 99}))
    with pytest.raises(InputError, match="format 99"):
        LuceneIndex(tmp_path / "i")


def test_broken_index_is_an_input_error(tmp_path: Path) -> None:
    build_index([("d", "w1x")], tmp_path / "i")
    for path in (tmp_path / "i" / "lucene").glob("segments_*"):
        path.write_bytes(b"nonsense")
    with pytest.raises(InputError, match="Delete the folder and build it again"):
        LuceneIndex(tmp_path / "i")


BUILD = """
import os, signal, sys
from pathlib import Path
from rerankers.retrieval.lucene import build_index

def documents():
    for number in range(20000):
        if number == int(sys.argv[2]):
            os.kill(os.getpid(), signal.SIGKILL)
        yield f"d{number}", f"w{number % 50}x"

print(build_index(documents(), Path(sys.argv[1]), threads=2).documents)
"""


def start_building(folder: Path, kill_at: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", BUILD, str(folder), str(kill_at)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@pytest.mark.slow
def test_killed_process_leaves_no_half_index_and_two_may_build_at_once(tmp_path: Path) -> None:
    with start_building(tmp_path / "i", kill_at=15_000) as killed:
        killed.communicate()
    assert killed.returncode < 0
    assert not (tmp_path / "i").exists()
    builders = [start_building(tmp_path / "i", kill_at=-1) for _ in range(2)]
    answers = [(builder.communicate(), builder.returncode) for builder in builders]
    assert answers == [(("20000\n", ""), 0)] * 2, "an error, or noise on standard error"
    with LuceneIndex(tmp_path / "i") as index:
        assert len(index.search(["w1x"], 20_000).document) == 400


@pytest.mark.shared_data
def test_cacm(shared: Path, tmp_path: Path) -> None:
    ir_measures = pytest.importorskip("ir_measures")
    folder = shared / "data" / "cacm"
    if not folder.is_dir():
        pytest.skip("the CACM collection is absent from the shared data folder")
    texts, topics = (
        [json.loads(line) for line in (folder / name).read_bytes().splitlines()]
        for name in ("docs.jsonl", "queries.jsonl")
    )
    stats = build_index([(doc["id"], f"{doc['title']} {doc['abstract']}") for doc in texts], tmp_path / "i")
    assert stats.documents == 3204
    with LuceneIndex(tmp_path / "i") as index:
        found = rows(index.search([topic["query"] for topic in topics], 1000, k1=0.9, b=0.4))
    run = {topic["qid"]: dict(part) for topic, part in zip(topics, found, strict=True)}
    qrels = list(ir_measures.read_trec_qrels(str(folder / "qrels.txt")))
    judged = {qrel.query_id for qrel in qrels if qrel.relevance > 0}
    assert len(judged) == 52
    measured = ir_measures.calc_aggregate([ir_measures.AP], qrels, {qid: run[qid] for qid in judged})
    assert measured[ir_measures.AP] >= 0.32
