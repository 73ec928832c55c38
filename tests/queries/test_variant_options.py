"""Options of the analysis of variants, and published sets of variants whose numbers are known."""

from __future__ import annotations

import csv
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rerankers._base.errors import ConfigError
from rerankers.queries.sets import VariantSet
from rerankers.queries.variant_analysis import AnalysisOptions, analyse


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ({"depths": ()}, "depths: found \\(\\); expected a list of at least one int"),
        ({"depths": (0,)}, "depths: found 0; expected a whole number of at least 1"),
        ({"depths": "10"}, "depths: found '10'"),
        ({"stages": ("stemming",)}, "stages: found 'stemming'"),
        ({"rbo_p": 1}, "rbo_p: found 1; expected a number strictly between 0 and 1"),
        ({"rbp_p": None}, "rbp_p: found None"),
        ({"rbo_ties": "x"}, "rbo_ties: found 'x'"),
        ({"gain": "x"}, "gain: found 'x'"),
        ({"interval": "x"}, "interval: found 'x'"),
        ({"max_grade": 0}, "max_grade: found 0; expected a number above 0"),
        ({"resamples": True}, "resamples: found True"),
        ({"confidence": 1.0}, "confidence: found 1.0"),
    ],
)
def test_options_out_of_range(option: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        AnalysisOptions(**option)


def test_options_are_put_in_order() -> None:
    options = AnalysisOptions(depths=[100, 10, 10], stages=["bag", "punct", "bag"])  # type: ignore[arg-type]
    assert (options.depths, options.stages) == ((10, 100), ("bag", "punct"))


@pytest.mark.shared_data
def test_published_variants(shared: Path) -> None:
    folder = shared / "data/query-variants"
    human = defaultdict(list)
    for line in (folder / "ClueWeb12B_queriesUQV.txt").read_text(encoding="utf-8").splitlines():
        name, _, text = line.partition(":")
        human[name.split("-")[0]].append(text)
    sets = [VariantSet("human", {topic: tuple(texts) for topic, texts in human.items()})]
    for heat in ("0.0", "0.5", "1.0"):
        texts = defaultdict(list)
        with (folder / f"UQV100_GPT_variants_temp_{heat}_one_shot.csv").open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                texts[str(200 + int(row["UQV100Id"].split(".")[1]))].append(row["query"].strip())
        sets.append(VariantSet(heat, {topic: tuple(one) for topic, one in texts.items()}))
    options = AnalysisOptions(stages=("case+space", "bag"), resamples=50, permutations=99)
    found = analyse(sets, "human", options=options)
    per_topic = [found["sets"][one.name]["distinct_per_topic"] for one in sets]
    assert per_topic == pytest.approx([46.37, 37.02, 30.31, 27.55], abs=1e-9)

    def means(measure: str, stage: str = "case+space", role: str = "value") -> list[float]:
        rows = [row for row in found["measures"] if row["measure"] == measure and row["stage"] == stage]
        return [row["mean"] for row in rows if row["role"] == role]

    assert means("string_coverage_of_human") == pytest.approx([0.090, 0.0915, 0.0734], abs=1e-3)
    assert means("string_coverage_of_generated") == pytest.approx([0.120, 0.128, 0.106], abs=1e-3)
    # between T = 0 and .5, 0 and 1, .5 and 1
    assert means("string_jaccard", role="between") == pytest.approx([0.239, 0.128, 0.123], abs=1e-3)
    for measure in ("string_jaccard", "string_coverage_of_human", "string_coverage_of_generated"):
        exact, relaxed = means(measure), means(measure, "bag")
        assert exact[1] > exact[0] > exact[2]  # T = .5, 0, 1
        assert relaxed[1] > relaxed[0] > relaxed[2]
        assert np.all(np.array(relaxed) > np.array(exact))


def test_intervals_of_few_topics_stay_within_what_a_measure_can_be() -> None:
    """Three topics that share all, nothing and half: Student's interval alone would reach below 0 and beyond 1."""
    human = VariantSet("human", {"1": ("a", "b"), "2": ("c", "d"), "3": ("e", "f")})
    made = VariantSet("made", {"1": ("a", "b"), "2": ("x", "y"), "3": ("e",)})
    rows = [row for row in analyse([human, made], "human")["measures"] if row["measure"] == "string_jaccard"]
    (exact,) = (row for row in rows if row["stage"] == "case+space" and row["role"] == "value")
    assert exact["mean"] == 0.5
    assert (exact["low"], exact["high"]) == (0.0, 1.0)
