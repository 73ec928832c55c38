"""Checkpoints that survive a kill at any moment, as text: the trees, and a state that is written when they are whole.

``trees-N-M.txt`` are the trees of member M after iteration N; ``state-N.json`` holds everything else, the digests of
these files and a digest of itself. Without its state a checkpoint does not exist; one whose digests differ is damaged
and passed over, since an earlier one, or none, leads to the same bits. The last two are kept.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rerankers._base.errors import ConfigError
from rerankers._base.files import atomic_path
from rerankers._base.fingerprint import fingerprint
from rerankers._base.json_text import parse_json
from rerankers.learning.boosting.history import History
from rerankers.learning.learner import Point

VERSION = 1  # raised whenever a checkpoint would be read in another way than before
_KEPT = 2


@dataclass(frozen=True, slots=True, eq=False)
class Checkpoint:
    """A fit as far as it has come.

    Attributes
    ----------
    history
        its iterations.
    texts
        the models of the members.
    exponents
        of each member's factor of slopes (`Newton`); None for native objectives.
    seconds
        that it took.
    finished
        whether that is all.
    """

    history: History
    texts: tuple[str, ...]
    exponents: tuple[int | None, ...]
    seconds: float
    finished: bool


def write_checkpoint(folder: Path, job: str, checkpoint: Checkpoint) -> None:
    """Write a checkpoint of the job with this fingerprint; older ones but the last are removed.

    Raises
    ------
    ConfigError
        when the folder cannot be written.
    """
    history = checkpoint.history
    number = f"{history.iterations:08d}"
    for member, text in enumerate(checkpoint.texts):
        _write(folder / f"trees-{number}-{member}.txt", text)
    body = {
        "version": VERSION,
        "job": job,
        "split": [list(found) for found in history.split],
        "curve": [[point.iteration, point.seconds, dict(point.values)] for point in history.curve],
        "digests": [fingerprint(text) for text in checkpoint.texts],
        "exponents": list(checkpoint.exponents),
        "seconds": checkpoint.seconds,
        "finished": checkpoint.finished,
    }
    _write(folder / f"state-{number}.json", json.dumps({**body, "digest": fingerprint(body)}))
    for old in _states(folder)[:-_KEPT]:
        # The state goes first: what is left of a kill in between is no checkpoint.
        old.unlink(missing_ok=True)
    _sweep(folder)


def read_checkpoint(folder: Path, job: str) -> tuple[Checkpoint | None, int]:
    """Return the last whole checkpoint, None if there is none, and how many damaged ones were passed over.

    Raises
    ------
    ConfigError
        when a whole checkpoint belongs to another fit.
    """
    damaged = 0
    for state in reversed(_states(folder)):
        body = _body(state)
        texts = None if body is None else _texts(folder, state.stem.removeprefix("state-"), body["digests"])
        if body is None or texts is None:
            damaged += 1
            continue
        if body["job"] != job:
            raise ConfigError(
                f"{folder}: found checkpoints of another fit (other options, rows, objective, monitor, seed or version "
                "of LightGBM); expected those of this one. Remove them, or name another folder"
            )
        history = History(tuple(map(tuple, body["split"])), tuple(Point(*point) for point in body["curve"]))
        found = Checkpoint(history, texts, tuple(body["exponents"]), body["seconds"], body["finished"])
        return found, damaged
    return None, damaged


def _states(folder: Path) -> list[Path]:
    return sorted(folder.glob("state-*.json"))


def _sweep(folder: Path) -> None:
    """Remove trees without a state, and what a kill left of files that were being written."""
    kept = {state.stem.removeprefix("state-") for state in _states(folder)}
    for trees in folder.glob("trees-*.txt"):
        if trees.stem.split("-")[1] not in kept:
            trees.unlink(missing_ok=True)
    for leftover in (*folder.glob(".*.trees-*"), *folder.glob(".*.state-*")):
        leftover.unlink(missing_ok=True)


def _body(path: Path) -> dict[str, Any] | None:
    try:
        body: Any = parse_json(path.read_bytes().decode("utf-8"))
        digest = body.pop("digest")
        whole = fingerprint(body) == digest and body["version"] == VERSION
    except (ValueError, KeyError, TypeError, AttributeError):  # no UTF-8 and no JSON are ValueErrors
        return None
    return dict(body) if whole else None


def _texts(folder: Path, number: str, digests: list[str]) -> tuple[str, ...] | None:
    texts = []
    for member, digest in enumerate(digests):
        try:
            text = (folder / f"trees-{number}-{member}.txt").read_bytes().decode("utf-8")
        except (OSError, ValueError):
            return None
        if fingerprint(text) != digest:
            return None
        texts.append(text)
    return tuple(texts)


def _write(path: Path, text: str) -> None:
    with atomic_path(path) as temporary, temporary.open("wb") as stream:
        stream.write(text.encode())
        stream.flush()
        os.fsync(stream.fileno())  # the name must not reach the disk before the bytes
