"""A stored policy draws the same rankings bit for bit."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rerankers._base.errors import InputError, MissingError
from rerankers._base.streams import SAMPLER_VERSION, query_streams
from rerankers.policies import GradeShuffle, LabelShuffle, Mixture, PlackettLuce, Policy
from rerankers.policies.mallows import Mallows
from rerankers.policies.transpositions import Transpositions
from rerankers.runs import PolicyWriter, count_policy_blocks, policy, read_policy, write_policy
from rerankers.values import Candidates, Ids, Rankings

DOCS = Ids.of([f"d{index:02}" for index in range(12)])
QIDS = [f"q{index}" for index in range(9)]
QUERY = np.array([7, 2, 5], dtype=np.int32)
KINDS = ("plackett_luce", "grade_shuffle", "label_shuffle", "any_labels", "mixture", "mallows", "transpositions")
EXACT = ("logit", "level", "order", "dispersion", "swap_ptr", "swaps", "chance")


def candidates(lengths: list[int]) -> Candidates:
    rng = np.random.default_rng(sum(lengths))
    docs = [rng.permutation(12)[:n] for n in lengths]
    indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    return Candidates(
        QUERY[: len(lengths)], indptr, np.concatenate([*docs, []]).astype(np.int32), {"score": -np.arange(indptr[-1])}
    )


def make(kind: str, over: Candidates, values: list[float]) -> Policy:
    stream = query_streams([QIDS[code] for code in over.query])
    value = np.resize(np.array(values), over.nnz)
    if kind == "plackett_luce":
        return PlackettLuce(over, value, stream)
    if kind == "grade_shuffle":
        return GradeShuffle(over, np.clip(value, -99, 99).astype(np.int16), stream)
    if kind in ("label_shuffle", "any_labels"):
        return LabelShuffle(over, np.exp(-np.abs(value) / 9), stream, kind == "label_shuffle")
    order = np.concatenate([np.empty(0, np.int32), *(np.random.default_rng(n).permutation(n) for n in over.lengths)])
    if kind == "mallows":
        return Mallows(over, order, np.abs(np.resize(np.array(values), len(over))), stream)
    if kind == "transpositions":
        swaps = [[place, place + 1] for n in over.lengths for place in range(n - 1)]
        swap_ptr = np.concatenate([[0], np.cumsum(np.maximum(over.lengths - 1, 0))])
        chance = np.exp(-np.abs(np.resize(np.array(values), len(swaps))))
        return Transpositions(over, order, swap_ptr, np.array(swaps).reshape(-1, 2), chance, stream)
    orders = [np.stack([np.roll(np.arange(n), k) for k in range(3)]) for n in over.lengths]
    rankings = Rankings.of_matrix(over, orders) if len(over) else Rankings.of_matrix(over, [])
    return Mixture(replace(rankings, weight=np.resize([0.5, 0.2, 0.3], len(rankings))), stream)


def drawn(rankings: Rankings, qids: Any, docs: Ids) -> list[tuple[str, int, list[str]]]:
    """Return (query id, sample, documents) of each ranking."""
    return [
        (
            qids[rankings.over.query[row]],
            int(rankings.label[at]),
            docs.take(rankings.over.doc[rankings.flat[rankings.item_ptr[at] : rankings.item_ptr[at + 1]]]),
        )
        for at, row in enumerate(rankings.row_of_ranking)
    ]


def rows(whole: Policy, low: int, high: int) -> Policy:
    """Return the policy of rows low:high."""
    over = whole.over.rows(low, high)
    part = slice(int(whole.over.indptr[low]), int(whole.over.indptr[high]))
    stream = whole.stream[low:high]
    if isinstance(whole, Mixture):
        given = whole.rankings
        first, last = given.query_ptr[low], given.query_ptr[high]
        start, stop = given.item_ptr[first], given.item_ptr[last]
        rankings = Rankings(
            over,
            given.query_ptr[low : high + 1] - first,
            given.item_ptr[first : last + 1] - start,
            given.item[start:stop],
            given.weight[first:last],
            given.label[first:last],
        )
        return Mixture(rankings, stream)
    if isinstance(whole, PlackettLuce):
        return PlackettLuce(over, whole.logit[part], stream)
    if isinstance(whole, Mallows):
        return Mallows(over, whole.order[part], whole.dispersion[low:high], stream)
    if isinstance(whole, Transpositions):
        swap_ptr = whole.swap_ptr[low : high + 1]
        some = slice(swap_ptr[0], swap_ptr[-1])
        return Transpositions(
            over, whole.order[part], swap_ptr - swap_ptr[0], whole.swaps[some], whole.chance[some], stream
        )
    if isinstance(whole, LabelShuffle):
        return LabelShuffle(over, whole.chance[part], stream, whole.at_least_one)
    assert isinstance(whole, GradeShuffle)
    return GradeShuffle(over, whole.level[part], stream)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("policy")


@given(
    st.sampled_from(KINDS),
    st.lists(st.integers(0, 6), max_size=3),
    st.lists(st.floats(-50, 50) | st.just(-np.inf), min_size=1, max_size=9),
    st.integers(-(2**70), 2**70),
    st.none() | st.integers(1, 4),
)
def test_the_same_rankings(
    folder: Path, kind: str, lengths: list[int], values: list[float], seed: int, depth: int | None
) -> None:
    original = make(kind, candidates(lengths), values)
    write_policy(folder / "p.parquet", original, QIDS, DOCS, seed, 5, depth)
    stored = read_policy(folder / "p.parquet")
    assert type(stored.policy) is type(original)
    assert (stored.seed, stored.samples, stored.depth) == (seed, 5, depth)
    assert stored.qids == tuple(QIDS[code] for code in original.over.query)
    assert stored.docs.is_sorted
    expected = drawn(original.sample(5, seed, 0, depth), QIDS, DOCS)
    assert drawn(stored.rankings(), stored.qids, stored.docs) == expected
    again = drawn(stored.policy.sample(2, 77, 3), stored.qids, stored.docs)
    assert again == drawn(original.sample(2, 77, 3), QIDS, DOCS)


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_stored_is_exact(folder: Path, kind: str) -> None:
    original = make(kind, candidates([4, 0, 5]), [0.1, -1 / 3, 1e300, -np.inf])
    write_policy(folder / "p.parquet", original, QIDS, DOCS, 1, 1)
    stored = read_policy(folder / "p.parquet").policy
    assert np.array_equal(stored.stream, original.stream)
    for name in EXACT:
        if hasattr(original, name):
            assert getattr(stored, name).dtype == getattr(original, name).dtype
            assert getattr(stored, name).tobytes() == getattr(original, name).tobytes()
    if isinstance(original, Mixture):
        assert isinstance(stored, Mixture)
        assert stored.rankings.weight.tolist() == original.rankings.weight.tolist()
        assert stored.rankings.label.tolist() == original.rankings.label.tolist()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("row_group", [1, 2, 100])
def test_blocks(folder: Path, kind: str, row_group: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(policy, "_ROWS", row_group)
    whole = make(kind, candidates([4, 1, 5]), [0.5, 2.0, -1.0])
    write_policy(folder / "whole.parquet", whole, QIDS, DOCS, 3, 4)
    with PolicyWriter(folder / "blocks.parquet", 3, 4) as writer:
        for low, high in ((0, 1), (1, 1), (1, 3)):
            writer.write(rows(whole, low, high), QIDS, DOCS)
    assert (folder / "blocks.parquet").read_bytes() == (folder / "whole.parquet").read_bytes()
    blocks = count_policy_blocks(folder / "whole.parquet")
    assert blocks == -(-3 // row_group)
    parts = [read_policy(folder / "whole.parquet", block) for block in range(blocks)]
    found = [entry for part in parts for entry in drawn(part.rankings(), part.qids, part.docs)]
    assert found == drawn(whole.sample(4, 3), QIDS, DOCS)
    with pytest.raises(IndexError, match=f"it has {blocks}"):
        read_policy(folder / "whole.parquet", blocks)


def test_a_policy_of_another_sampler_does_not_draw_silently(folder: Path) -> None:
    write_policy(folder / "p.parquet", make("plackett_luce", candidates([3]), [0.0]), QIDS, DOCS, 3, 4)
    stored = read_policy(folder / "p.parquet")
    with pytest.raises(InputError, match=rf"found sampler version 99; expected version {SAMPLER_VERSION}\. Draw with"):
        replace(stored, sampler=99).rankings()
    facts = json.loads(pq.read_schema(folder / "p.parquet").metadata[b"fair_rerankers"])
    assert facts == {
        "kind": "policy",
        "seed": 3,
        "samples": 4,
        "depth": None,
        "sampler": stored.sampler,
        "package": stored.package,
    }


class Unknown:
    over = candidates([1])
    stream = query_streams([QIDS[7]])


def test_refusals(tmp_path: Path) -> None:
    path = tmp_path / "p.parquet"
    with pytest.raises(ValueError, match="class Unknown has no stored form"):
        write_policy(path, Unknown(), QIDS, DOCS, 0, 1)  # type: ignore[arg-type]

    def mixed() -> None:
        with PolicyWriter(path, 0, 1) as writer:
            writer.write(make("plackett_luce", candidates([1]), [0.0]), QIDS, DOCS)
            writer.write(make("grade_shuffle", candidates([1]), [0.0]), QIDS, DOCS)

    with pytest.raises(ValueError, match=r"expected .* logit .* as before"):
        mixed()

    def broken() -> None:
        write_policy(path, make("transpositions", candidates([3]), [0.5]), QIDS, DOCS, 0, 1)
        table = pq.read_table(path)
        pq.write_table(table.set_column(4, "first", table["second"]), path)
        read_policy(path)

    with pytest.raises(InputError, match="a swap of one place"):
        broken()
    path.unlink()
    with pytest.raises(MissingError, match="no such file"):
        read_policy(path)
    assert list(tmp_path.iterdir()) == []
    path.write_bytes(b"PAR1 no parquet")
    with pytest.raises(InputError, match="cannot be read"):
        read_policy(path)
