"""Properties of whole generated worlds."""

from __future__ import annotations

import pickle
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rerankers.collections import CollectionGroups, Generated
from rerankers.collections.world import BLOCK, World, WorldSpec
from rerankers.collections.world_store import GeneratedDocuments
from rerankers.values import Collection

worlds = st.builds(
    Generated,
    seed=st.integers(-5, 10**12),
    documents=st.integers(2, 50),
    topics=st.integers(1, 6),
    variants=st.integers(1, 3),
    relevant=st.floats(1, 30),
    judged_sample=st.integers(0, 60),
    labels=st.sampled_from(["independent", "correlated"]),
    bias=st.floats(-5, 5),
    unknown_share=st.floats(0, 1),
    collaboration=st.floats(0, 1),
)


def words(collection: Collection) -> list[tuple[str, str]]:
    assert collection.documents is not None
    return list(collection.documents.texts(["title", "abstract"]))


@settings(max_examples=40, deadline=None)
@given(worlds)
def test_every_world_is_whole(world: Generated) -> None:
    collection = world.load()
    assert len(collection.docs) == world.documents
    assert collection.docs.is_sorted
    assert len(collection.topics) == world.topics * world.variants == len(collection.judgments)
    assert all(text for text in collection.topics.text)
    texts = words(collection)
    assert [docno for docno, _ in texts] == collection.docs.take(np.arange(world.documents))
    assert all(text for _, text in texts)
    judgments, rho = collection.judgments, collection.truth["relevance_probability"]
    assert rho.shape == (judgments.nnz,)
    assert np.all((rho >= 0) & (rho <= 1))
    assert np.all(judgments.grade[rho == 0] == 0)
    assert set(np.unique(judgments.grade)) <= {0, 1, 2, 3}
    for row in range(len(judgments)):
        docs = judgments.doc[judgments.row(row)]
        assert np.all(np.diff(docs) > 0)
        assert judgments.grade[judgments.row(row)].max() > 0
        assert np.isclose(rho[judgments.row(row)].max(), 1.0)
    np.testing.assert_allclose(collection.truth["grade_probability"].sum(axis=1), 1.0)
    for attribute, labels in collection.groups.items():
        assert labels.n_docs == world.documents
        true = collection.truth[f"labels_{attribute}"]
        assert true.shape == labels.label.shape
        seen = labels.label >= 0
        np.testing.assert_array_equal(labels.label[seen], true[seen])
        assert np.all(true >= 0)


@settings(max_examples=15, deadline=None)
@given(worlds)
def test_the_same_seed_gives_the_same_world(world: Generated) -> None:
    one, two = world.load(), world.load()
    assert one.fingerprint == two.fingerprint
    assert one.docs.fingerprint == two.docs.fingerprint
    assert words(one) == words(two)
    assert one.topics.text == two.topics.text
    np.testing.assert_array_equal(one.judgments.doc, two.judgments.doc)
    np.testing.assert_array_equal(one.judgments.grade, two.judgments.grade)
    for attribute in one.groups:
        np.testing.assert_array_equal(one.groups[attribute].label, two.groups[attribute].label)


def test_another_seed_gives_another_world() -> None:
    one, two = Generated(documents=20, topics=3).load(), Generated(seed=1, documents=20, topics=3).load()
    assert one.fingerprint != two.fingerprint
    assert words(one) != words(two)
    assert one.topics.text != two.topics.text


def test_blocks_do_not_depend_on_the_order_in_which_they_are_drawn() -> None:
    spec = WorldSpec(0, 2 * BLOCK + 5, 1.0, 0.5)
    forward = [World.of(spec).texts(block)[0].tolist() for block in (0, 1, 2)]
    world = World.of(spec)
    backward = [world.texts(block)[0].tolist() for block in (2, 1, 0)]
    assert forward == backward[::-1]


def test_the_store_is_small_and_survives_a_trip_to_a_worker() -> None:
    store = GeneratedDocuments(WorldSpec(0, 30, 1.0, 0.5))
    sent = pickle.dumps(store)
    assert len(sent) < 500
    back = pickle.loads(sent)
    assert back.fingerprint == store.fingerprint
    assert list(back.texts(["title"])) == list(store.texts(["title"]))


def test_docnos_go_on_over_blocks() -> None:
    size = BLOCK + 3
    collection = Generated(documents=size, topics=1).load()
    assert [docno for docno, _ in words(collection)] == collection.docs.take(np.arange(size))


def test_fields_are_joined_in_the_order_asked_for() -> None:
    store = GeneratedDocuments(WorldSpec(0, 5, 1.0, 0.5))
    titles, abstracts = (dict(store.texts([field])) for field in ("title", "abstract"))
    for docno, text in store.texts(["abstract", "title"]):
        assert text == f"{abstracts[docno]} {titles[docno]}"
    with pytest.raises(ValueError, match="abstract"):
        next(store.texts(["body"]))


