"""A target that the candidates do not allow is said, not only counted."""

from rerankers.stages.run_account import warnings_about_targets_missed


def test_what_was_not_reached_is_said_with_its_number() -> None:
    counts = {"targets_reached": 7, "targets_projected": 1234, "rows_without_target": 0}
    assert warnings_about_targets_missed("kl_tilt", counts) == [
        "kl_tilt: targets out of the candidates' reach, whose shares are the nearest attainable ones: 1,234"
    ]


def test_nothing_is_said_where_all_was_reached() -> None:
    assert warnings_about_targets_missed("kl_tilt", {"targets_reached": 7, "targets_projected": 0}) == []
    assert warnings_about_targets_missed("plackett_luce", {}) == []
