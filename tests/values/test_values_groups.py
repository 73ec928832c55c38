"""Group alignments against dictionaries."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rerankers._base.errors import ConfigError
from rerankers.values import GroupAlignment, Ids

N_DOCS, GROUPS = 5, ("a", "b", "c")
Entries = dict[tuple[int, int], float]
WEIGHT = st.floats(0, 1)
ENTRIES = st.dictionaries(st.tuples(st.integers(0, N_DOCS - 1), st.integers(0, 2)), WEIGHT, max_size=8)


def alignment(entries: Entries, kind: str = "value") -> GroupAlignment:
    doc, group = (np.array([key[side] for key in entries], dtype=np.int64) for side in (0, 1))
    weight = np.array(list(entries.values()))
    return GroupAlignment.of_entries("economy", GROUPS, doc, group, weight, N_DOCS, kind)  # type: ignore[arg-type]


def twin(groups: GroupAlignment) -> Entries:
    return {
        (doc, int(groups.group[at])): float(groups.weight[at])
        for doc in range(groups.n_docs)
        for at in range(groups.indptr[doc], groups.indptr[doc + 1])
    }


@given(ENTRIES)
def test_of_entries(entries: Entries) -> None:
    groups = alignment(entries)
    assert twin(groups) == entries
    known = {doc for doc, _ in entries}
    assert groups.unknown.tolist() == [float(doc not in known) for doc in range(N_DOCS)]
    assert groups.group.tolist() == [group for _, group in sorted(entries)]


@pytest.mark.parametrize(("doc", "group"), [([5], [0]), ([-1], [0]), ([0], [3]), ([0], [-1])])
def test_of_entries_refuses_codes_out_of_range(doc: list[int], group: list[int]) -> None:
    with pytest.raises(ValueError, match="codes run from"):
        GroupAlignment.of_entries("x", GROUPS, np.array(doc), np.array(group), np.ones(1), N_DOCS)


@given(ENTRIES, st.lists(WEIGHT, min_size=N_DOCS, max_size=N_DOCS), st.sampled_from(["count", "drop", "spread"]))
def test_resolve(entries: Entries, unknown: list[float], policy: str) -> None:
    groups = alignment(entries)
    groups = GroupAlignment(
        groups.attribute, GROUPS, groups.kind, groups.indptr, groups.group, groups.weight, np.array(unknown)
    )
    resolved = groups.resolve(policy)
    assert resolved.groups == ((*GROUPS, "unknown") if policy == "count" else GROUPS)
    assert resolved.resolved
    assert not resolved.unknown.any()
    assert resolved.resolve(policy) is resolved
    dense = np.zeros((N_DOCS, len(resolved.groups)))
    for (doc, group), weight in entries.items():
        dense[doc, group] += weight
    for doc, part in enumerate(unknown):
        if policy == "count":
            dense[doc, 3] += part
        elif policy == "spread":
            dense[doc] += part / 3
    docs = np.arange(N_DOCS)
    assert np.allclose(resolved.totals(docs, docs, np.ones(N_DOCS), N_DOCS), dense, rtol=1e-12, atol=1e-300)


def test_resolve_counts_into_a_group_called_unknown() -> None:
    groups = GroupAlignment.of_entries("x", ("unknown",), np.array([0]), np.array([0]), np.ones(1), 2).resolve("count")
    assert groups.groups == ("unknown",)
    assert groups.group.tolist() == [0, 0]
    nothing = np.empty(0, np.int64)
    bare = GroupAlignment.of_entries("x", (), nothing, nothing, np.empty(0), 2)
    assert bare.resolve("spread").groups == ()
    assert bare.resolve("count").groups == ("unknown",)


def test_resolve_refuses_other_words() -> None:
    with pytest.raises(ConfigError, match="Did you mean 'spread'"):
        alignment({}).resolve("spred")


@given(ENTRIES, st.lists(st.integers(0, N_DOCS - 1), max_size=7))
def test_entries(entries: Entries, docs: list[int]) -> None:
    item, group, weight = alignment(entries).entries(np.array(docs, dtype=np.int64))
    expected = [(at, g, entries[d, g]) for at, d in enumerate(docs) for g in range(3) if (d, g) in entries]
    assert list(zip(item.tolist(), group.tolist(), weight.tolist(), strict=True)) == expected


@given(ENTRIES, st.lists(st.tuples(st.integers(0, 2), st.integers(0, N_DOCS - 1), st.floats(-9, 9)), max_size=9))
def test_totals(entries: Entries, cells: list[tuple[int, int, float]]) -> None:
    row, doc, value = (np.array([cell[side] for cell in cells]) for side in range(3))
    totals = alignment(entries).totals(row.astype(int), doc.astype(int), value.astype(float), 3)
    expected = np.zeros((3, 3))
    for r, d, x in cells:
        for g in range(3):
            expected[r, g] += x * entries.get((d, g), 0.0)
    assert totals.shape == (3, 3)
    assert totals.dtype == np.float64
    assert np.allclose(totals, expected, rtol=1e-12, atol=1e-12)


def test_totals_without_groups_or_rows() -> None:
    nothing = np.empty(0, np.int64)
    bare = GroupAlignment.of_entries("x", (), nothing, nothing, np.empty(0), 2)
    assert bare.totals(np.array([0]), np.array([1]), np.ones(1), 2).shape == (2, 0)
    assert alignment({}).totals(nothing, nothing, np.empty(0), 0).shape == (0, 3)


@given(ENTRIES, st.lists(st.sampled_from("abcdefgh"), unique=True))
def test_recode(entries: Entries, names: list[str]) -> None:
    old, new = Ids.of(list("abcde")), Ids.of(names)
    groups = alignment(entries).recode(old, new)
    known = {doc for doc, _ in entries}
    assert twin(groups) == {
        (names.index("abcde"[doc]), group): weight for (doc, group), weight in entries.items() if "abcde"[doc] in names
    }
    expected = [float("abcde".find(name) not in known) for name in names]
    assert groups.unknown.tolist() == expected


def test_recode_of_resolved_groups() -> None:
    old, fewer, more = Ids.of(list("abcde")), Ids.of(["d", "a"]), Ids.of(["a", "x"])
    resolved = alignment({(0, 1): 0.5}).resolve("count")
    assert twin(resolved.recode(old, fewer)) == {(1, 1): 0.5, (0, 3): 1.0}
    assert resolved.recode(old, fewer).resolved
    with pytest.raises(ValueError, match="recode it first, then resolve it"):
        resolved.recode(old, more)
    assert resolved.recode(old, old) is resolved
