"""The ledger as a value: exact sums, merging, what is refused, and how it is shown."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ledger_worlds import asked, docnos, world

from rerankers._base.errors import InputError
from rerankers.ledger import Ledger, Memory, merge, show
from rerankers.ledger.fixed import LIMIT, ONE, to_fixed, to_float
from rerankers.ledger.ledger import join_spans
from rerankers.methods.nle_controller import NleController
from rerankers.methods.online_frank_wolfe import OnlineFrankWolfe


def test_fixed_point_rounds_to_the_nearest() -> None:
    amounts = np.array([0.0, 1.0, 2.0**-40, 0.4 * 2.0**-40, 0.6 * 2.0**-40, 1 / 3])
    assert to_fixed(amounts).tolist() == [0, 2**40, 1, 0, 1, round(2**40 / 3)]
    np.testing.assert_allclose(to_float(to_fixed(amounts)), amounts, atol=2.0**-41)
    for bad in (np.nan, np.inf, 1e7):
        with pytest.raises(InputError, match="4 million"):
            to_fixed(np.array([bad]))


@given(
    amounts=st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from("xyz"), st.floats(0, 3)), max_size=12),
    cuts=st.lists(st.integers(0, 2), min_size=12, max_size=12),
)
def test_any_partition_of_any_amounts_merges_to_the_same_bits(
    amounts: list[tuple[str, str, float]], cuts: list[int]
) -> None:
    def kept(part: list[tuple[str, str, float]], first: int) -> Ledger:
        balances: dict[tuple[str, str], tuple[int, int, int]] = {}
        for account, entity, amount in part:
            served, due, _ = balances.get((account, entity), (0, 0, 0))
            balances[account, entity] = (served + int(to_fixed(np.array([amount]))[0]), due + 1, 0)
        counts = {account: sum(one[0] == account for one in part) for account in {one[0] for one in part}}
        return Ledger.of({"decay": 1.0}, balances, counts, {f"s{first}": ((0, len(part)),)} if part else {})

    shards = [
        kept([one for one, cut in zip(amounts, cuts, strict=False) if cut == shard], shard) for shard in (0, 1, 2)
    ]
    whole = merge(shards)
    assert whole.digest == merge(shards[::-1]).digest == merge([merge(shards[1:]), shards[0]]).digest
    alone = kept(amounts, 0)
    np.testing.assert_array_equal(whole.served, alone.served)
    np.testing.assert_array_equal(whole.due, alone.due)
    np.testing.assert_array_equal(whole.impressions, alone.impressions)


@pytest.mark.parametrize("entities", ["documents", "authors", "side"])
@settings(max_examples=15)
@given(shard=st.lists(st.integers(0, 2), min_size=6, max_size=6), chunk=st.sampled_from([1, 3, 1000]))
def test_sequences_shared_out_over_shards_give_the_same_bits(entities: str, shard: list[int], chunk: int) -> None:
    block = world()
    sequence = asked(block, 6, 9)
    method = NleController(entities=entities, scope="sequence")
    served, whole = method.serve(block, sequence, Memory(), docnos(block))
    parts = []
    for number in range(3):
        places = np.flatnonzero(np.isin(sequence.sequence, np.flatnonzero(np.array(shard) == number)))
        mine, ledger = method.serve(block, sequence.take(places), Memory(chunk), docnos(block))
        parts.append(ledger)
        for place, at in enumerate(places.tolist()):
            np.testing.assert_array_equal(
                mine.item[mine.start[place] : mine.start[place + 1]],
                served.item[served.start[at] : served.start[at + 1]],
            )
    assert merge(parts).digest == whole.digest


def small(config: dict[str, object] | None = None, **spans: tuple[tuple[int, int], ...]) -> Ledger:
    return Ledger.of(config or {"decay": 1.0}, {("a", "x"): (1 << 40, 3 << 39, 0)}, {"a": 2}, spans)


def test_what_is_not_merged() -> None:
    with pytest.raises(InputError, match="none"):
        merge([])
    with pytest.raises(InputError, match=r"theta=0.9.*theta=0.8"):
        merge([small({"theta": 0.8}), small({"theta": 0.9})])
    with pytest.raises(InputError, match="impressions 3 to 4 of sequence s twice"):
        merge([small(s=((0, 5),)), small(s=((3, 9),))])
    with pytest.raises(InputError, match=r"decay 0.5"):
        merge([small({"decay": 0.5}), small({"decay": 0.5})])
    large = Ledger.of({}, {("a", "x"): (LIMIT, 0, 0)}, {}, {})
    with pytest.raises(InputError, match="4 million"):
        merge([large, large])
    assert merge([small({"decay": 0.5})]).served.tolist() == [1 << 40]


def test_spans_join() -> None:
    assert join_spans([{"s": ((5, 9),)}, {"s": ((0, 5), (12, 13))}]) == {"s": ((0, 9), (12, 13))}
    merged = merge([small(s=((0, 5),)), small(s=((5, 8),), t=((0, 1),))])
    assert merged.positions == {"s": 8, "t": 1}
    assert merged.impressions.tolist() == [4]


def test_a_balance_that_outgrows_64_bits_is_an_error() -> None:
    block = world()
    method = OnlineFrankWolfe(scope="corpus")
    spec = Memory(2)
    store = spec.open(method.configuration(block))
    store._balances[("corpus", "d00")] = (LIMIT - 5, 0, 0)
    store._balances[("corpus", "d01")] = (LIMIT - 5, 0, 0)

    class Given:
        chunk = 2

        @staticmethod
        def open(config: object) -> object:
            return store

    with pytest.raises(InputError, match="4 million"):
        method.serve(block, asked(block, 2, 9), Given(), docnos(block))  # type: ignore[arg-type]
    assert store.ledger().impressions.sum() <= 18, "turns before it stay"


def test_show() -> None:
    block = world()
    _, ledger = NleController(scope="sequence").serve(block, asked(block, 2, 9), Memory(), docnos(block))
    text = show(ledger)
    assert "method=NleController" in text
    assert "s0        0 to 8" in text
    assert f"{np.sum(ledger.served) / ONE:.6f}" in text
    debt = ledger.deficit
    lines = text.splitlines()
    most = lines[next(i for i, line in enumerate(lines) if line.startswith("owed most")) + 1]
    assert most.endswith(f"{debt.max():.6f}")
    assert show(Ledger.of({}, {}, {}, {})).startswith("ledger\n")
    many = Ledger.of({}, {}, {}, {f"s{i}": ((0, 1),) for i in range(30)})
    assert "and 10 more sequences" in show(many)
