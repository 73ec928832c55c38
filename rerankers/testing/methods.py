"""What every reranker keeps to, so that its results are the same whoever runs it, and mean what they say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise, permutations
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np

from rerankers._base.errors import ConfigError, FairRerankersError
from rerankers.exposure import TopKSet
from rerankers.methods.base import GROUP_TIERS, answered, check_policy
from rerankers.methods.base import check_method as check_kind
from rerankers.runs import read_policy, write_policy
from rerankers.testing.plain import check, configured, sent
from rerankers.testing.worlds import alone, method_block
from rerankers.values import Ids, Rankings

if TYPE_CHECKING:
    from rerankers.policies import Policy
    from rerankers.values import Block

OFFERED = ("sample", "schedule", "exposure", "log_prob")
DRAWS = 8
MOST = 5  # documents up to which all their orders are looked at
ROUNDING = 1e-6
CLOSE = 6.0  # standard errors that a mean of draws may be away from what is exact
MANY = 2000

Row = list[tuple[tuple[int, ...], float]]


def check_method(method: Any, blocks: Sequence[Block] | None = None, *, exact: bool = True) -> None:
    """Hold a method against what every method keeps to.

    - It says its tier and answers with a policy over the block's candidates; blocks may have no query at all, queries
      no document, one, or nothing but ties.
    - Rankings hold every candidate once. Equal seeds give equal rankings, draw i does not depend on the draws before
      it, and neither order nor number of the other queries in a block matters.
    - Blocks come back as they were, method and policy pickle, a config makes the same object.
    - Probabilities of all rankings of a query sum to 1, exact exposure lies between 0 and 1, sums to the ranks that
      are looked at, and agrees with what 2,000 draws show. No judgments are needed: blocks have none.

    Parameters
    ----------
    method
        of your own or of the package.
    blocks
        what it is tried on; None takes some of `method_block`, in which the true groups are seen in the tiers that may
        see them.
    exact
        whether probabilities and exposure are compared with draws too, some seconds for slow policies.

    Raises
    ------
    AssertionError
        with what was found and what was expected.
    """
    try:
        check_kind(method)
    except ConfigError as error:
        raise AssertionError(str(error)) from error
    sees = method.tier in GROUP_TIERS
    tried = blocks if blocks is not None else [_usual(sees), _usual(sees, order=[4, 0]), _usual(sees, order=[])]
    twins = [sent(method), configured(method)]
    for block in tried:
        try:
            _check_on(method, twins, block, exact)
        except FairRerankersError as error:
            raise AssertionError(f"{type(method).__name__}: {error}") from error


def _check_on(method: Any, twins: Sequence[Any], block: Block, exact: bool) -> None:
    policy = _policy(method, block)
    for name in OFFERED:
        check(callable(getattr(policy, name, None)), method, f"its policy has no {name}; see rerankers.policies.Policy")
    _candidates_once(method, policy, block)
    drawn = _rows(policy.sample(DRAWS, 0))
    _repeats(method, policy, block, drawn, twins)
    _any_order(method, block, drawn)
    _stored(method, policy)
    if exact:
        _probabilities(method, policy)
        _exposure(method, policy)


def _usual(sees: bool, order: Sequence[int] | None = None) -> Block:
    block = method_block(order=order)
    return block if sees else replace(block, groups={})


def _policy(method: Any, block: Block) -> Policy:
    """Return the policy, having looked whether the block is as it was."""
    before = {name: column.copy() for name, column in _arrays(block).items()}
    policy, counts = answered(method, block)
    try:
        check_policy(policy, method, block)
    except ConfigError as error:
        raise AssertionError(str(error)) from error
    for name, column in _arrays(block).items():
        check(np.array_equal(column, before[name]), method, f"it has changed {name} of the block; work on a copy")
    for name, count in counts.items():
        check(isinstance(count, int) and count >= 0, method, f"it counted {name}: {count!r}; expected 0 or more")
    sent(policy)
    return policy


def _arrays(block: Block) -> dict[str, Any]:
    candidates = block.candidates
    return {"indptr": candidates.indptr, "doc": candidates.doc, "stream": block.stream, **candidates.columns}


def _rows(rankings: Rankings) -> list[Row]:
    """Return (items, weight) of every ranking by row."""
    bounds = list(pairwise(rankings.item_ptr.tolist()))
    found = [
        (tuple(rankings.item[low:high].tolist()), weight)
        for (low, high), weight in zip(bounds, rankings.weight.tolist(), strict=True)
    ]
    return [found[low:high] for low, high in pairwise(rankings.query_ptr.tolist())]


def _candidates_once(method: Any, policy: Policy, block: Block) -> None:
    for drawn in (policy.sample(DRAWS, 0), policy.schedule(DRAWS, 0)):
        for row, n in enumerate(block.candidates.lengths.tolist()):
            for items, _ in _rows(drawn)[row]:
                check(
                    sorted(items) == list(range(n)),
                    method,
                    f"a ranking of query {row} is {list(items)}; expected each of its {n} candidates once",
                )


def _repeats(method: Any, policy: Policy, block: Block, drawn: list[Row], twins: Sequence[Any]) -> None:
    check(_rows(policy.sample(DRAWS, 0)) == drawn, method, "two calls of sample with one seed give other rankings")
    again = _rows(_policy(method, block).sample(DRAWS, 0))
    check(
        again == drawn, method, "two policies of one block give other rankings; draw from block.seed and block.stream"
    )
    for twin in twins:
        same = _rows(_policy(twin, block).sample(DRAWS, 0)) == drawn
        check(same, method, "pickled, or made by a config, it gives other rankings; everything must be in its fields")
    late = [[items for items, _ in row] for row in _rows(policy.sample(2, 0, first=DRAWS - 2))]
    check(
        late == [[items for items, _ in row[DRAWS - 2 :]] for row in drawn],
        method,
        "draw 7 depends on whether the draws before it were made",
    )


def _stored(method: Any, policy: Policy) -> None:
    """Look whether a job that keeps the policy gets the same rankings from the file."""
    if not len(policy.over):
        return
    qids = [f"q{code}" for code in range(1 + int(policy.over.query.max(initial=0)))]
    docs = Ids.of([f"d{number:09d}" for number in range(1 + int(policy.over.doc.max(initial=0)))])
    with TemporaryDirectory() as folder:
        path = Path(folder) / "policy.parquet"
        write_policy(path, policy, qids, docs, 0, DRAWS)
        kept = read_policy(path).rankings()
    asked = policy.sample(DRAWS, 0)
    check(np.array_equal(kept.item, asked.item), method, "its policy gives other rankings when it is read from a file")


def _any_order(method: Any, block: Block, drawn: list[Row]) -> None:
    for row, expected in enumerate(drawn):
        own = _rows(_policy(method, alone(block, row)).sample(DRAWS, 0))[0]
        check(own == expected, method, f"query {row} has other rankings when it is alone in its block")
    turned = np.arange(len(drawn))[::-1]
    estimates = None
    if block.estimates is not None:
        parts = [block.estimates.value[block.candidates.row(int(row))] for row in turned]
        estimates = replace(block.estimates, value=np.concatenate(parts) if parts else block.estimates.value)
    other = replace(block, candidates=block.candidates.take(turned), stream=block.stream[turned], estimates=estimates)
    found = _rows(_policy(method, other).sample(DRAWS, 0))
    check(found[::-1] == drawn, method, "the order of the queries in a block changes their rankings")


def _probabilities(method: Any, policy: Policy) -> None:
    """Look whether the probabilities of all orders of a query's documents sum to 1, where there are few."""
    lengths = policy.over.lengths.tolist()
    for row, n in enumerate(lengths):
        if not 1 <= n <= MOST:
            continue
        orders = np.array(list(permutations(range(n))), dtype=np.int32)
        empty = [np.empty((0, length), dtype=np.int32) for length in lengths]
        rankings = Rankings.of_matrix(policy.over, [*empty[:row], orders, *empty[row + 1 :]])
        chance = np.exp(policy.log_prob(rankings))
        total = float(chance.sum())
        said = f"the probabilities of all {len(orders)} rankings of query {row} sum to {total:.6f}; expected 1"
        check(abs(total - 1) < ROUNDING, method, said)


def _exposure(method: Any, policy: Policy) -> None:
    """Look whether exact exposure is one, and agrees with draws."""
    over = policy.over
    grade = np.zeros(over.nnz)
    means: Rankings | None = None
    for k in (1, 2, 3):
        found = policy.exposure(TopKSet(k).bind(grade, over.indptr))
        if found is None:
            return
        value = found.value
        check(
            np.all((value > -ROUNDING) & (value < 1 + ROUNDING)), method, "exact exposure of the top k is not in 0 to 1"
        )
        total = np.bincount(over.row_index, weights=value, minlength=len(over))
        expected = np.minimum(over.lengths, k)
        check(
            np.allclose(total, expected, atol=ROUNDING),
            method,
            f"exact exposure of the top {k} sums to {total.tolist()}; expected {expected.tolist()}",
        )
        means = policy.sample(MANY, 1) if means is None else means
        shown = np.bincount(
            means.flat, weights=means.weight[means.ranking_of_item] * (means.rank < k), minlength=over.nnz
        )
        error = np.sqrt(np.clip(value * (1 - value), 0, None) / MANY)
        far = np.abs(shown - value) > CLOSE * error + 2 / MANY
        check(not far.any(), method, f"exact exposure of the top {k} is not what {MANY:,} draws show")
