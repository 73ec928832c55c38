"""The generated world follows the formulas that it states."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import multivariate_normal, norm
from world_twins import affinity, h_index, logistic

from rerankers._base.errors import ConfigError
from rerankers._base.streams import generator
from rerankers.collections import Generated, draw_grades
from rerankers.collections.world import BLOCK, World, WorldSpec
from rerankers.collections.world_citations import REFERENCES, author_facts, citation_counts, years
from rerankers.collections.world_people import TEAM_SIZES, People, productivity_ranks
from rerankers.collections.world_relevance import FLOOR, grade_probability, related, relevance_probability
from rerankers.collections.world_text import draw_words, made_up_words, zipf_ranks
from rerankers.collections.world_topics import Needs
from rerankers.values import Authors, Ids


def test_words_differ_and_the_frequent_ones_are_short() -> None:
    words = made_up_words(3, 5000)
    assert len(set(words)) == 5000
    assert [len(word) for word in words] == sorted(len(word) for word in words)
    assert all(word[1::2].strip("aiou") == "" for word in words[:100])


def test_zipf_ranks_have_the_stated_probabilities() -> None:
    grid = (np.arange(400_000) + 0.5) / 400_000
    share = np.bincount(zipf_ranks(grid, 50), minlength=50) / len(grid)
    stated = [np.log((r + 2) / (r + 1)) / np.log(51) for r in range(50)]
    np.testing.assert_allclose(share, stated, atol=1e-5)


def test_productivity_ranks_have_the_stated_distribution() -> None:
    grid = (np.arange(200_000) + 0.5) / 200_000
    ranks = productivity_ranks(grid, 4000)
    for r in (1, 10, 400, 3999):
        stated = ((1 + r / 10) ** 0.2 - 1) / (401**0.2 - 1)
        assert np.mean(ranks < r) == pytest.approx(stated, abs=1e-4)


def test_teams_have_distinct_members_and_the_stated_sizes() -> None:
    people = People.of(1, 5000, 50)
    team = people.teams(np.random.default_rng(0), 40_000, 0.5)
    for row in team[:3000]:
        members = row[row >= 0]
        assert len(set(members.tolist())) == len(members)
    sizes = np.bincount((team >= 0).sum(axis=1), minlength=6) / len(team)
    np.testing.assert_allclose(sizes, TEAM_SIZES, atol=0.015)


@pytest.mark.parametrize(("collaboration", "mixed"), [(0.0, False), (1.0, True)])
def test_collaboration_mixes_economies(collaboration: float, mixed: bool) -> None:
    people = People.of(2, 5000, 50)
    team = people.teams(np.random.default_rng(1), 20_000, collaboration)
    pairs = team[(team[:, 1] >= 0)][:, :2]
    differ = np.mean(people.economy[pairs[:, 0]] != people.economy[pairs[:, 1]])
    # Teams that are drawn from everybody differ as two independent draws do.
    weight = np.bincount(team[:, 0][team[:, 0] >= 0], minlength=len(people.economy))
    p = np.average(people.economy, weights=weight)
    assert differ == pytest.approx(2 * p * (1 - p) if mixed else 0.0, abs=0.02)


def test_related_scores_match_the_twin_and_miss_no_pair() -> None:
    world = World.of(WorldSpec(5, 300, 1.0, 0.5))
    needs = Needs.of(world, 12)
    profile = world.profile(0)
    found = related(needs, profile)
    seen = {(t, d): s for t, d, s in zip(*(column.tolist() for column in found), strict=True)}
    for topic in range(12):
        for doc in range(300):
            a = affinity(
                needs.themes[topic].tolist(),
                needs.shares[topic].tolist(),
                profile.themes[doc].tolist(),
                profile.shares[doc].tolist(),
            )
            assert ((topic, doc) in seen) == (a > 0)
            if a > 0:
                assert seen[topic, doc] == pytest.approx(12 * a + 0.7 * profile.quality[doc])


def test_words_speak_to_the_point_with_the_stated_probability(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[NDArray[np.float64]] = []

    def spy(rng: object, text: NDArray[np.int64], topical: NDArray[np.float64], *rest: object) -> NDArray[np.int64]:
        seen.append(topical)
        return text

    monkeypatch.setattr("rerankers.collections.world.draw_words", spy)
    world = World.of(WorldSpec(0, 50, 1.5, 0.5))
    row_of_word, ends = world.texts(0)
    assert len(row_of_word) == ends[-1, 1]
    for row, favoured in enumerate(world.profile(0).favoured.tolist()):
        start = int(ends[row - 1, 1]) if row else 0
        assert set(row_of_word[start : ends[row, 1]].tolist()) == {row}
        lean = 1.5 * (favoured - 0.5)
        np.testing.assert_allclose(seen[0][start : ends[row, 0]], logistic(math.log(0.8 / 0.2) + lean))
        np.testing.assert_allclose(seen[0][ends[row, 0] : ends[row, 1]], logistic(lean))


def test_words_come_from_themes_by_their_shares() -> None:
    words_of = np.arange(3 * 10, dtype=np.int32).reshape(3, 10) + 1000
    text, shares = np.repeat([0, 1], 30_000), np.array([[0.7, 0.3], [0.2, 0.8]])
    drawn = draw_words(generator(0), text, np.full(60_000, 0.6), np.array([[2, 0], [1, 2]]), shares, words_of, 500)
    for row, themes in enumerate([{2: 0.7, 0: 0.3}, {1: 0.2, 2: 0.8}]):
        mine = drawn[text == row]
        assert np.mean(mine < 500) == pytest.approx(0.4, abs=0.015)
        for theme in range(3):
            stated = 0.6 * themes.get(theme, 0.0)
            assert np.mean((mine - 1000) // 10 == theme) == pytest.approx(stated, abs=0.015)


def test_themes_of_a_document_differ_and_shares_sum_to_one() -> None:
    profile = World.of(WorldSpec(0, BLOCK, 0.0, 0.5)).profile(0)
    ordered = np.sort(profile.themes, axis=1)
    assert np.all(np.diff(ordered, axis=1) > 0)
    np.testing.assert_allclose(profile.shares.sum(axis=1), 1.0)
    assert np.all(profile.shares[:, 0] >= profile.shares[:, 1])


def test_probabilities_sum_to_what_is_asked_for_and_follow_the_logistic() -> None:
    rng = np.random.default_rng(0)
    score = rng.normal(0, 3, 500)
    indptr = np.array([0, 200, 204, 205, 500])
    source = np.zeros(500, bool)
    source[[10, 201, 204, 300]] = True
    rho = relevance_probability(score, source, indptr, 15.0)
    assert np.all(rho[source] == 1.0)
    assert np.all((rho == 0) | (rho >= FLOOR))
    assert rho[204] == 1.0
    for start, stop, wanted in ((0, 200, 15.0), (200, 204, 2.5), (205, 500, 15.0)):
        row = rho[start:stop]
        assert row.sum() == pytest.approx(wanted, abs=FLOOR * (stop - start))
        inner = (row > 0) & (row < 1)
        shift = score[start:stop][inner] - np.log(row[inner] / (1 - row[inner]))
        np.testing.assert_allclose(shift, shift[0], atol=1e-8)
        assert row[inner][0] == pytest.approx(logistic(score[start:stop][inner][0] - shift[0]))


def test_one_expected_relevant_document_leaves_the_source_alone() -> None:
    collection = Generated(documents=300, topics=5, relevant=1).load()
    rho = collection.truth["relevance_probability"]
    assert np.count_nonzero(rho) == 5
    assert np.all(rho[rho > 0] == 1)


def test_grade_probabilities_sum_to_one_and_give_the_stated_tails() -> None:
    rho = np.array([0.0, 0.01, 0.3, 1.0])
    p = grade_probability(rho)
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    for g in (1, 2, 3):
        np.testing.assert_allclose(p[:, g:].sum(axis=1), 2 * (rho / 2) ** g)


@pytest.mark.parametrize("correlation", [0.0, 0.6])
def test_marginals_of_grades_do_not_depend_on_the_correlation(correlation: float) -> None:
    rho = np.array([1.0, 0.9, 0.5, 0.2, 0.02, 0.0])
    draws = 40_000
    grades = draw_grades(rho, np.array([0, 6]), ["1"], seed=0, correlation=correlation, draws=draws)
    for g in (1, 2, 3):
        stated = 2 * (rho / 2) ** g
        # The correlation is between documents of one draw; draws are independent.
        error = 5 * np.sqrt(stated * (1 - stated) / draws) + 1e-12
        assert np.all(np.abs((grades >= g).mean(axis=0) - stated) <= error)
    assert np.all(grades[:, 0] >= 1)
    assert np.all(grades[:, 5] == 0)


@pytest.mark.parametrize("correlation", [0.0, 0.5])
def test_joint_relevance_is_that_of_the_gaussian_copula(correlation: float) -> None:
    rho = np.array([0.4, 0.3])
    grades = draw_grades(rho, np.array([0, 2]), ["7"], seed=3, correlation=correlation, draws=60_000) > 0
    both = float(np.mean(grades[:, 0] & grades[:, 1]))
    stated = multivariate_normal(cov=[[1, correlation], [correlation, 1]]).cdf(norm.ppf(rho))
    assert both == pytest.approx(stated, abs=5 * np.sqrt(stated / 60_000))


def test_draws_are_keyed_by_topic_and_number() -> None:
    rho = np.linspace(0.05, 0.95, 7)
    whole = draw_grades(rho, np.array([0, 3, 7]), ["a", "b"], seed=1, correlation=0.3, draws=10)
    part = draw_grades(rho[3:], np.array([0, 4]), ["b"], seed=1, correlation=0.3, first=4, draws=2)
    np.testing.assert_array_equal(whole[4:6, 3:], part)
    assert not np.array_equal(whole, draw_grades(rho, np.array([0, 3, 7]), ["a", "b"], 2, 0.3, 0, 10))


def test_citations_go_backwards_and_the_rich_get_richer() -> None:
    quality = np.random.default_rng(0).standard_normal(4000)
    cited = citation_counts(0, quality)
    assert cited[-1] == 0
    assert REFERENCES * 0.8 < cited.sum() / 4000 <= REFERENCES * 1.1
    assert cited.max() > 20 * cited.mean()
    middle = slice(1000, 2000)
    assert cited[middle][quality[middle] > 0].mean() > 1.5 * cited[middle][quality[middle] < 0].mean()
    assert citation_counts(0, quality[:1]).tolist() == [0]


def test_citations_match_a_twin_that_goes_reference_by_reference() -> None:
    quality = np.random.default_rng(1).standard_normal(60)
    rng = generator(9, "citations")
    number = rng.poisson(REFERENCES, 60)
    number[0] = 0
    citing = [doc for doc in range(60) for _ in range(number[doc])]
    first, second, coin, copy = (rng.random(len(citing)) for _ in range(4))
    targets: list[int] = []
    for edge, doc in enumerate(citing):
        earlier = int(number[:doc].sum())
        if coin[edge] < 0.5 and earlier:
            targets.append(targets[int(copy[edge] * earlier)])
        else:
            one, other = int(first[edge] * doc), int(second[edge] * doc)
            targets.append(one if quality[one] >= quality[other] else other)
    assert all(target < doc for doc, target in zip(citing, targets, strict=True))
    distinct = set(zip(citing, targets, strict=True))
    twin = [sum(target == doc for _, target in distinct) for doc in range(60)]
    assert citation_counts(9, quality).tolist() == twin


def test_years_ascend_over_three_decades() -> None:
    year = years(3000)
    assert (year[0], year[-1]) == (1995, 2024)
    assert np.all(np.diff(year) >= 0)


def test_author_facts_match_the_twin() -> None:
    rng = np.random.default_rng(4)
    indptr = np.arange(0, 61, 2)
    author = np.concatenate([rng.permutation(6)[:2] for _ in range(30)]).astype(np.int32)
    authors = Authors(Ids.of(list("abcdef")), indptr, author)
    cited = rng.integers(0, 9, 30)
    facts = author_facts(authors, cited)
    for code in range(6):
        mine = [int(cited[doc]) for doc in range(30) if code in author[2 * doc : 2 * doc + 2]]
        assert facts["n_papers"][code] == len(mine)
        assert facts["n_citations"][code] == sum(mine)
        assert facts["h_index"][code] == h_index(mine)


@pytest.mark.parametrize(
    "wrong",
    [
        {"documents": 1},
        {"documents": 10.5},
        {"documents": 20_000_000},
        {"topics": 0},
        {"variants": 0},
        {"relevant": 0.5},
        {"judged_sample": -1},
        {"labels": "dependent"},
        {"correlation": 1.0},
        {"bias": float("nan")},
        {"unknown_share": 1.1},
        {"collaboration": -0.1},
    ],
)
def test_values_out_of_range_are_refused_at_once(wrong: dict[str, object]) -> None:
    with pytest.raises(ConfigError, match=f"collection.{next(iter(wrong))}"):
        Generated(**wrong)  # type: ignore[arg-type]
