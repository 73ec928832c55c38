"""What the report shows besides measures: Lorenz curves, fronts and optima, placebo, sequence, sources."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from report_worlds import QUERIES, full_extras

from rerankers.report import ReportData, write_report
from rerankers.report.html import page, pictures_of
from rerankers.report.keys import in_order
from rerankers.report.lorenz import ShareSums, lorenz, share_sums
from rerankers.report.placebo import READ, placebo_rows
from rerankers.report.sources import SOFTWARE, sources
from rerankers.report.tables import result_tables

Build = Callable[..., ReportData]
Positive = st.lists(st.floats(0.001, 1000.0), min_size=1, max_size=30)


def test_lorenz_of_three_documents() -> None:
    curve, gini = lorenz([3.0, 0.0, 1.0], points=4)
    np.testing.assert_allclose(curve, [0.0, 0.0, 0.25, 1.0])
    assert gini == pytest.approx(1 - 2 * (0.125 / 3 + 0.625 / 3))


def test_lorenz_relative_to_what_is_due() -> None:
    curve, gini = lorenz([2.0, 1.0, 4.0], [2.0, 1.0, 4.0], points=5)
    np.testing.assert_allclose(curve, np.linspace(0, 1, 5))
    assert gini == pytest.approx(0.0, abs=1e-15)
    _, uneven = lorenz([1.0, 1.0, 4.0], [2.0, 1.0, 4.0])
    assert uneven > 0.05


@given(Positive)
def test_gini_is_the_mean_difference(values: list[float]) -> None:
    x = np.array(values)
    expected = np.abs(x[:, None] - x[None, :]).mean() / (2 * x.mean())
    curve, gini = lorenz(x)
    assert gini == pytest.approx(expected, abs=1e-9)
    assert curve[0] == 0.0
    assert curve[-1] == 1.0
    assert np.all(np.diff(curve, 2) >= -1e-12), "convex"


@pytest.mark.parametrize(("value", "weight"), [([0.0, 0.0], None), ([-1.0, 2.0], None), ([1.0, 1.0], [1.0, 0.0])])
def test_lorenz_refuses_what_has_no_curve(value: list[float], weight: list[float] | None) -> None:
    with pytest.raises(ValueError, match="lorenz"):
        lorenz(value, weight)


def test_sums_of_blocks_are_the_same_bits_in_any_order() -> None:
    draw = np.random.default_rng(0)
    value, indptr = draw.random(60), np.array([0, 10, 10, 25, 60])
    value[:10] = 0.0
    whole = share_sums(value, None, indptr, range(4))
    parts = [share_sums(value, None, indptr, [row]) for row in (3, 0, 2, 1)]
    added: ShareSums = parts[0] + parts[1] + parts[2] + parts[3]
    assert np.array_equal(whole.curve, added.curve)
    assert whole.queries == added.queries == 2, "neither a row without documents nor one without exposure"
    assert ShareSums(whole.curve * 0, 0).mean() is None


def test_fronts_stand_in_planes_and_tables(report: Build) -> None:
    data = report(extras=full_extras())
    drawn = {picture.name: picture for picture in pictures_of(data)}
    for name in ("disparity_relevance", "utility_loss"):
        fronts = [row for row in drawn[name].rows if row[1] == "front"]
        assert {(row[0], row[2]) for row in fronts} == {
            (panel, front)
            for panel in ("Documents", "Groups: economy")
            for front in ("oracle front", "plug-in front", "true front")
        }
        assert "oracle front goes from" in drawn[name].alt
    documents, groups = (table for table in result_tables(data)[0] if table.optimum)
    assert [name for name, _ in documents.optimum] == ["oracle front at the utility of odd"]
    shown = {key.text: cell for key, cell in zip(documents.columns, documents.optimum[0][1], strict=True)}
    assert (shown["utility"].value, shown["EEL"].value, shown["EEL"].interval) == ("0.2500", "0.1250", "[0.100, 0.200]")
    assert shown["EED"].value == ""
    reason = next(c for k, c in zip(groups.columns, groups.optimum[0][1], strict=True) if k.base == "EEL").reason
    assert reason == "the front does not reach this utility"
    text = page(data, [])
    assert "Computed somehow." in text
    assert "Optimum: the least loss of a front at a utility" in text


def test_no_front_is_said_so(report: Build) -> None:
    extras = replace(full_extras(), fronts=(), optima=(), fronts_words="Not computed: measures.fronts=false.")
    text = page(report(extras=extras), [])
    assert "Not computed: measures.fronts=false." in text
    assert "front at" not in text


def test_a_report_has_its_sections_in_order(tmp_path: Path, report: Build) -> None:
    keys = ("utility", "EEL", "EED", "EER", "EET", "group_EEL", "group_EEL_placebo", "group_EEL_excess")
    data = report(keys=keys, extras=full_extras(), summary={"fairness": "merit. All alike."})
    text = write_report(tmp_path, data).read_text()
    headings = re.findall(r'<h2 id="([a-z]+)">', text)
    listed = ["warnings", "what", "fairness", "results", "planes", "exposure", "shares", "along", "labels", "units"]
    assert headings == [*listed, "limits", "cite", "appendix"]
    assert headings == re.findall(r'<li><a href="#([a-z]+)">', text)
    assert "Merit. All alike." in text
    assert READ in text
    assert "text of q3 odd" in text


def test_the_worst_queries_are_named(report: Build) -> None:
    text = page(report(extras=full_extras()), [])
    named = re.search(r"Queries with the largest EEL under <bdi>plackett_luce</bdi>:(.*?)</p>", text, re.DOTALL)
    assert named is not None
    order = re.findall(r"<strong><bdi>(q\d)</bdi></strong>", named[1])
    values = [float(value) for value in re.findall(r"\) (-?\d+\.\d+)", named[1])]
    assert sorted(order) == list(QUERIES)
    assert values == sorted(values, reverse=True)


def test_placebo_rows_and_their_p(report: Build) -> None:
    keys = ("utility", "EEL", "group_EEL", "group_EEL_placebo", "group_EEL_excess", "group_EEL_excess_p")
    rows = placebo_rows(report(keys=keys))
    assert [row.system for row in rows] == ["plackett_luce", "anchor:random", "anchor:plackett_luce", "anchor:ideal"]
    assert {row.attribute for row in rows} == {"economy"}
    assert {(row.placebo, row.p) for row in rows} == {(0.5, 0.5)}
    assert placebo_rows(report()) == [], "without a placebo there is nothing to compare with"


def test_sources_are_those_of_what_is_reported() -> None:
    found = dict(
        sources(in_order(["nDCG@10", "EEL", "group_EEL", "group_EEL_placebo"]), "fair_co", "rbp(patience=0.5)")
    )
    assert next(iter(found)) == SOFTWARE
    told = " ".join(f"{source} {uses}" for source, uses in found.items())
    assert "Cumulated gain" in told
    assert "SIGIR 2020 method fair_co" in told
    assert "browsing model rbp" in told
    assert "AWRF" not in told


def test_many_systems_still_make_pictures(report: Build) -> None:
    systems = [f"system number {number} of thirty" for number in range(30)]
    extras = full_extras([*systems, "anchor:random"])
    data = report(systems=(*systems, "anchor:random"), extras=extras)
    drawn = {picture.name: picture for picture in pictures_of(data)}
    assert "The first 8 of 30 systems are drawn" in drawn["lorenz"].caption
    assert "The first 6 of 30 systems are drawn" in drawn["per_query"].caption
    for name in ("lorenz", "per_query", "sequence"):
        drawn[name].draw()
