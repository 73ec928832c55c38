"""The table of tracks."""

from __future__ import annotations

import pytest

from rerankers._base.errors import ConfigError
from rerankers.tracks.track import TRACKS, track_of


def test_the_tracks_are_those_of_the_guidelines() -> None:
    asked = {name: (track.form, track.rankings, track.depth, track.complete) for name, track in TRACKS.items()}
    assert asked == {
        "2019": ("jsonl", None, None, True),
        "2020-rerank": ("jsonl", 150, None, True),
        "2020-retrieval": ("jsonl", 150, 100, False),
        "2021-task1": ("tsv", 1, 1000, False),
        "2021-task2": ("tsv", 100, 50, False),
        "2022-task1": ("tsv", 1, 500, False),
        "2022-task2": ("tsv", 100, 20, False),
    }


@pytest.mark.parametrize("name", TRACKS)
def test_names_and_kinds_agree(name: str) -> None:
    track = track_of(name)
    assert track.name == name
    assert name.startswith(str(track.year))
    assert track.has_sequence == (track.year < 2021)
    assert track.has_repeats == (name in ("2021-task2", "2022-task2"))


def test_a_wrong_name_is_met_with_the_right_ones() -> None:
    with pytest.raises(ConfigError, match=r"Did you mean '2020-rerank'\?"):
        track_of("2020-rernk")
