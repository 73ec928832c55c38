"""Trees as a scorer of candidates: text models, read back to the same scores."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from rerankers._base.errors import InputError, MissingError
from rerankers._base.files import write_text
from rerankers._base.fingerprint import fingerprint
from rerankers._base.json_text import parse_json
from rerankers.learning.boosting.parameters import engine

if TYPE_CHECKING:
    from numpy.typing import NDArray

VERSION = 1
DESCRIPTION = "scorer.json"
_AGAIN = "Train the model again, or copy all files of the folder once more."


@dataclass(frozen=True, eq=False)
class TreeScorer:
    """The mean of the scores of one or more text models.

    Attributes
    ----------
    texts
        of LightGBM.
    features
        how many it takes.
    """

    texts: tuple[str, ...]
    features: int
    kind: ClassVar[str] = "lightgbm"

    @cached_property
    def _boosters(self) -> list[Any]:
        return [engine().Booster(model_str=text) for text in self.texts]

    def __getstate__(self) -> dict[str, Any]:
        # The texts are all there is to it: what LightGBM made of them stays in this process.
        return {"texts": self.texts, "features": self.features}

    def score(self, features: NDArray[np.float64], indptr: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the raw score of every pair, float64 (nnz,); each is a function of its own features alone.

        Parameters
        ----------
        features
            (nnz, F), NaN where a value is missing.
        indptr
            int64 (B + 1,), the rows.

        Raises
        ------
        InputError
            for shapes that do not fit, and infinite values.
        """
        if features.ndim != 2 or features.shape != (indptr[-1], self.features):
            raise InputError.one("features", f"shape {features.shape}", f"({indptr[-1]}, {self.features})")
        if np.isinf(features).any():
            raise InputError.one("features", "infinite values", "finite numbers, or NaN where one is missing")
        if not len(features):
            return np.empty(0)
        total = np.zeros(len(features))
        for booster in self._boosters:
            total += booster.predict(features, raw_score=True, num_threads=1)
        return total / len(self.texts)

    def write(self, folder: Path) -> None:
        """Write ``model.txt`` (and ``model-2.txt`` and so on) and ``scorer.json`` into a folder that is there.

        Raises
        ------
        ConfigError
            when they cannot be written.
        """
        for name, text in zip(_names(len(self.texts)), self.texts, strict=True):
            write_text(folder / name, text)
        body: dict[str, Any] = {
            "kind": self.kind,
            "version": VERSION,
            "features": self.features,
            "texts": [fingerprint(text) for text in self.texts],
        }
        body["digest"] = fingerprint(body)
        write_text(folder / DESCRIPTION, json.dumps(body, indent=1, sort_keys=True) + "\n")

    @classmethod
    def read(cls, folder: Path) -> TreeScorer:
        """Read what `write` wrote.

        Nothing that was changed reaches LightGBM, which may end the process on it.

        Raises
        ------
        MissingError
            when a file is not there.
        InputError
            for files of another kind or version, and files that were changed or damaged.
        """
        body = _description(folder / DESCRIPTION)
        texts = []
        for name, digest in zip(_names(len(body["texts"])), body["texts"], strict=True):
            text = _text(folder / name)
            if fingerprint(text) != digest:
                found = f"{len(text):,} characters that were changed or damaged"
                raise InputError.one(str(folder / name), found, f"the model of {DESCRIPTION}", mend=_AGAIN)
            texts.append(text)
        return cls(tuple(texts), int(body["features"]))


def _names(count: int) -> list[str]:
    return ["model.txt", *(f"model-{number}.txt" for number in range(2, count + 1))]


def _description(path: Path) -> dict[str, Any]:
    text = _text(path)
    try:
        body: Any = parse_json(text)
    except ValueError as error:
        raise InputError.one(str(path), f"no JSON ({error})", "a scorer's description", mend=_AGAIN) from error
    body = body if isinstance(body, dict) else {}
    if body.get("kind") != TreeScorer.kind or body.get("version") != VERSION:
        found = f"kind {body.get('kind')!r}, version {body.get('version')!r}"
        raise InputError.one(str(path), found, f"kind {TreeScorer.kind!r}, version {VERSION}")
    if body.pop("digest", None) != fingerprint(body):
        raise InputError.one(str(path), "a description that was changed or damaged", "it as written", mend=_AGAIN)
    return dict(body)


def _text(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8")
    except FileNotFoundError:
        raise MissingError(f"{path}: no such file. Name the folder of a model of trees") from None
    except UnicodeDecodeError as error:
        raise InputError.one(
            str(path), f"bytes that are no text ({error.reason})", "it as written", mend=_AGAIN
        ) from None
