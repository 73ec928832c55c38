"""The configs of the presets of 2021 and 2022 are the presets."""

from __future__ import annotations

import pytest
import yaml

from rerankers._conf import build, conf_folder
from rerankers.tracks.preset import preset

NAMES = [
    f"trec{year}_task{task}_{form}" for year in (2021, 2022) for task in (1, 2) for form in ("official", "corrected")
]


def node(name):
    """Return the options of a config over those of the config it names as its default."""
    found = yaml.safe_load((conf_folder() / "preset" / f"{name}.yaml").read_text(encoding="utf-8"))
    below = {}
    for default in found.pop("defaults", []):
        if default != "_self_":
            below |= node(default)
    return below | found


@pytest.mark.parametrize("name", NAMES)
def test_a_config_builds_the_preset(name):
    assert build(node(name)) == preset(name)
    assert preset(name).name == name
