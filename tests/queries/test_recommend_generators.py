"""Generators of candidates: what each makes, budgets, duplicates, draws, files."""

from __future__ import annotations

import gzip
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from rerankers._base.errors import ConfigError, InputError, MissingError
from rerankers.llm.scripted import Scripted
from rerankers.queries.corpus_terms import corpus_terms
from rerankers.queries.generators.base import Context, Query
from rerankers.queries.generators.embedding import Embedding, replaced
from rerankers.queries.generators.keywords import Keywords
from rerankers.queries.generators.list_file import ListFile
from rerankers.queries.generators.llm import Rewrites
from rerankers.queries.generators.random_terms import RandomTerms
from rerankers.queries.generators.rm3 import RM3, feedback_terms, weighted_query
from rerankers.queries.generators.variants import Variants
from rerankers.queries.searching import Hits
from tests.queries.recommend_world import texts_of, tiny_context, vector_file


@pytest.fixture
def context(tmp_path: Path) -> Context:
    return tiny_context(tmp_path)


def test_terms_of_a_collection_are_its_words_without_stop_words(context: Context) -> None:
    terms = context.terms
    assert "the" not in terms.words
    assert list(terms.words) == sorted(terms.words)
    row = terms.counts[0].toarray().ravel()
    assert {terms.words[c]: int(row[c]) for c in np.flatnonzero(row)} == {"pump": 1, "moves": 1, "water": 2, "flows": 1}
    assert terms.documents == 5
    lengths = np.sqrt(terms.weighted.multiply(terms.weighted).sum(axis=1)).ravel()
    assert np.asarray(lengths).ravel() == pytest.approx([1, 1, 1, 1, 1, 0])
    again = corpus_terms(context.collection, context.cache)
    assert (again.counts != terms.counts).nnz == 0


def test_random_terms_depend_on_seed_and_text_alone(context: Context) -> None:
    generator = RandomTerms(least_documents=1)
    one = texts_of(generator, context, seed=1)
    assert [t.split()[-1] for t in one] == [
        t.split()[-1] for t in texts_of(generator, context, Query("9", "Pump  WATER"), seed=1)
    ]
    assert one != texts_of(generator, context, seed=2)
    assert all(text.startswith("pump water ") for text in one)
    assert len(set(one)) == len(one) == 10
    assert set(texts_of(RandomTerms(2), context)) == {"pump water valve", "pump water solar", "pump water panel"}


def test_rm3_weights_are_those_of_the_relevance_model(context: Context) -> None:
    terms = context.terms
    hits = Hits(np.array([0, 1], np.int32), np.array([3.0, 1.0]))
    found = dict(feedback_terms(terms, hits, 10, 20))
    # At most a tenth of five documents, so one document: moves, flows of d1; nothing but move of d2.
    expected = {"moves": 0.75 * 0.5, "flows": 0.75 * 0.5, "move": 0.25}
    assert found == pytest.approx(expected)
    assert list(dict(feedback_terms(terms, hits, 10, 1))) == ["flows"]


def test_a_weighted_query_has_its_words_as_often_as_they_weigh(context: Context) -> None:
    hits = Hits(np.array([0, 1], np.int32), np.array([3.0, 1.0]))
    words = Counter(weighted_query(context.terms, "Pump the water pump", hits, 10, 20, 0.6).split())
    # two thirds and one third of .6, and .375, .375, .25 of .4, see above
    assert words == {"pump": 400, "water": 200, "moves": 150, "flows": 150, "move": 100}
    alone = Counter(weighted_query(context.terms, "moves", hits, 10, 20, 0.5).split())
    assert alone == {"moves": 688, "flows": 188, "move": 125}
    nothing = Hits(np.empty(0, np.int32), np.empty(0))
    assert weighted_query(context.terms, "pump water", nothing) == "pump water"
    assert weighted_query(context.terms, "of the", hits) == "of the"


def test_rm3_has_the_full_form_first(context: Context) -> None:
    assert texts_of(RM3(terms=2), context)[0] == "pump water move flows"
    assert texts_of(RM3(terms=2), context)[1:] == ["pump water move", "pump water flows", "pump water moves"]
    assert texts_of(RM3(terms=2, original_weight=0.0), context)[0] == "move flows"
    assert texts_of(RM3(), context, Query("3", "nothing here")) == []
    assert context.counts["rm3"]["queries_without_feedback_terms"] == 1


def test_keywords_are_the_heaviest_words_of_the_documents(context: Context, tmp_path: Path) -> None:
    words = [text.split()[-1] for text in texts_of(Keywords(), context)]
    weight = np.asarray(context.terms.weighted[[0, 1]].sum(axis=0)).ravel()
    order = sorted(np.flatnonzero(weight), key=lambda c: (-weight[c], c))
    assert words == [context.terms.words[c] for c in order if context.terms.words[c] not in ("pump", "water")]
    file = tmp_path / "k.tsv"
    file.write_text("topic\tkeyword\n1\theart valve\n1\tpump\n*\troof\n7\tno\n", encoding="utf-8")
    assert texts_of(Keywords(path=str(file)), context) == ["pump water heart valve", "pump water roof"]
    assert texts_of(Keywords(mode="word", path=str(file)), context) == ["heart valve", "pump", "roof"]


