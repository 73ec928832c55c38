"""What an impression brings: the mean target, believed browsing, entities, and impressions that make sense."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ledger_worlds import QUERIES, asked, docnos, world

from rerankers._base.errors import ConfigError, InputError
from rerankers.exposure import DCG, ERR, GERR, RBP, Cascade, Positions
from rerankers.exposure.targets import equal_exposure
from rerankers.ledger import Entities, Impressions, author_alignment, believed_browsing, expected_target, make_rows
from rerankers.policies import static
from rerankers.values import Candidates, Ids
from rerankers.values.authors import Authors

MODELS = [GERR(0.5, 0.7), GERR(1.0, 0.5), RBP(0.8), RBP(1.0), DCG(), DCG(cutoff=2), Positions((1.0, 0.4)), ERR(0.9, 1)]


def enumerated(model: Any, belief: np.ndarray) -> np.ndarray:
    """Average the target over all labels, each with its probability."""
    indptr = np.array([0, len(belief)])
    mean = np.zeros(len(belief))
    for labels in product((0, 1), repeat=len(belief)):
        grades = np.array(labels)
        chance = np.prod(np.where(grades > 0, belief, 1 - belief))
        mean += chance * equal_exposure(indptr, grades, model.bind(grades, indptr))
    return mean


@pytest.mark.parametrize("model", MODELS, ids=str)
@given(belief=st.lists(st.one_of(st.sampled_from([0.0, 0.5, 1.0]), st.floats(0, 1)), min_size=1, max_size=5))
def test_mean_target_is_the_mean_over_labels(model: Any, belief: list[float]) -> None:
    known = np.array(belief)
    found = expected_target(model, known, np.array([0, len(known)]))
    np.testing.assert_allclose(found, enumerated(model, known), atol=1e-13)


def test_mean_target_of_long_rows_sums_to_what_there_is() -> None:
    rng = np.random.default_rng(0)
    for spread in (1e-9, 1.0, 1 - 1e-9):
        belief = np.clip(rng.beta(0.3, 0.3, 700) * spread, 0, 1)
        due = expected_target(RBP(0.9), belief, np.array([0, 700]))
        assert due.sum() == pytest.approx(10.0, rel=1e-10)
        assert np.all(due[np.argsort(belief)][1:] >= due[np.argsort(belief)][:-1] - 1e-10)


def test_published_form() -> None:
    """Check against the formula of the 2020 run, written out (Kletti & Renders 2020)."""
    belief, p, k = np.array([0.2, 0.7, 0.4]), 0.5, 0.7
    n, q = 3, p * (1 - k)
    expected = []
    for d in range(n):
        others = np.delete(belief, d)
        pmf = [np.prod(1 - others), others[0] * (1 - others[1]) + others[1] * (1 - others[0]), np.prod(others)]
        mu = [(1 - q**s) / (s * (1 - q)) for s in (1, 2, 3)]
        nu = [(1 - k) ** s * (p**s - p**n) / ((n - s) * (1 - p)) for s in (0, 1, 2)]
        expected.append(sum(pmf[s] * (belief[d] * mu[s] + (1 - belief[d]) * nu[s]) for s in range(n)))
    np.testing.assert_allclose(expected_target(GERR(p, k), belief, np.array([0, n])), expected, rtol=1e-13)


def test_believed_browsing_is_the_mean_over_labels() -> None:
    belief, indptr = np.array([0.2, 0.9, 0.5]), np.array([0, 3])
    over = Candidates(np.zeros(1, np.int32), indptr, np.arange(3))
    policy = static(over, belief)
    mean = np.zeros(3)
    for labels in product((0, 1), repeat=3):
        chance = np.prod(np.where(np.array(labels) > 0, belief, 1 - belief))
        mean += chance * policy.exposure(GERR(0.8, 0.5).bind(np.array(labels), indptr)).value
    found = policy.exposure(believed_browsing(GERR(0.8, 0.5), belief, indptr)).value
    np.testing.assert_allclose(found, mean, rtol=1e-13)


def test_targets_and_units() -> None:
    block = world(browsing=RBP(0.7))
    over, belief = block.candidates, block.relevance.value
    documents = Entities("documents")
    whole = [np.sum(0.7 ** np.arange(n)) for n in over.lengths]
    merit = make_rows(over, belief, RBP(0.7), documents, "merit", "exposure").due / 2.0**40
    share = make_rows(over, belief, RBP(0.7), documents, "merit", "share").due / 2.0**40
    for row, mass in enumerate(whole):
        part = over.row(row)
        if mass:
            np.testing.assert_allclose(merit[part], mass * belief[part] / belief[part].sum(), atol=1e-11)
            np.testing.assert_allclose(share[part].sum(), 1.0, atol=1e-11)
    plain = make_rows(over, belief, RBP(0.7), documents, "relevance", "exposure").due / 2.0**40
    np.testing.assert_allclose(plain, belief, atol=1e-12)
    nothing = make_rows(over, np.zeros(over.nnz), RBP(0.7), documents, "merit", "exposure").due / 2.0**40
    np.testing.assert_allclose(nothing[over.row(0)], whole[0] / 4, atol=1e-11)
    with pytest.raises(ConfigError, match="Did you mean 'merit'"):
        make_rows(over, belief, RBP(0.7), documents, "merrit", "exposure")
    with pytest.raises(ConfigError, match="expected merit"):
        make_rows(over, belief, Cascade(np.linspace(0.1, 0.9, over.nnz)), documents, "equal", "exposure")


def test_entities_and_those_without() -> None:
    authors = Authors(Ids.of(["ann", "bob"]), np.array([0, 3, 3, 4]), np.array([1, 0, 1, -1]))
    aligned = author_alignment(authors, 4)
    docs = Ids.of(["d0", "d1", "d2", "d3"])
    for missing, names in (
        ("ignore", ["ann", "bob"]),
        ("shared", ["ann", "bob", "(none)", "(none)", "(none)"]),
        ("own", ["ann", "bob", "(none) d1", "(none) d2", "(none) d3"]),
    ):
        entities = Entities("authors", aligned, missing, docs)
        item, code, weight = entities.entries(np.array([0, 1, 2, 3]))
        assert entities.names(code) == names
        assert item.tolist() == ([0, 0] if missing == "ignore" else [0, 0, 1, 2, 3])
        assert set(weight.tolist()) == {1.0}
    assert Entities("documents", docs=docs).names(np.array([2, 0])) == ["d2", "d0"]
    assert Entities("documents").names(np.array([2])) == ["2"]
    with pytest.raises(ConfigError, match="missing"):
        Entities("documents", missing="drop")


def test_impressions_name_every_unknown_query() -> None:
    block = world()
    with pytest.raises(InputError, match=r"2 queries that have no candidates \(zz, yy\), 3 impressions"):
        Impressions.of(
            ("0",), np.zeros(4), np.array([0, 1, 2, 2]), ("qa", "zz", "yy"), Ids.of(QUERIES), block.candidates
        )
    found = asked(block, 2, 5)
    assert found.number.tolist() == [0, 1, 2, 3, 4] * 2
    with pytest.raises(InputError, match="impression 3 of sequence s0 out of turn"):
        found.take(np.array([0, 1, 3]))
    assert docnos(block).name(0) == "d00"
