"""Keys, numbers, names, the tables of results and of queries, the terminal."""

from __future__ import annotations

import io
import re
import unicodedata
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from report_worlds import measure_table
from rich.console import Console

from rerankers.report import ReportData, terminal_table
from rerankers.report.keys import in_order, parse
from rerankers.report.per_query import query_table
from rerankers.report.tables import gaps, result_tables
from rerankers.report.text import cells, clean, interval, number, wrap

Build = Callable[..., ReportData]


@pytest.mark.parametrize(
    ("text", "base", "cutoff", "attribute", "part", "better"),
    [
        ("EEL", "EEL", "", None, "", "lower"),
        ("nDCG@10", "nDCG", "@10", None, "", "higher"),
        ("group_EEL", "EEL", "", "", "", "lower"),
        ("group_EEL_placebo", "EEL", "", "", "placebo", ""),
        ("group_EEL_excess", "EEL", "", "", "excess", "lower"),
        ("EEL(group='economy')", "EEL", "", "economy", "", "lower"),
        ("EEL(group='it's_excess')@100_systematic", "EEL", "@100", "it's_excess", "systematic", ""),
        ('EED(group="l\'âge")', "EED", "", "l'âge", "", ""),
        (r"EEL(group='it\'s')", "EEL", "", "it's", "", "lower"),
        ("RBP(p=0.8)", "RBP(p=0.8)", "", None, "", ""),
        ("", "", "", None, "", ""),
    ],
)
def test_keys_are_taken_apart(text: str, base: str, cutoff: str, attribute: str | None, part: str, better: str) -> None:
    key = parse(text)
    assert (key.base, key.cutoff, key.attribute, key.part, key.better) == (base, cutoff, attribute, part, better)
    assert key.words


def test_keys_are_read_utility_first_and_constants_last() -> None:
    given_keys = ["EET", "EEL_excess", "P@5", "EEL", "AP", "nDCG@10", "utility"]
    assert [key.text for key in in_order(given_keys)] == [
        "utility", "nDCG@10", "P@5", "AP", "EEL", "EEL_excess", "EET",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "–"), (0.0, "0.0000"), (-0.0, "0.0000"), (3e-17, "0.0000"), (0.12345, "0.1235"), (-2.5, "-2.5000"),
        (1.5e-6, "1.50e-06"), (1234567.0, "1.23e+06"),
    ],
)  # fmt: skip
def test_numbers(value: float | None, text: str) -> None:
    assert number(value) == text


def test_intervals() -> None:
    assert interval(None) == ""
    assert interval((0.12345, 1.5)) == "[0.123, 1.500]"
    assert interval((-0.0123, 0.0456)) == "[-0.0123, 0.0456]"


@given(st.text(), st.integers(2, 20), st.integers(1, 3))
def test_wrapped_names_fit_and_lose_nothing_without_an_ellipsis(name: str, width: int, lines: int) -> None:
    wrapped = wrap(name, width, lines)
    assert all(cells(line) <= width for line in wrapped.split("\n"))
    assert len(wrapped.split("\n")) <= lines
    if not wrapped.endswith("…"):
        squeezed = "".join(wrapped.split())
        assert squeezed == "".join(clean(name).split())


@given(st.text())
def test_clean_names_are_one_harmless_line(name: str) -> None:
    cleaned = clean(name)
    assert len(cleaned.splitlines()) <= 1
    assert not any(unicodedata.category(letter) in ("Cc", "Cs") for letter in cleaned)


def test_result_tables_show_every_mean(report: Build) -> None:
    data = report()
    tables, notes = result_tables(data)
    titles = ["Utility and exposure of documents", "Exposure of groups: economy", "What the groups explain: economy"]
    assert [table.title for table in tables] == titles
    assert [key.text for key in tables[2].columns] == ["utility", "group_EEL", "group_EEL_excess"]
    assert notes == []
    shown = {
        (system, key.text): (cell.value, cell.interval)
        for table in tables
        for system, cells_ in table.rows
        for key, cell in zip(table.columns, cells_, strict=True)
    }
    assert set(shown) == {(system, key) for system in data.systems for key in data.keys}
    for (system, key), (value, span) in shown.items():
        assert value == f"{data.means[system][key]:.4f}"
        low, high = data.intervals[system][key]
        assert [float(end) for end in span.strip("[]").split(", ")] == pytest.approx([low, high], abs=6e-4)


def test_systems_are_methods_then_anchors_up_to_the_ideal(report: Build) -> None:
    assert report().systems == ["plackett_luce", "anchor:random", "anchor:plackett_luce", "anchor:ideal"]


def test_classic_measures_have_a_table_of_their_own_and_stay_off_the_terminal(report: Build) -> None:
    data = report(keys=("utility", "EEL", "nDCG@10", "AP", "P@10"), groups={})
    tables, _ = result_tables(data)
    assert [[key.text for key in table.columns] for table in tables] == [["utility", "nDCG@10", "EEL"], ["AP", "P@10"]]
    assert printed(data).splitlines()[0].split() == ["system", "utility", "nDCG@10", "EEL"]
    assert "AP" in printed(report(keys=("AP",), groups={}))


