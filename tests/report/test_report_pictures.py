"""Pictures: what is drawn is what the CSV says; the style does not depend on the user's settings."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from report_worlds import group_table

from rerankers._base.errors import ConfigError
from rerankers.report import Picture, ReportData, disparity_relevance, group_exposure, utility_loss
from rerankers.report.fonts import families
from rerankers.report.placing import place

Build = Callable[..., ReportData]


def rows_of(picture: Picture) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(picture.csv())))


def needed(picture: Picture | None) -> Picture:
    assert picture is not None
    return picture


def test_the_plane_draws_the_rows_of_its_csv(report: Build) -> None:
    data = report()
    picture = needed(disparity_relevance(data))
    figure = picture.draw()
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["Documents", "Groups: economy"]
    rows = rows_of(picture)
    for axes in figure.axes:
        mine = [row for row in rows if row["panel"] == axes.get_title(loc="left")]
        points = {(float(row["x"]), float(row["y"])) for row in mine if row["kind"] == "point"}
        drawn = {
            (float(x), float(y)) for line in axes.lines if line.get_marker() != "None" for x, y in line.get_xydata()
        }
        assert drawn == points
        spans = {(float(row["x_low"]), float(row["x_high"])) for row in mine if row["x_low"]}
        bars = {tuple(map(float, line.get_xdata())) for line in axes.lines if line.get_marker() == "None"}
        assert spans <= bars
    for row in rows:
        if row["kind"] == "point" and row["panel"] == "Documents":
            assert float(row["x"]) == data.means[row["name"]]["EED"]
            assert [float(row["y_low"]), float(row["y_high"])] == data.intervals[row["name"]]["EER"]


def test_lines_of_equal_loss_obey_the_identity(report: Build) -> None:
    data = report()
    target = data.means["plackett_luce"]["EET"]
    lines = [row for row in rows_of(needed(disparity_relevance(data))) if row["kind"] != "point"]
    assert lines
    for row in lines:
        loss = float(row["x"]) - 2 * float(row["y"]) + target
        assert math.isclose(loss, float(row["name"].removeprefix("EEL = ")), abs_tol=1e-9)


def test_no_lines_of_equal_loss_where_systems_saw_other_queries(report: Build) -> None:
    data = report()
    means = {system: dict(values) for system, values in data.means.items()}
    means["anchor:random"]["EET"] += 0.1
    picture = needed(disparity_relevance(report(means=means)))
    assert {row["kind"] for row in rows_of(picture)} == {"point"}
    assert "Grey lines" not in picture.caption


def test_systems_without_a_value_are_named_not_drawn(report: Build) -> None:
    lost = {("anchor:random", "utility", query): "no reason" for query in ("q1", "q2", "q3")}
    picture = needed(utility_loss(report(missing=lost)))
    assert "for want of a value: anchor:random" in picture.caption
    assert "anchor:random" not in {row["name"] for row in rows_of(picture)}


def test_utility_and_loss_of_the_tracks(report: Build) -> None:
    year_2019 = needed(utility_loss(report(keys=("utility", "unfairness"))))
    assert "unfairness" in year_2019.alt
    year_2021 = needed(utility_loss(report(keys=("nDCG", "AWRF", "score", "EEL"))))
    assert {row["panel"] for row in rows_of(year_2021)} == {"Groups"}
    assert utility_loss(report(keys=("EEL",))) is None
    assert disparity_relevance(report(keys=("utility", "EED"))) is None


def test_several_attributes_give_several_panels(report: Build) -> None:
    keys = ("utility", "EEL", "EEL(group='economy')", 'EEL(group="l\'âge")')
    picture = needed(utility_loss(report(keys=keys)))
    assert list(dict.fromkeys(row["panel"] for row in rows_of(picture))) == [
        "Documents",
        "Groups: economy",
        "Groups: l'âge",
    ]


def test_group_pictures_draw_the_rows_of_their_csv(report: Build) -> None:
    (picture,) = group_exposure(report())
    rows = rows_of(picture)
    figure = picture.draw()
    assert len(figure.axes) == 4
    assert figure.axes[3].get_title(loc="left") == "ideal"
    assert {axes.get_title(loc="left") for axes in figure.axes} >= {"plackett_luce", "plackett_luce (anchor)"}
    for axes, system in zip(figure.axes, dict.fromkeys(row["system"] for row in rows), strict=True):
        mine = [row for row in rows if row["system"] == system]
        dots = sorted(float(x) for line in axes.lines if line.get_marker() == "o" for x in line.get_xdata())
        bars = sorted(float(x) for line in axes.lines if line.get_marker() == "|" for x in line.get_xdata())
        assert dots == sorted(float(row["exposure"]) for row in mine)
        assert bars == sorted(float(row["target"]) for row in mine)
        segments = sorted(tuple(map(tuple, piece)) for part in axes.collections for piece in part.get_segments())
        assert [(start[0], end[0]) for start, end in segments] == [
            (float(row["target"]), float(row["exposure"])) for row in sorted(mine, key=lambda row: float(row["target"]))
        ]


def test_missing_group_values_are_counted_and_left_out(report: Build) -> None:
    shares = [("plackett_luce", "economy", "A", 0.5, None), ("plackett_luce", "economy", "B", None, 0.4)]
    (picture,) = group_exposure(report(group_exposure=group_table(shares)))
    assert "2 values are missing" in picture.caption
    assert [(row["exposure"], row["target"]) for row in rows_of(picture)] == [("0.5", ""), ("", "0.4")]
    assert picture.draw().axes


def test_only_the_largest_groups_are_drawn_and_said_so(report: Build) -> None:
    shares = [("plackett_luce", "country", f"g{n}", n / 100, 0.01) for n in range(40)]
    (picture,) = group_exposure(report(group_exposure=group_table(shares)))
    assert "16 largest of 40 groups" in picture.caption
    assert [row["group"] for row in rows_of(picture)] == [f"g{n}" for n in range(24, 40)]


def test_no_groups_no_pictures(report: Build) -> None:
    assert group_exposure(report(groups={})) == []


def test_user_settings_neither_change_the_picture_nor_are_changed(tmp_path: Path, report: Build) -> None:
    import matplotlib

    picture = needed(utility_loss(report()))
    picture.write(tmp_path / "a.png")
    with matplotlib.rc_context({"font.size": 30, "text.usetex": True, "axes.grid": True, "savefig.dpi": 30}):
        picture.write(tmp_path / "b.png")
        assert matplotlib.rcParams["font.size"] == 30
        assert matplotlib.rcParams["text.usetex"] is True
    assert (tmp_path / "a.png").read_bytes() == (tmp_path / "b.png").read_bytes()


@pytest.mark.parametrize("kind", ["pdf", "svg"])
def test_vector_files_are_equal_too(tmp_path: Path, report: Build, kind: str) -> None:
    picture = needed(utility_loss(report()))
    for name in "ab":
        picture.write(tmp_path / f"{name}.{kind}")
    assert (tmp_path / f"a.{kind}").read_bytes() == (tmp_path / f"b.{kind}").read_bytes()


def test_an_unknown_format_is_a_config_error(tmp_path: Path, report: Build) -> None:
    with pytest.raises(ConfigError, match="png"):
        needed(utility_loss(report())).write(tmp_path / "a.pgn")


def test_letters_of_any_script_are_drawn_without_a_warning(report: Build) -> None:
    names = ("名前 👩‍🔬 " + "é" * 60, "العربية", "a\nb\tc\x00", "$\\frac{1}{0}$", "")
    (picture,) = group_exposure(report(systems=("メソッド", "anchor:random"), groups={"国": names}))
    texts = [text.get_text() for text in picture.draw().axes[0].texts]
    assert texts[0].startswith("名前")
    assert texts[0].endswith("…")
    assert "$\\frac{1}{0}$" in texts


def test_a_font_is_looked_up_only_for_letters_that_the_first_lacks() -> None:
    assert families("économie Развивающиеся") == ["DejaVu Sans"]
    assert families("x 名")[0] == "DejaVu Sans"
    assert not any("Last Resort" in name for name in families("x 名"))


def overlap(a: np.ndarray, b: np.ndarray) -> float:
    width, height = min(a[2], b[2]) - max(a[0], b[0]), min(a[3], b[3]) - max(a[1], b[1])
    return max(width, 0.0) * max(height, 0.0)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(st.floats(20, 280), st.floats(20, 180)), min_size=1, max_size=8))
def test_labels_do_not_overlap(points: list[tuple[float, float]]) -> None:
    sizes = [(40.0, 9.0)] * len(points)
    placed = place(points, sizes, (0, 0, 300, 200))
    boxes = [
        np.array([x + dx - w / 2, y + dy - h / 2, x + dx + w / 2, y + dy + h / 2])
        for (x, y), (w, h), (dx, dy, _) in zip(points, sizes, placed, strict=True)
    ]
    for i, box in enumerate(boxes):
        assert sum(overlap(box, other) for other in boxes[:i]) < 1.0
        assert overlap(box, np.array([0, 0, 300, 200])) == pytest.approx(360.0)
        assert sum(overlap(box, np.array([x - 4, y - 4, x + 4, y + 4])) for x, y in points) < 20.0


def test_equal_points_get_labels_apart_and_a_lone_one_stays_close() -> None:
    placed = place([(100.0, 100.0)] * 4, [(50.0, 9.0)] * 4, (0, 0, 300, 200))
    assert len({(float(x), float(y)) for x, y, _ in placed}) == 4
    assert place([(100.0, 100.0)], [(50.0, 9.0)], (0, 0, 300, 200)).tolist() == [[33.0, 0.0, 8.0]]
