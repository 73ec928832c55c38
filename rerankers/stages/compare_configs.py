"""The configs of jobs as flat options: those that decide what a job computed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from rerankers._base.own_files import own_yaml

REPEATED = ("seed",)
"""Options that make repetitions, not other policies: queries are averaged over them."""
NO_MATTER = frozenset(
    {"output", "paths", "execution", "measures", "allow_targets", "retriever.threads", "retriever.heap"}
)
MODEL = "method.model"


def options_of(folder: Path) -> dict[str, Any]:
    """Return the options of a job, flat, without those that decide nothing (`NO_MATTER`); none without a config.

    Raises
    ------
    InputError
        for a config that cannot be read.
    """
    path = folder / "config.yaml"
    try:
        known = path.stat()
    except OSError:
        return {}
    return dict(_read(path, known.st_mtime_ns, known.st_size))


@lru_cache(maxsize=4096)
def _read(path: Path, changed: int, size: int) -> Mapping[str, Any]:
    """Return the options in a config; it is read again where its file is another."""
    config = own_yaml(path, "the config that a job writes")
    flat = dict(_flat(config, "")) if isinstance(config, Mapping) else {}
    return {key: value for key, value in flat.items() if key not in NO_MATTER and key.split(".")[0] not in NO_MATTER}


def _flat(node: Any, prefix: str) -> Iterable[tuple[str, Any]]:
    if isinstance(node, Mapping):
        for key, value in node.items():
            yield from _flat(value, f"{prefix}.{key}" if prefix else str(key))
    else:
        yield prefix, str(node) if isinstance(node, list) else node


def lasting_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options without seeds, a model's folder replaced by what the model was trained with."""
    kept = {key: value for key, value in options.items() if key not in REPEATED}
    model = kept.get(MODEL)
    if isinstance(model, str) and (trained := lasting_options(options_of(Path(model)))):
        del kept[MODEL]
        kept |= {f"{MODEL}.{key}": value for key, value in trained.items()}
    return kept
