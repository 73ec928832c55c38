"""A trained network: it scores, and is written as safetensors and JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import torch
from safetensors import SafetensorError
from safetensors.torch import load, save

from rerankers._base.errors import InputError, MissingError
from rerankers._base.files import atomic_path
from rerankers._base.fingerprint import fingerprint
from rerankers._base.json_text import parse_json
from rerankers.learning.neural.batches import plain, spans
from rerankers.learning.neural.inputs import Inputs
from rerankers.learning.neural.machine import steady
from rerankers.learning.neural.networks import Network, build

if TYPE_CHECKING:
    from numpy.typing import NDArray

VERSION = 1  # of the files
_TENSORS, _TEXT = "scorer.safetensors", "scorer.json"
_REST = "Train the model again, or copy its folder again."


@dataclass(frozen=True, slots=True, eq=False)
class NeuralScorer:
    """A network with its inputs.

    Attributes
    ----------
    architecture
        what the network is built from.
    inputs
        the standardisation, learnt in training.
    network
        on the host, in its dtype.
    made
        where it was trained: ``device``, ``threads``, ``torch``.
    """

    kind: ClassVar[str] = "neural"
    architecture: Mapping[str, Any]
    inputs: Inputs
    network: Network
    made: Mapping[str, str | int]

    def score(self, features: NDArray[np.float64], indptr: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the score of every pair, float64 (nnz,).

        Each row goes through the network by itself, on one thread of the processor: libraries sum in another order for
        another number of rows. So the bits of a row's scores depend on that row alone, whatever trained the network.

        Parameters
        ----------
        features
            (nnz, F), NaN where a value is missing.
        indptr
            int64 (B + 1,), the rows.

        Raises
        ------
        InputError
            for shapes that do not fit, infinite values, and scores that are not finite.
        """
        if features.ndim != 2 or len(features) != indptr[-1]:
            raise InputError.one("features", f"shape {features.shape}", f"({indptr[-1]}, {self.inputs.features})")
        scores, dtype = np.empty(len(features)), next(self.network.parameters()).dtype
        self.network.eval()
        with steady(1), torch.inference_mode():
            for first, last in spans(indptr):
                start = int(indptr[first])
                held = self.inputs(features[start : indptr[last]])
                for low, high in zip(indptr[first:last].tolist(), indptr[first + 1 : last + 1].tolist(), strict=True):
                    if high > low:
                        # A copy: the bits of a product may depend on where in memory a matrix begins.
                        row = torch.tensor(held[low - start : high - start], dtype=dtype)
                        scores[low:high] = plain(self.network(row, np.array([high - low])))
        if not np.all(np.isfinite(scores)):
            raise InputError.one("features", "values so large that scores are not finite", "values as in training")
        return scores

    def write(self, folder: Path) -> None:
        """Write ``scorer.safetensors`` and ``scorer.json`` into a folder that is there.

        Raises
        ------
        ConfigError
            when they cannot be written.
        """
        tensors = {f"weight.{name}": values.contiguous() for name, values in self.network.state_dict().items()}
        for name in ("mean", "inverse", "marked"):
            tensors[f"input.{name}"] = torch.from_numpy(getattr(self.inputs, name).copy())
        data = save(tensors)
        with atomic_path(folder / _TENSORS) as temporary:
            temporary.write_bytes(data)
        body = {
            "kind": self.kind,
            "version": VERSION,
            "architecture": dict(self.architecture),
            "dtype": str(next(self.network.parameters()).dtype).removeprefix("torch."),
            "made": dict(self.made),
            "weights": fingerprint(data),
        }
        body["digest"] = fingerprint(body)
        with atomic_path(folder / _TEXT) as temporary:
            temporary.write_text(json.dumps(body, indent=1, sort_keys=True) + "\n", encoding="utf-8")

    @classmethod
    def read(cls, folder: Path) -> NeuralScorer:
        """Read what `write` wrote.

        Raises
        ------
        MissingError
            when a file is not there.
        InputError
            for files of another kind or version, and files that were changed or damaged.
        """
        body = _body(folder / _TEXT)
        path = folder / _TENSORS
        data = _bytes(path)
        if fingerprint(data) != body["weights"]:
            raise InputError.one(str(path), "weights that were changed or damaged", "those of scorer.json", mend=_REST)
        try:
            tensors = load(data)
            inputs = Inputs(*(tensors.pop(f"input.{name}").numpy() for name in ("mean", "inverse", "marked")))
            network = build(body["architecture"], inputs.width).to(getattr(torch, body["dtype"]))
            network.load_state_dict({name.removeprefix("weight."): values for name, values in tensors.items()})
        except (SafetensorError, KeyError, TypeError, ValueError, RuntimeError, AttributeError) as error:
            raise InputError.one(str(path), f"no weights of this architecture ({error})", "them", mend=_REST) from error
        return cls(body["architecture"], inputs, network, body["made"])


def _body(path: Path) -> dict[str, Any]:
    try:
        body: Any = parse_json(_bytes(path).decode())
    except ValueError as error:
        raise InputError.one(str(path), f"no JSON ({error})", "a scorer's description", mend=_REST) from error
    kind = body.get("kind") if isinstance(body, dict) else None
    if kind != NeuralScorer.kind or body.get("version") != VERSION:
        version = body.get("version") if isinstance(body, dict) else None
        raise InputError.one(
            str(path), f"kind {kind!r}, version {version!r}", f"kind {NeuralScorer.kind!r}, version {VERSION}"
        )
    if body.pop("digest", None) != fingerprint(body):
        raise InputError.one(str(path), "a description that was changed or damaged", "it as written", mend=_REST)
    return dict(body)


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise MissingError(f"{path}: no such file. Name the folder of a trained neural model") from None
