"""The evidence about 2020 and the worked examples: against plain twins, and section by section."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kendalltau, nct, ttest_rel
from scipy.stats import t as student

from rerankers._base.errors import ConfigError
from rerankers.measures.anchors import IDEAL
from rerankers.tracks import reproduce as module
from rerankers.tracks import reproduce2020, reproduce_evidence2020, reproduce_examples
from rerankers.tracks.explained2020 import LOSS
from rerankers.tracks.reproduce import (
    ABSENT,
    ALL,
    MISSED,
    NOT_YET,
    REPRODUCED,
    SECTIONS,
    Reproduced,
    published_rows,
    reproduce,
    tally,
)
from rerankers.tracks.reproduce_evidence2020 import ten_policies
from rerankers.tracks.reproduce_losses2020 import detectable, losses, paired_t
from rerankers.tracks.reproduce_world2020 import World, read_world


def test_examples_come_out_without_any_data(tmp_path: Path) -> None:
    found = [
        row for row in reproduce(tmp_path, section="elsewhere") if row.row.part in reproduce_examples.parts(tmp_path)
    ]
    assert tally(found) == {REPRODUCED: 30, MISSED: 0, ABSENT: 0, NOT_YET: 0}
    assert all(abs(row.distance or 0.0) <= (row.row.tolerance or 0.0) for row in found)


def test_a_section_computes_what_it_needs_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    class Parts(dict):  # type: ignore[type-arg]
        def __missing__(self, part: str):  # type: ignore[no-untyped-def]
            return lambda seed: asked.append(part) or Values()

    class Values(dict):  # type: ignore[type-arg]
        def __missing__(self, key: str) -> float:
            return 0.0

    class Module:
        @staticmethod
        def parts(data: Path) -> Mapping[str, object]:
            return Parts()

    monkeypatch.setattr(module, "import_module", lambda name: Module)
    by_section = {section: list(reproduce(tmp_path, section=section)) for section in SECTIONS}
    assert {row.row.section for rows in by_section.values() for row in rows} == set(SECTIONS)
    for section, rows in by_section.items():
        assert {row.row.section for row in rows} == {section}
    everything = list(reproduce(tmp_path, section=ALL))
    assert sum(map(len, by_section.values())) == len(everything) == len(published_rows())
    asked.clear()
    list(reproduce(tmp_path, section="evidence"))
    assert len(asked) == len(set(asked))
    assert set(asked) == {
        "2020 evidence",
        "2020 Thompson",
        "2020 META",
        "2020 META and uniform",
        "2020 anchors",
        "2020 UW_bm25",
        "2020 UW_bm25 and UW_Kr_r60g20c20",
    }


@pytest.mark.parametrize("section", ["evidences", "", "2018", "All"])
def test_unknown_sections(tmp_path: Path, section: str) -> None:
    with pytest.raises(ConfigError, match="section: found"):
        list(reproduce(tmp_path, section=section))


def test_distance_has_a_sign_and_is_none_without_numbers() -> None:
    row = next(row for row in published_rows() if row.part == "2020 evidence" and row.key == "furthest")
    assert [Reproduced(row, ours, "").distance for ours in (-0.5, 0.0, 1.0, 2.0, 2.5)] == [-0.5, 0, 0, 0, 0.5]
    assert Reproduced(row, None, ABSENT, "x").distance is None
    without = next(row for row in published_rows() if row.low is None)
    assert Reproduced(without, 1.0, "").distance is None


@given(st.lists(st.tuples(st.floats(0, 3), st.floats(0, 3)), min_size=3, max_size=30))
def test_paired_numbers(pairs: list[tuple[float, float]]) -> None:
    first, second = np.array(pairs).T
    if np.std(first - second) < 1e-6:
        return
    assert paired_t(first, second) == pytest.approx(ttest_rel(first, second).statistic, rel=1e-9, abs=1e-12)
    n, found = len(first), detectable(first, second)
    shift = found / np.std(first - second, ddof=1) * np.sqrt(n)
    critical = student.ppf(0.975, n - 1)
    assert nct.sf(critical, n - 1, shift) + nct.cdf(-critical, n - 1, shift) == pytest.approx(0.8, abs=1e-6)
    assert detectable(second, first) == pytest.approx(found)


@pytest.fixture(scope="module")
def world(shared: Path) -> World:
    return read_world(shared / "data")


@pytest.mark.shared_data
def test_ten_policies_against_plain_sums(world: World) -> None:
    """Placebo, order, shares and detectable differences, from the differences of groups alone where they suffice."""
    outcome, behind = ten_policies(world, 3)
    assert len(behind) == 10
    found = reproduce_evidence2020._evidence(world, 3)
    loss, placebo, unknown, systematic = [], [], [], []
    for name, one in behind.items():
        null, gaps = one.nulls[f"{LOSS}_excess"], one.gaps[LOSS]
        d = gaps.difference
        assert d.shape == (200, 4)
        own = (null.excess + null.placebo) / 200
        assert own == pytest.approx(np.mean(np.sum(d * d, axis=1)), abs=1e-12)
        loss.append(own)
        placebo.append(null.placebo / 200)
        if name != IDEAL:
            unknown.append(float(np.mean(d[:, gaps.groups.index("unknown")] ** 2) / own))
            systematic.append(float(np.sum(d.mean(axis=0) ** 2) / own))
    assert found["kendall"] == pytest.approx(kendalltau(loss, placebo).statistic)
    assert found["pearson"] == pytest.approx(np.corrcoef(loss, placebo)[0, 1])
    assert (found["unknown/lowest"], found["unknown/highest"]) == pytest.approx((min(unknown), max(unknown)))
    assert (found["systematic/lowest"], found["systematic/highest"]) == pytest.approx(
        (min(systematic), max(systematic))
    )
    ours = [losses(outcome, name) for name in reproduce2020.RUNS]
    # two-sided 5 %, power .8, 200 queries: 2.82 standard errors
    spread = [2.82 * np.std(one - other, ddof=1) / np.sqrt(200) for one, other in combinations(ours, 2)]
    assert found["detectable/lowest"] == pytest.approx(min(spread), rel=0.005)
    assert found["detectable/highest"] == pytest.approx(max(spread), rel=0.005)


@pytest.mark.shared_data
def test_shuffled_labels_agree_with_the_closed_form(world: World) -> None:
    """The means over draws of labels are as far from the placebos as chance says."""
    _, behind = ten_policies(world, 11)
    for name, one in behind.items():
        null = one.nulls[f"{LOSS}_excess"]
        assert len(null.draws) == reproduce_evidence2020.SHUFFLES
        if name != IDEAL:
            error = np.std(null.draws, ddof=1) / np.sqrt(len(null.draws))
            assert abs(null.draws.mean()) < 4 * error


@pytest.mark.shared_data
@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 7])
def test_all_evidence_comes_out(shared: Path, seed: int) -> None:
    found = list(reproduce(shared / "data", seed, "evidence"))
    assert tally(found) == {REPRODUCED: 38, MISSED: 0, ABSENT: 0, NOT_YET: 0}, [
        row for row in found if row.verdict != REPRODUCED
    ]
    exact = {"2020 evidence", "2020 UW_bm25", "2020 UW_bm25 and UW_Kr_r60g20c20", "2020 Thompson"}
    for row in found:
        if row.row.part in exact and row.row.tolerance is not None:
            assert row.row.tolerance <= 0.01
