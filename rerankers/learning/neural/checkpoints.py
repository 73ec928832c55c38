"""Checkpoints that survive a kill at any moment: two files each, the second one written only when the first is whole.

``epoch-N.safetensors`` holds the tensors; ``epoch-N.json`` holds everything else, the digest of the tensors' file and a
digest of itself. A checkpoint without its second file does not exist; one whose digests differ is damaged and passed
over, since an earlier one leads to the same bits. The last two are kept.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from safetensors.torch import load, save

from rerankers._base.errors import ConfigError
from rerankers._base.files import atomic_path
from rerankers._base.fingerprint import fingerprint
from rerankers._base.json_text import parse_json

if TYPE_CHECKING:
    import torch

VERSION = 1  # raised whenever a checkpoint would be read in another way than before
_KEPT = 2


@dataclass(frozen=True, slots=True, eq=False)
class Checkpoint:
    """What a fit goes on from.

    Attributes
    ----------
    epoch
        epochs that are done.
    state
        JSON values.
    tensors
        by name.
    """

    epoch: int
    state: dict[str, Any]
    tensors: dict[str, torch.Tensor]


def write_checkpoint(folder: Path, job: str, checkpoint: Checkpoint) -> None:
    """Write a checkpoint of the job with this fingerprint; older ones but the last are removed.

    Raises
    ------
    ConfigError
        when the folder cannot be written.
    """
    name = f"epoch-{checkpoint.epoch:08d}"
    data = save(checkpoint.tensors)
    _write(folder / f"{name}.safetensors", data)
    body = {
        "version": VERSION,
        "job": job,
        "epoch": checkpoint.epoch,
        "state": checkpoint.state,
        "tensors": fingerprint(data),
    }
    text = json.dumps({**body, "digest": fingerprint(json.dumps(body, sort_keys=True))}, sort_keys=True)
    _write(folder / f"{name}.json", text.encode())
    for old in _names(folder)[:-_KEPT]:
        # The second file goes first: what is left of a kill in between is no checkpoint.
        for ending in (".json", ".safetensors"):
            (folder / f"{old}{ending}").unlink(missing_ok=True)


def read_checkpoint(folder: Path, job: str) -> tuple[Checkpoint | None, int]:
    """Return the last whole checkpoint, None if there is none, and how many damaged ones were passed over.

    Raises
    ------
    ConfigError
        when a whole checkpoint belongs to another job.
    """
    damaged = 0
    for leftover in folder.glob(".*.epoch-*"):
        leftover.unlink(missing_ok=True)
    for name in reversed(_names(folder)):
        body = _body(folder / f"{name}.json")
        tensors = None if body is None else _tensors(folder / f"{name}.safetensors", body["tensors"])
        if body is None or tensors is None:
            damaged += 1
            continue
        if body["job"] != job:
            raise ConfigError(
                f"{folder}: found checkpoints of another fit (other options, rows, objective, seed, device or torch); "
                "expected those of this one. Remove them, or name another folder"
            )
        return Checkpoint(body["epoch"], body["state"], tensors), damaged
    return None, damaged


def _names(folder: Path) -> list[str]:
    return sorted(path.stem for path in folder.glob("epoch-*.json"))


def _body(path: Path) -> dict[str, Any] | None:
    try:
        body: Any = parse_json(path.read_text(encoding="utf-8"))
        digest = body.pop("digest")
    except (ValueError, KeyError, TypeError, AttributeError):  # no UTF-8 and no JSON are ValueErrors
        return None
    whole = fingerprint(json.dumps(body, sort_keys=True)) == digest and body.get("version") == VERSION
    return body if whole else None


def _tensors(path: Path, digest: str) -> dict[str, torch.Tensor] | None:
    data = path.read_bytes() if path.is_file() else b""
    return load(data) if fingerprint(data) == digest else None


def _write(path: Path, data: bytes) -> None:
    with atomic_path(path) as temporary, temporary.open("wb") as stream:
        stream.write(data)
        stream.flush()
        os.fsync(stream.fileno())  # the name must not reach the disk before the bytes