def test_a_value_that_is_no_number_counts_as_missing(report: Build) -> None:
    rows = [("plackett_luce", seed, "q1", "EEL", float("nan"), "") for seed in (0, 1)]
    data = report(measures=measure_table(rows), means={"plackett_luce": {"EEL": float("nan")}}, intervals={})
    (gap,) = gaps(data)
    assert (gap.reason, gap.missing, gap.units) == ("no reason given", 1, 1)
    assert result_tables(data)[0][0].rows[0][1][0].value == "–"


def test_queries_with_the_largest_loss_come_first(report: Build) -> None:
    losses = {"a": 0.25, "b": 0.75, "c": None, "d": 0.5, "e": 0.5}
    rows = [("m", 0, query, "EEL", loss, None if loss else "no_judgments") for query, loss in losses.items()]
    rows += [("m", 0, query, "utility", 1.0, None) for query in losses if query != "d"]
    rows += [("m", 1, "a", "EEL", 0.5, None), ("other", 0, "z", "EEL", 9.0, None)]
    data = report(measures=measure_table(rows), means={"m": {"EEL": 0.5, "utility": 1.0}}, intervals={})
    table = query_table(data, "m", shown=3)
    assert table is not None
    assert table.total == 5
    assert [query for query, _ in table.rows] == ["b", "d", "e"]
    assert [key.text for key in table.columns] == ["utility", "EEL"]
    assert table.rows[1][1][0].reason == "not computed"
    everything = query_table(data, "m")
    assert everything is not None
    assert [query for query, _ in everything.rows] == ["b", "d", "e", "a", "c"]
    assert everything.rows[3][1][1].value == "0.3750"  # the mean of two seeds
    assert everything.rows[4][1][1].reason == "no judgments"
    assert query_table(data, "absent") is None


def test_dictionary_columns_give_the_same_tables(report: Build) -> None:
    data = report(missing={("plackett_luce", "EEL", "q1"): "lost"})
    encoded = data.measures
    for index, name in enumerate(encoded.column_names):
        if name in ("system", "unit", "measure", "reason"):
            encoded = encoded.set_column(index, name, encoded[name].dictionary_encode())
    other = report(missing={("plackett_luce", "EEL", "q1"): "lost"}, measures=encoded)
    assert result_tables(other) == result_tables(data)
    assert query_table(other, "plackett_luce") == query_table(data, "plackett_luce")


def test_a_table_without_a_column_is_refused(report: Build) -> None:
    with pytest.raises(ValueError, match="measures: found the columns system"):
        report(measures=report().measures.select(["system"]))


def printed(data: ReportData, width: int = 80, **options: object) -> str:
    stream = io.StringIO()
    terminal_table(data, Console(file=stream, width=width, **options))
    return stream.getvalue()


@pytest.mark.parametrize("width", [20, 60, 80, 120, 300])
def test_the_terminal_table_fits_and_cuts_no_number(report: Build, width: int) -> None:
    data = report()
    text = printed(data, width)
    assert "\x1b" not in text
    assert all(len(line) <= max(width, 33) for line in text.splitlines())
    for system in data.systems:
        lines = [line for line in text.splitlines() if line.split(" ")[0] == system]
        numbers = [word for line in lines for word in line.split()[1:]]
        for key in ("utility", "EEL", "EED", "EER", "group_EEL", "group_EEL_excess"):
            assert f"{data.means[system][key]:.4f}" in numbers
        if width >= 60:  # no chunk without utility
            assert all(line.split()[1] == f"{data.means[system]['utility']:.4f}" for line in lines)


def test_the_terminal_table_says_what_is_missing(report: Build) -> None:
    lost = {("plackett_luce", "EEL", query): "no relevant document" for query in ("q1", "q2", "q3")}
    text = printed(report(missing=lost))
    assert "-: no relevant document (EEL: 3 of 3 queries, plackett_luce)" in text
    assert re.search(r"plackett_luce +\d\.\d+ +- +", text)


def test_colours_only_on_a_terminal_and_no_orders_from_names(report: Build) -> None:
    evil = "[red]\x1b[31mx[/red]:smile:" + "名" * 40
    text = printed(report(systems=(evil, "anchor:random")))
    assert "\x1b" not in text
    assert "[red]" in text
    assert ":smile:" in text
    assert "\x1b[1m" in printed(report(), force_terminal=True, color_system="standard")


def test_a_log_in_ascii_gets_escapes(report: Build) -> None:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding="ascii")
    terminal_table(report(systems=("méthode",)), Console(file=stream, width=80))
    stream.flush()
    assert b"m\\xe9thode" in raw.getvalue()


def test_the_terminal_table_of_nothing(report: Build) -> None:
    assert printed(report(systems=())) == ""
