"""Word vectors: files, neighbours, those learnt from a collection."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from rerankers._base.errors import ConfigError, InputError
from rerankers.queries.generators.base import Context
from rerankers.queries.learnt_vectors import Learning, learn_vectors
from rerankers.queries.vectors import WordVectors
from rerankers.queries.vectors_file import read_vectors
from tests.queries.recommend_world import VECTORS, tiny_context, vector_file


@pytest.fixture
def context(tmp_path: Path) -> Context:
    return tiny_context(tmp_path)


def test_vectors_are_the_same_in_every_form(tmp_path: Path) -> None:
    glove = read_vectors(vector_file(tmp_path / "glove.txt"))
    word2vec = read_vectors(vector_file(tmp_path / "w2v.txt.gz", header=True))
    wide = pa.table(
        {"word": list(VECTORS), "a": [v[0] for v in VECTORS.values()], "b": [v[1] for v in VECTORS.values()]}
    )
    pq.write_table(wide, tmp_path / "wide.parquet")
    pq.write_table(pa.table({"word": list(VECTORS), "v": list(VECTORS.values())}), tmp_path / "lists.parquet")
    others = [read_vectors(str(tmp_path / name)) for name in ("wide.parquet", "lists.parquet")]
    for one in (word2vec, *others):
        assert one.words == glove.words
        assert one.matrix == pytest.approx(glove.matrix)
    assert np.linalg.norm(glove.matrix, axis=1) == pytest.approx([1, 1, 1, 1, 0])
    assert read_vectors(str(tmp_path / "wide.parquet"), {"solar", "pump"}).words == ("pump", "solar")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "a 1 2\nb 1\nc x y\nd 1 nan\n",
            r"v\.txt:2: found 1 numbers for 'b'; expected 2.*\n.*:3: .*\n.*:4: found a number",
        ),
        ("", "no word of the collection"),
        ("3 2\na 1 0\nb 0 1\n", r"found 2 words; expected 3, as the first line says"),
        ("2 3\na 1 0\nb 0 1\n", r":2: found 2 numbers for 'a'; expected 3, as the first line says"),
        ("alone\n", r":1: found no numbers for 'alone'; expected a word, then numbers"),
    ],
)
def test_vector_files_say_what_is_wrong(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "v.txt"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=f"(?s){message}"):
        read_vectors(str(path))


def test_nearest_words_are_those_of_all_cosines() -> None:
    rng = np.random.default_rng(3)
    words = [f"w{i}" for i in range(40)]
    matrix = rng.normal(size=(40, 5))
    vectors = WordVectors.of(words, matrix, "")
    unit = (matrix / np.linalg.norm(matrix, axis=1, keepdims=True)).astype(np.float32).astype(float)
    cosine = {w: float(unit[i] @ unit[7]) for i, w in enumerate(words) if w != "w7"}
    expected = sorted([w for w in cosine if cosine[w] > 0], key=lambda w: (-cosine[w], w))
    assert [w for w, _ in vectors.nearest("w7", 6)] == expected[:6]
    assert [w for w, _ in vectors.nearest("w7", 99)] == expected
    assert vectors.nearest("unknown", 3) == []


def test_learnt_vectors_are_those_of_the_matrix(context: Context, tmp_path: Path) -> None:
    terms = context.terms
    vectors = learn_vectors(terms, Learning(3, 1, 1.0), tmp_path)
    has = (terms.counts.toarray() > 0).astype(float)
    both, number = has.T @ has, has.sum(axis=0)
    ppmi = np.zeros_like(both)
    for i in range(len(number)):
        for j in range(len(number)):
            if i != j and both[i, j]:
                ppmi[i, j] = max(0.0, np.log(both[i, j] * 5 / (number[i] * number[j])))
    left, value, _ = np.linalg.svd(ppmi)
    plain = left[:, :3] * np.sqrt(value[:3])
    plain = plain / np.maximum(np.linalg.norm(plain, axis=1, keepdims=True), 1e-300)
    if value[2] - value[3] > 1e-6:
        assert vectors.matrix @ vectors.matrix.T == pytest.approx(plain @ plain.T, abs=1e-4)
    again = learn_vectors(terms, Learning(3, 1, 1.0), tmp_path / "other")
    assert again.matrix.tobytes() == vectors.matrix.tobytes()
    with pytest.raises(ConfigError, match="expected two or more"):
        learn_vectors(terms, Learning(least_documents=5), tmp_path)
    assert len(learn_vectors(terms, Learning(2, 1, 1.0, 3), tmp_path).words) == 3


def test_words_with_blanks_are_left_out(tmp_path: Path) -> None:
    path = tmp_path / "v.txt"
    path.write_text("a 1 2\n. . . 3 4\nat x@y.z 5 6\nb 7 8\na 9 9\n", encoding="utf-8")
    assert read_vectors(str(path)).words == ("a", "b")
    path.write_text("a 1 2\nb 3 4 5\n", encoding="utf-8")
    with pytest.raises(InputError, match="found 3 numbers for 'b'; expected 2"):
        read_vectors(str(path))


@pytest.mark.parametrize("between", ["\t", "  ", " \t "])
def test_blanks_between_numbers_may_be_of_any_number_and_kind(tmp_path: Path, between: str) -> None:
    path = tmp_path / "v.txt"
    path.write_text("".join(between.join(line) + "\n" for line in (["a", "1", "0"], ["b", "0", "2"])), encoding="utf-8")
    assert read_vectors(str(path)).nearest("a", 2) == []
    assert read_vectors(str(path)).matrix.tolist() == [[1, 0], [0, 1]]


def test_a_parquet_file_with_numbers_that_are_not_finite_is_named(tmp_path: Path) -> None:
    path = tmp_path / "v.parquet"
    pq.write_table(pa.table({"word": ["a", "b"], "vector": [[1.0, 0.0], [float("nan"), 1.0]]}), path)
    with pytest.raises(InputError, match=r"v\.parquet: found a number that is not finite in row 2 \('b'\)"):
        read_vectors(str(path))
