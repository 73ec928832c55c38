"""Groups that no document of a query belongs to say nothing about it."""

import numpy as np
import pytest

from rerankers.measures import evaluate, prefix_parity

RANKING = ["a", "b", "c", "d"]
LABELS = {"a": "A", "b": "A", "c": "B", "d": "B"}


@pytest.mark.parametrize("form", ["rND", "rKL", "rRD"])
@pytest.mark.parametrize("elsewhere", [{}, {"z": "C"}, {"z": None}, {"z": "C", "y": "D"}])
def test_groups_of_other_documents_leave_a_query_alone(form: str, elsewhere: dict[str, str | None]) -> None:
    rows = evaluate({"q": [RANKING]}, {"q": {"a": 1}}, {**LABELS, **elsewhere}, measures=f"{form}(step=2)").to_pylist()
    assert rows[0]["value"] == pytest.approx(prefix_parity(["A", "A", "B", "B"], form=form, step=2), abs=1e-15)
    assert rows[0]["value"] == pytest.approx(1.0, abs=1e-15)


@pytest.mark.parametrize("form", ["rND", "rKL", "rRD"])
def test_columns_without_a_document_do_not_count(form: str) -> None:
    weight = np.array([[1, 0, 0], [1, 0, 0], [0, 1, 0], [0, 1, 0]])
    assert prefix_parity(weight, form=form, step=2) == pytest.approx(1.0, abs=1e-15)
    assert prefix_parity(np.zeros((4, 2)), form=form, step=2) == 0.0


@pytest.mark.parametrize("form", ["rND", "rKL", "rRD"])
def test_rankings_that_end_before_the_first_prefix_say_so(form: str) -> None:
    short = evaluate({"q": [RANKING]}, {"q": {"a": 1}}, LABELS, measures=form).to_pylist()
    assert [(row["value"], row["reason"]) for row in short] == [(None, "fewer_ranks_than_step")]
    empty = evaluate({"q": [[]]}, {"q": {"a": 1}}, LABELS, measures=form).to_pylist()
    assert empty[0]["reason"] == "no_ranked_document"
