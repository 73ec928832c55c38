"""The compact form of a run: the policy itself, from which the same rankings come back bit for bit.

One row a query with list columns: ``qid``, ``stream`` (the digest that keys its draws), ``docno``, and by kind of
policy ``logit`` (Plackett-Luce), ``level`` (shuffle within levels), the reference ``ranked`` and the number
``dispersion`` (Mallows), the start ``place`` and the swaps ``first``, ``second`` and ``chance`` (transpositions),
``label_chance`` and ``at_least_one`` (labels are drawn, equal ones shuffled), or the weighted rankings ``weight``,
``label`` and ``items`` (mixture). Documents are positions in ``docno``, from 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import rerankers
from rerankers._base.errors import ConfigError, InputError
from rerankers._base.streams import SAMPLER_VERSION
from rerankers.policies import GradeShuffle, Mixture, PlackettLuce, Policy
from rerankers.policies.label_shuffle import LabelShuffle
from rerankers.policies.mallows import Mallows
from rerankers.policies.transpositions import Transpositions
from rerankers.runs.columns import by_name, encode
from rerankers.values import Ids, Ragged, Rankings
from rerankers.values.storage import ranking_lists, rankings_of
from rerankers.values.table import ParquetWriter, facts_of, from_lists, one_array, open_table, reading, to_lists

if TYPE_CHECKING:
    from numpy.typing import NDArray

_ROWS = 1024  # queries a row group
_STREAM = pa.binary(16)
_PER_DOCUMENT: tuple[tuple[Any, str], ...] = ((PlackettLuce, "logit"), (GradeShuffle, "level"))


@dataclass(frozen=True, slots=True, eq=False)
class StoredPolicy:
    """A policy with what its published rankings were drawn with.

    Attributes
    ----------
    policy
        over one row a query, the query code being the index into ``qids``.
    qids, docs
        query ids; sorted ids of the documents that occur.
    seed, samples, depth
        of the published rankings: `Policy.sample` with ``samples`` draws a query from 0 on, cut at ``depth``. 0
        samples of a mixture: nothing was drawn, its own rankings are the published ones, in their order.
    sampler, package
        versions of the sampler and of the package that wrote the file.
    """

    policy: Policy
    qids: tuple[str, ...]
    docs: Ids
    seed: int
    samples: int
    depth: int | None
    sampler: int
    package: str

    def rankings(self) -> Rankings:
        """Return the published rankings, bit for bit: drawn again, or as they were served.

        Raises
        ------
        InputError
            when this version of the package draws otherwise than the one that wrote the policy.
        """
        if not self.samples and isinstance(self.policy, Mixture):
            return self.policy.rankings
        if self.sampler != SAMPLER_VERSION:
            raise InputError.one(
                "policy",
                f"sampler version {self.sampler}",
                f"version {SAMPLER_VERSION}",
                mend=f"Draw with fair-rerankers {self.package}, or read the run file beside it.",
            )
        return self.policy.sample(self.samples, self.seed, 0, self.depth)


class PolicyWriter:
    """Writes policies block by block with bounded memory, whole or not at all; a context manager.

    The bytes of the file do not depend on how the queries are divided into calls of `write`. At least one block must
    be written, be it empty.

    Parameters
    ----------
    seed, samples, depth
        what the published rankings are drawn with.
    """

    def __init__(self, path: str | Path, seed: int, samples: int, depth: int | None = None) -> None:
        facts = {
            "kind": "policy",
            "seed": int(seed),
            "samples": int(samples),
            "depth": depth,
            "sampler": SAMPLER_VERSION,
            "package": rerankers.__version__,
        }
        self._writer = ParquetWriter(Path(path), facts, rows=_ROWS)

    def __enter__(self) -> Self:
        self._writer.__enter__()
        return self

    def write(self, policy: Policy, qids: Sequence[str], docs: Ids) -> None:
        """Add the policy of some queries.

        Parameters
        ----------
        qids, docs
            the names of the query and document codes of ``policy.over``.

        Raises
        ------
        ValueError
            for a kind of policy that cannot be stored, or another kind than that of the first block.
        """
        over = policy.over
        digests = np.ascontiguousarray(policy.stream, dtype="<u8").tobytes()
        columns = {
            "qid": pa.array([qids[code] for code in over.query], pa.large_string()),
            "stream": pa.FixedSizeBinaryArray.from_buffers(_STREAM, len(over), [None, pa.py_buffer(digests)]),
            "docno": to_lists(over.indptr, docs.names.take(pa.array(over.doc))),
        }
        self._writer.write(pa.table(columns | _columns(policy)))

    def __exit__(self, *exception: Any) -> None:
        self._writer.__exit__(*exception)


def write_policy(
    path: str | Path,
    policy: Policy,
    qids: Sequence[str],
    docs: Ids,
    seed: int,
    samples: int,
    depth: int | None = None,
) -> None:
    """Write a whole policy at once; see `PolicyWriter`."""
    with PolicyWriter(path, seed, samples, depth) as writer:
        writer.write(policy, qids, docs)


def is_policy(path: Path) -> bool:
    """Return whether a parquet file says that it holds a policy; False for one that cannot be read."""
    try:
        with pq.ParquetFile(path) as file:
            return facts_of(file.schema_arrow).get("kind") == "policy"
    except (pa.ArrowException, OSError, ValueError):
        return False


def read_policy(path: str | Path, block: int | None = None) -> StoredPolicy:
    """Read a policy; one row group of the file, or all of it.

    Raises
    ------
    MissingError
        when there is no such file.
    InputError
        when it is no policy file, or broken.
    IndexError
        when there is no such row group.
    """
    file, facts = open_table(Path(path), "policy")
    with file:
        if block is not None and not 0 <= block < file.num_row_groups:
            raise IndexError(f"block {block} of {path}; it has {file.num_row_groups}")
        with reading(Path(path)):
            table = file.read() if block is None else file.read_row_group(block)
            indptr, docnos = from_lists(table["docno"])
            doc, docs = by_name(*encode(pa.chunked_array([docnos])))
            over = Ragged(np.arange(len(table), dtype=np.int32), indptr, doc)
            stream = np.frombuffer(b"".join(table["stream"].to_pylist()), dtype="<u8").astype(np.uint64).reshape(-1, 2)
            return StoredPolicy(
                _policy(table, over, stream),
                tuple(table["qid"].to_pylist()),
                docs,
                *(facts[name] for name in ("seed", "samples", "depth", "sampler", "package")),
            )


def count_policy_blocks(path: str | Path) -> int:
    """Return how many row groups a policy file has."""
    file, _ = open_table(Path(path), "policy")
    with file:
        return int(file.num_row_groups)


def _columns(policy: Policy) -> dict[str, pa.Array]:
    """Return the columns of one kind of policy; their names tell which it is."""
    indptr = policy.over.indptr
    for kind, column in _PER_DOCUMENT:
        if isinstance(policy, kind):
            return {column: to_lists(indptr, getattr(policy, column))}
    if isinstance(policy, Mallows):
        return {"ranked": to_lists(indptr, policy.order), "dispersion": pa.array(policy.dispersion)}
    if isinstance(policy, Transpositions):
        swaps = {"first": policy.swaps[:, 0], "second": policy.swaps[:, 1], "chance": policy.chance}
        lists = {name: to_lists(policy.swap_ptr, np.ascontiguousarray(values)) for name, values in swaps.items()}
        return {"place": to_lists(indptr, policy.order)} | lists
    if isinstance(policy, LabelShuffle):
        alike = pa.array([policy.at_least_one] * len(policy.over), pa.bool_())
        return {"label_chance": to_lists(indptr, policy.chance), "at_least_one": alike}
    if isinstance(policy, Mixture):
        return dict(ranking_lists(policy.rankings))
    raise ConfigError(
        f"method: a policy of class {type(policy).__name__} has no stored form; expected one of "
        "rerankers.policies, for instance Mixture(policy.sample(100, block.seed), block.stream)"
    )


def _policy(table: pa.Table, over: Ragged, stream: NDArray[np.uint64]) -> Policy:
    for kind, column in _PER_DOCUMENT:
        if column in table.column_names:
            policy: Policy = kind(over, _items(table[column]), stream)
            return policy
    if "dispersion" in table.column_names:
        return Mallows(over, _items(table["ranked"]), one_array(table["dispersion"]).to_numpy(), stream)
    if "chance" in table.column_names:
        first, second, chance = (_items(table[name]) for name in ("first", "second", "chance"))
        swap_ptr = from_lists(table["chance"])[0]
        return Transpositions(over, _items(table["place"]), swap_ptr, np.stack([first, second], axis=1), chance, stream)
    if "label_chance" in table.column_names:
        at_least_one = bool(table["at_least_one"][0].as_py()) if table.num_rows else False
        return LabelShuffle(over, _items(table["label_chance"]), stream, at_least_one)
    return Mixture(rankings_of(over, table["weight"], table["label"], table["items"]), stream)


def _items(column: pa.ChunkedArray) -> NDArray[Any]:
    """Return the items of all lists of a column."""
    items: NDArray[Any] = from_lists(column)[1].to_numpy(zero_copy_only=False)
    return items
