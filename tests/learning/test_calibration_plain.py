"""Calibrators and options that nobody wrote: refused, with what is wrong."""

from __future__ import annotations

import pytest

from rerankers._base.errors import ConfigError, InputError
from rerankers.learning.calibration import Beta, Isotonic, IsotonicCalibrator, calibrator_from_plain


def test_plain_forms_that_nobody_wrote() -> None:
    good = {"kind": "platt", "slope": 1.0, "intercept": 0.0, "location": 0.0, "scale": 1.0}
    blocks = {"kind": "isotonic", "interpolation": "linear", "low": [0.0, 2.0], "high": [1.0, 3.0], "value": [0.2, 0.4]}
    assert isinstance(calibrator_from_plain(blocks), IsotonicCalibrator)
    for bad, message in (
        ("text", "a mapping with kind"),
        ({**good, "kind": "plat"}, "found kind 'plat'; expected one of isotonic"),
        ({**good, "slope": -1.0}, "a map that does not fall"),
        ({**good, "slope": float("nan")}, "slope nan; expected a finite number"),
        ({**good, "slope": True}, "finite number"),
        ({**good, "more": 1}, "keys intercept, kind"),
        ({"kind": "beta", "inputs": "log_odds", "a": -1, "b": 0, "c": 0}, "negative a or b"),
        ({"kind": "beta", "inputs": "odds", "a": 1, "b": 0, "c": 0}, "inputs 'odds'"),
        ({**blocks, "value": [0.4, 0.2]}, "do not fall"),
        ({**blocks, "value": [0.0, 0.2]}, "strictly between 0 and 1"),
        ({**blocks, "value": [0.2]}, "blocks of lengths"),
        ({**blocks, "low": 3}, "a list of numbers"),
        ({**blocks, "high": [2.5, 3.0]}, "overlap"),
        ({"kind": "per_query", "inner": {}}, "calibration.yaml inner"),
    ):
        with pytest.raises(InputError, match=message):
            calibrator_from_plain(bad, "calibration.yaml")  # type: ignore[arg-type]


def test_options() -> None:
    with pytest.raises(ConfigError, match=r"calibration.interpolation.*Did you mean 'linear'"):
        Isotonic("linaer")
    with pytest.raises(ConfigError, match=r"calibration\.inputs"):
        Beta("odds")
    with pytest.raises(ConfigError, match=r"calibration\.inputs"):
        Beta("probability", per_query=True)
