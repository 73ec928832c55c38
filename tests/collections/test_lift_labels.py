"""Lifting labels to documents, against a twin that goes document by document."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rerankers._base.errors import ConfigError
from rerankers.collections import lift
from rerankers.values import GroupAlignment, Labels

GROUPS = ("high", "low", "middle")
ORDER = ["low", "middle", "high"]
POLICIES = ("own_group", "full", "split", "drop", "up", "down")

documents = st.lists(st.lists(st.integers(-1, 2), max_size=5), max_size=8)


def labels_of(entries: list[list[int]], weights: list[float] | None = None, level: str = "author") -> Labels:
    indptr = np.concatenate([[0], np.cumsum([len(row) for row in entries])]).astype(np.int64)
    flat = np.array([code for row in entries for code in row], np.int32)
    weight = None if weights is None else np.array(weights, float)
    return Labels("size", GROUPS, "author" if level == "author" else "document", indptr, flat, weight)


def as_dicts(alignment: GroupAlignment) -> list[dict[str, float]]:
    out = []
    for doc in range(alignment.n_docs):
        span = slice(alignment.indptr[doc], alignment.indptr[doc + 1])
        names = [alignment.groups[code] for code in alignment.group[span]]
        assert len(set(names)) == len(names)
        found = dict(zip(names, alignment.weight[span].tolist(), strict=True))
        out.append(found | ({"?": float(alignment.unknown[doc])} if alignment.unknown[doc] else {}))
    return out


def twin(row: list[int], mixed: str) -> dict[str, float]:
    known = sorted({GROUPS[code] for code in row if code >= 0}, key=ORDER.index)
    if not known or (len(known) > 1 and mixed == "drop"):
        return {"?": 1.0}
    if len(known) == 1:
        return {known[0]: 1.0}
    return {
        "own_group": {"mixed": 1.0},
        "full": dict.fromkeys(known, 1.0),
        "split": dict.fromkeys(known, 1.0 / len(known)),
        "up": {known[-1]: 1.0},
        "down": {known[0]: 1.0},
    }[mixed]


@given(documents, st.sampled_from(POLICIES))
def test_policies_match_the_twin(entries: list[list[int]], mixed: str) -> None:
    alignment, counts = lift(labels_of(entries), mixed, ORDER)
    assert as_dicts(alignment) == [twin(row, mixed) for row in entries]
    assert alignment.kind == ("share" if mixed == "split" else "membership")
    assert not alignment.resolved
    several = [len({code for code in row if code >= 0}) for row in entries]
    expected = {
        "documents_without_group": sum(n == 0 or (n > 1 and mixed == "drop") for n in several),
        "documents_mixed": sum(n > 1 for n in several),
        "documents_without_authors": sum(not row for row in entries),
        "unknown_labels_beside_known": sum(row.count(-1) for row, n in zip(entries, several, strict=True) if n),
    }
    assert counts == {name: count for name, count in expected.items() if count}


@given(documents, st.data())
def test_weights_become_shares_with_their_unknown_part(entries: list[list[int]], data: st.DataObject) -> None:
    entries = [sorted(set(row)) for row in entries]
    number = sum(len(row) for row in entries)
    weights = data.draw(st.lists(st.sampled_from([0.0, 0.5, 1.0, 3.0]), min_size=number, max_size=number))
    alignment, counts = lift(labels_of(entries, weights, "document"), "own_group")
    assert alignment.kind == "share"
    rest = iter(weights)
    without = 0
    for row, found in zip(entries, as_dicts(alignment), strict=True):
        mine = [(code, next(rest)) for code in row]
        total = sum(weight for _, weight in mine)
        without += total == 0 and len(row) > 0
        expected = {GROUPS[code] if code >= 0 else "?": weight / total for code, weight in mine if weight}
        assert found == pytest.approx(expected or {"?": 1.0})
        assert sum(found.values()) == pytest.approx(1.0)
    assert counts.get("documents_without_weight", 0) == without


def test_the_mixed_group_is_there_only_when_a_document_is_mixed() -> None:
    assert lift(labels_of([[0], [1, 1], [-1]]))[0].groups == GROUPS
    assert lift(labels_of([[0, 1]]))[0].groups == (*GROUPS, "mixed")


def test_a_label_that_says_mixed_joins_the_mixed_group() -> None:
    labels = Labels("level", ("A", "B", "mixed"), "document", np.array([0, 1, 3]), np.array([2, 0, 1], np.int32))
    alignment, _ = lift(labels)
    assert alignment.groups == ("A", "B", "mixed")
    assert alignment.group.tolist() == [2, 2]


def test_documents_without_any_label_file_are_unknown() -> None:
    labels = Labels("level", (), "document", np.zeros(4, np.int64), np.empty(0, np.int32))
    alignment, counts = lift(labels)
    assert alignment.unknown.tolist() == [1, 1, 1]
    assert counts == {"documents_without_group": 3}


@pytest.mark.parametrize("mixed", ["up", "down"])
def test_up_and_down_need_an_order_of_exactly_the_groups(mixed: str) -> None:
    with pytest.raises(ConfigError, match=r"groups\.order=\[high, low, middle\]"):
        lift(labels_of([[0, 1]]), mixed)
    for wrong in (["low", "high"], [*ORDER, "more"], ["low", "low", "high"]):
        with pytest.raises(ConfigError, match=r"groups\.order"):
            lift(labels_of([[0, 1]]), mixed, wrong)


def test_other_policies_are_refused() -> None:
    with pytest.raises(ConfigError, match="own_group"):
        lift(labels_of([[0]]), "own-group")
