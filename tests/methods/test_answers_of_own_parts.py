"""What methods and measures of the user's own may not answer: other documents, and values that are no numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from rerankers._base.errors import ConfigError
from rerankers.measures import evaluate
from rerankers.methods import rerank_one
from rerankers.policies import PlackettLuce
from rerankers.values import Candidates


class Moved:
    """A policy over the documents that a function makes of those of the block."""

    tier = "blind"

    def __init__(self, move: Any) -> None:
        self.move = move

    def policy(self, block: Any) -> PlackettLuce:
        rows = block.candidates
        return PlackettLuce(Candidates(rows.query, rows.indptr, self.move(rows.doc), {}), rows.score, block.stream)


@pytest.mark.parametrize("move", [lambda doc: np.full_like(doc, doc[0]), lambda doc: doc + 1])
def test_a_policy_over_other_documents_is_refused(move: Any) -> None:
    with pytest.raises(ConfigError, match="other documents than the candidates"):
        rerank_one(Moved(move), [3.0, 2.0, 1.0])


def test_a_policy_may_order_its_documents_otherwise() -> None:
    policy = rerank_one(Moved(lambda doc: doc[::-1].copy()), [3.0, 2.0, 1.0])
    assert policy.over.doc.tolist() == [2, 1, 0]


class Given:
    """Always the same value."""

    name = "given"

    def __init__(self, value: Any) -> None:
        self.value = value

    def of_ranking(self, seen: Any) -> Any:
        return self.value


@pytest.mark.parametrize("value", [10**400, np.array(None), np.array("x"), np.array(1j)])
def test_what_is_no_number_is_named_with_its_query(value: Any) -> None:
    with pytest.raises(ConfigError, match="measure given: query '1'"):
        evaluate({"1": [["a", "b"]]}, {"1": {"a": 1}}, measures=[Given(value)])