def test_options_of_labels_leave_the_documents_alone() -> None:
    plain = Generated(documents=40, topics=4).load()
    other = Generated(documents=40, topics=4, unknown_share=0.9, labels="correlated", relevant=5).load()
    assert plain.documents is not None
    assert other.documents is not None
    assert plain.documents.fingerprint == other.documents.fingerprint
    assert plain.topics.text == other.topics.text


def test_variants_share_topic_and_judgments_and_differ_in_words() -> None:
    one = Generated(documents=100, topics=4).load()
    three = Generated(documents=100, topics=4, variants=3).load()
    assert three.topics.ids.take(np.arange(5)) == ["1", "1-2", "1-3", "2", "2-2"]
    assert three.topics.topic.tolist() == np.repeat(np.arange(4), 3).tolist()
    assert three.topics.text[::3] == one.topics.text
    assert all(a != b for a, b in pairwise(three.topics.text))
    for row in range(12):
        mine, original = three.judgments.row(row), one.judgments.row(row // 3)
        np.testing.assert_array_equal(three.judgments.doc[mine], one.judgments.doc[original])
        np.testing.assert_array_equal(three.judgments.grade[mine], one.judgments.grade[original])


def test_judgments_hold_every_document_that_may_be_relevant() -> None:
    sampled = Generated(documents=500, topics=8, judged_sample=40).load()
    bare = Generated(documents=500, topics=8, judged_sample=0).load()
    rho = sampled.truth["relevance_probability"]
    for row in range(8):
        mine = sampled.judgments.row(row)
        likely = sampled.judgments.doc[mine][rho[mine] > 0]
        np.testing.assert_array_equal(likely, bare.judgments.doc[bare.judgments.row(row)])
        assert 30 <= np.count_nonzero(rho[mine] == 0) <= 40
    assert np.all(bare.truth["relevance_probability"] >= 0.01)


def test_correlated_labels_spread_the_number_of_relevant_documents() -> None:
    def spread(labels: str) -> float:
        numbers = []
        for seed in range(12):
            collection = Generated(seed=seed, documents=300, topics=20, labels=labels, correlation=0.8).load()
            relevant, rows = collection.judgments.grade > 0, collection.judgments.indptr[:-1]
            rho = collection.truth["relevance_probability"]
            excess = np.add.reduceat(relevant - rho, rows)
            numbers.append(excess**2 / np.add.reduceat(rho * (1 - rho), rows))
        return float(np.mean(numbers))

    assert 0.7 < spread("independent") < 1.35  # a sum of independent draws has the variance Σρ(1 - ρ)
    assert spread("correlated") > 2.5


def on_topic_against_group(bias: float) -> tuple[float, int]:
    """Correlate, over documents, the share of words about the document's themes with its advanced authors' share."""
    world = World.of(WorldSpec(11, 6 * BLOCK, bias, 0.5))
    match, favoured, quality = [], [], []
    for block in world.blocks:
        profile = world.profile(block)
        codes, ends = world.texts(block)
        for row, stop in enumerate(ends[:, 1].tolist()):
            start = int(ends[row - 1, 1]) if row else 0
            theme_words = set(world.words_of[profile.themes[row]].ravel().tolist())
            match.append(np.mean([code in theme_words for code in codes[start:stop].tolist()]))
        favoured.append(profile.favoured)
        quality.append(profile.quality)
    group = np.concatenate(favoured)
    assert abs(np.corrcoef(np.concatenate(quality), group)[0, 1]) < 4 / np.sqrt(len(group))
    return float(np.corrcoef(match, group)[0, 1]), len(group)


def test_without_bias_texts_say_nothing_about_groups() -> None:
    correlation, size = on_topic_against_group(0.0)
    assert abs(correlation) < 4 / np.sqrt(size)


def test_bias_lets_the_texts_of_one_group_speak_to_the_point() -> None:
    assert on_topic_against_group(1.0)[0] > 0.4
    assert on_topic_against_group(-1.0)[0] < -0.4


def test_relevance_does_not_depend_on_groups_or_bias() -> None:
    fair, biased = (
        Generated(documents=800, topics=20, bias=0).load(),
        Generated(documents=800, topics=20, bias=3).load(),
    )
    np.testing.assert_array_equal(fair.truth["relevance_probability"], biased.truth["relevance_probability"])
    np.testing.assert_array_equal(fair.judgments.grade, biased.judgments.grade)


def test_about_one_document_in_ten_is_unknown_at_the_default() -> None:
    aligned = CollectionGroups(attribute="economy").align(Generated().load())
    share = aligned.counts["economy_documents_without_group"] / 2000
    assert 0.07 < share < 0.13


@pytest.mark.parametrize(("share", "known"), [(0.0, True), (1.0, False)])
def test_the_unknown_share_has_its_ends(share: float, known: bool) -> None:
    for labels in Generated(documents=50, topics=1, unknown_share=share).load().groups.values():
        assert np.all((labels.label >= 0) == known)