def test_lists_are_read_by_id_text_or_star(context: Context, tmp_path: Path) -> None:
    file = tmp_path / "list.tsv.gz"
    with gzip.open(file, "wt", encoding="utf-8") as stream:
        stream.write("1\tpump\n1\tPUMP\n1\tPump  Water\n1\t \nSolar\tpanel\n*\theart\n1\tpump\n")
    assert texts_of(ListFile(str(file)), context) == ["pump", "heart"]
    assert texts_of(ListFile(str(file)), context, context.topics[1]) == ["panel", "heart"]
    assert context.counts["list"] == {"empty": 2, "repeated": 2, "topics_not_asked": 2}  # read for either query
    assert texts_of(ListFile(str(file)), context, budget=1) == ["pump"]
    assert context.counts["list"]["beyond_the_budget"] == 1


def test_lists_say_what_is_wrong(context: Context, tmp_path: Path) -> None:
    file = tmp_path / "bad.tsv"
    file.write_text("1 no tab\n\tno topic\n1\tgood\n", encoding="utf-8")
    with pytest.raises(InputError) as caught:
        texts_of(ListFile(str(file)), context)
    assert [problem.line for problem in caught.value.problems] == [1, 2]
    file.write_text("77\tpump\n", encoding="utf-8")
    with pytest.raises(InputError, match="found the topics 77; expected topics of the job"):
        texts_of(ListFile(str(file)), context)
    with pytest.raises(MissingError, match=r"generator\.list\.path"):
        texts_of(ListFile(str(tmp_path / "none.tsv")), context)


def test_variants_of_uqv100_are_those_of_the_official_topic(context: Context, tmp_path: Path) -> None:
    file = tmp_path / "v.csv"
    file.write_text("UQV100Id,query\nUQV100.001,pump\nUQV100.001,pump\nUQV100.001,\n", encoding="utf-8")
    context.topics = (Query("201", "pump water"),)
    assert texts_of(Variants(str(file)), context) == ["pump"]
    context.topics = (Query("5", "pump water"),)
    with pytest.raises(InputError, match=r"UQV100\.001"):
        texts_of(Variants(str(file)), context)


def test_embedding_modes(context: Context, tmp_path: Path) -> None:
    file = vector_file(tmp_path / "v.txt")
    query = Query("1", "The Pump water")
    for mode, expected in {
        "append": ["The Pump water valve", "The Pump water engine"],
        "replace": ["The valve water", "The engine water"],
        "word": ["valve", "engine"],
    }.items():
        assert texts_of(Embedding(mode=mode, vectors=file, all_words=True), context, query) == expected
    assert texts_of(Embedding(vectors=file), context, query) == ["The Pump water valve"]  # engine is in no document
    assert context.counts["embedding"]["query_words_without_vector"] == 4
    assert replaced("pump Pumps PUMP", "pump", "x") == "x Pumps x"


def test_a_model_that_loops_echoes_and_fails(context: Context) -> None:
    script = [
        "1. pump\n2. Pump\n3. pump water\n4. valve",
        {"text": "heart\nheart\nheart\nhea", "finish_reason": "length"},
        {"text": "", "error": "timeout"},
    ]
    with Scripted(replies={"Query": script}).session(context.cache) as session:
        context.llm = session
        made = Rewrites(completions=3, number=5)
        query = context.topics[0]
        made.prepare([query], context, 10, 0)
        found = made.generate(query, context, 10, 0)
    assert [one.text for one in found] == ["pump", "heart", "valve"]
    assert [one.calls for one in found] == [1, 1, 0]
    counts = context.counts["llm"]
    assert counts["replies"] == 3
    assert counts["replies_timeout"] == 1
    assert counts["lines_repeated"] == 3
    assert counts["lines_echo"] == 1
    assert counts["lines_truncated"] == 1
    assert context.notes["llm"]["prompt_fingerprint"]


def test_the_model_is_told_neighbours_or_keywords(context: Context, tmp_path: Path) -> None:
    said = {"valve": "told neighbour", "flows": "told keyword"}
    with Scripted(replies=said, otherwise="told nothing").session(context.cache) as session:
        context.llm = session
        near = Rewrites(words="neighbours", vectors=vector_file(tmp_path / "v.txt"), completions=1)
        assert texts_of(near, context) == ["told neighbour"]
        assert texts_of(Rewrites(words="keywords", documents=1, completions=1), context) == ["told keyword"]
        assert texts_of(Rewrites(completions=1), context) == ["told nothing"]
    assert {near.name, Rewrites(words="keywords").name} == {"neighbours_llm", "keywords_llm"}
    context.llm = None
    with pytest.raises(ConfigError, match="llm: none"):
        texts_of(Rewrites(), context, Query("4", "other"))
