"""The spread over seeds is told of the measures whose mean over seeds is."""

import pytest

from rerankers.stages.compare_seeds import beside, spread


def test_a_p_value_and_a_ratio_have_neither_mean_nor_spread_over_seeds() -> None:
    first = {"EEL": 1.0, "group_EEL_excess_p": 0.2, "group_EEL_systematic": 0.1, "group_EEL_systematic_share": 0.3}
    second = {"EEL": 2.0, "group_EEL_excess_p": 0.6, "group_EEL_systematic": 0.3, "group_EEL_systematic_share": 0.5}
    means = beside([first, second], {"EEL": 1.5})
    assert means["group_EEL_excess_p"] is None
    assert means["group_EEL_systematic_share"] is None
    assert spread([first, second]) == pytest.approx({"EEL": 0.5**0.5, "group_EEL_systematic": 0.2 * 0.5**0.5})
