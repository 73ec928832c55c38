"""Finished blocks of a long job, kept beside its results until it is done: an interrupted one goes on from them.

A block is known by what it was made from: the config (but for where it is run and written), the version of the package,
the bytes of the files that the config names, the collection, and the block's own candidates. What was made from
anything else is never taken, and goes when a job begins.
"""

from __future__ import annotations

import logging
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rerankers._base.errors import InputError, MissingError
from rerankers._base.fingerprint import fingerprint
from rerankers.runs import PolicyWriter
from rerankers.runs.policy import StoredPolicy, read_policy
from rerankers.stages.block_file import DAMAGED, read_block, write_block
from rerankers.stages.sweep_record import made_from

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rerankers.stages.block import BlockResult, Reranked
    from rerankers.stages.pool import Part
    from rerankers.values import Ids

FOLDER = ".fair-rerank-blocks"
BESIDE = ("drawn_runs",)
"""Options that change nothing of a block, besides those of `rerankers.stages.sweep_record.FREE`."""
logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, eq=False)
class Kept:
    """A block that was done before.

    Attributes
    ----------
    policy
        of the block, over codes of its own; its rankings are those that were drawn.
    result, counts
        the measures, and what the method counted.
    """

    policy: StoredPolicy
    result: BlockResult
    counts: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class BlockPlace:
    """Where a job's blocks may be kept.

    Attributes
    ----------
    output
        folder of the results.
    collection
        fingerprint of the collection.
    """

    output: Path
    collection: str

    def store(self, config: Mapping[str, Any], blocks: int) -> BlockStore:
        """Return the store of a job; what other jobs have left there goes.

        Nothing is kept of a job of one block, which is as quickly done as kept, and of one whose config names objects
        of this process: nobody can tell what they are.

        Parameters
        ----------
        config
            resolved.
        blocks
            of the job.
        """
        folder = self.output / FOLDER
        if blocks < 2 or not _told_by(config, tuple(config.get("allow_targets") or ())):
            forget_blocks(self.output)
            return BlockStore(None)
        made = made_from("run", {key: value for key, value in config.items() if key not in BESIDE}, self.output)
        stamps = {path: (size, sha) for path, (size, _, sha) in made.inputs.items()}
        job = fingerprint(made.point, stamps, self.collection)
        if folder.is_dir():
            for path in folder.iterdir():
                if not path.name.startswith(f"{job[:12]}-"):
                    path.unlink(missing_ok=True)
        folder.mkdir(exist_ok=True)
        return BlockStore(folder, job)


def forget_blocks(output: Path) -> None:
    """Remove the blocks of a job whose results are there."""
    shutil.rmtree(output / FOLDER, ignore_errors=True)


@dataclass(frozen=True, slots=True)
class BlockStore:
    """The kept blocks of one job.

    Attributes
    ----------
    folder
        of the files; None keeps nothing.
    job
        what all blocks are made from.
    """

    folder: Path | None
    job: str = ""

    def holds(self, part: Part) -> bool:
        """Return whether a block was done before; whether its files are whole shows when it is loaded."""
        return self.folder is not None and all(path.exists() for path in self._paths(self.folder, part))

    def load(self, part: Part) -> Kept | None:
        """Return a block as it was done before; None where it was not, or is damaged."""
        if self.folder is None:
            return None
        policy, result = self._paths(self.folder, part)
        try:
            return Kept(read_policy(policy), *read_block(result))
        except (*DAMAGED, InputError, MissingError) as error:
            logger.info("%s: not taken (%s); the block is done again", result.name, error)
            return None

    def save(self, part: Part, block: Reranked, qids: Sequence[str], docs: Ids, seed: int, samples: int) -> None:
        """Keep a block, which is there when its second file is."""
        if self.folder is None:
            return
        policy, result = self._paths(self.folder, part)
        with PolicyWriter(policy, seed=seed, samples=samples) as writer:
            writer.write(block.policy, qids, docs)
        write_block(result, block.result, block.counts)

    def _paths(self, folder: Path, part: Part) -> tuple[Path, Path]:
        rows = part.candidates
        beliefs = None if part.estimates is None else part.estimates.value
        shown = part.served
        served = None if shown is None else (shown.query_ptr, shown.item_ptr, shown.item, shown.weight)
        own = fingerprint(self.job, rows.query, rows.indptr, rows.doc, dict(rows.columns), beliefs, served)
        stem = folder / f"{self.job[:12]}-{own}"
        return stem.with_suffix(".parquet"), stem.with_suffix(".npz")


def _told_by(node: Any, allowed: tuple[str, ...]) -> bool:
    """Whether a config says all of its parts: those of the package, and of packages that may be named, which are read.

    Objects of this process, which Python's functions take in the place of options, are told by no config.
    """
    if isinstance(node, Mapping):
        target = node.get("_target_")
        own = target is None or (str(target).startswith("rerankers.") and not str(target).startswith("rerankers.api."))
        named = target is not None and str(target).partition(".")[0] in {name.partition(".")[0] for name in allowed}
        return (own or named) and all(_told_by(value, allowed) for value in node.values())
    return not isinstance(node, list) or all(_told_by(value, allowed) for value in node)
