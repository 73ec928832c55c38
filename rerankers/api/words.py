"""Options as a caller of Python writes them, as the words of the command line: one meaning, two spellings."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from rerankers._base.errors import ConfigError
from rerankers._overrides import quote

Override = str | Mapping[str, Any]


def pairs_of(overrides: Iterable[Override], options: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield (key, value) of every option, in order; words come as (word, None) with no value to write.

    Raises
    ------
    ConfigError
        for what is neither a word ``key=value`` (or ``~key``) nor a mapping.
    """
    for override in overrides:
        if isinstance(override, str):
            if override.startswith("-") or not ("=" in override or override.startswith("~")):
                raise ConfigError(
                    f"{override!r}: found a word that sets nothing; expected KEY=VALUE, for instance 'samples=50'"
                )
            yield override, _WORD
        elif isinstance(override, Mapping):
            for key, value in override.items():
                yield from _spread(str(key), value)
        else:
            raise ConfigError(f"{override!r}: found a {type(override).__name__}; expected 'KEY=VALUE' or a mapping")
    for key, value in options.items():
        yield from _spread(key, value)


_WORD = object()


def is_word(value: Any) -> bool:
    """Return whether a pair is a word as typed."""
    return value is _WORD


VALUES = frozenset({"groups", "target", "qrels", "run", "collection", "candidates", "predicted", "results"})
"""Words whose mapping is a value (labels, shares, judgments, rankings), not a set of options of that name."""


def _spread(key: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Write out a mapping of options: ``method={"temperature": 0.5}`` is ``method.temperature=0.5``."""
    if isinstance(value, Mapping) and "." not in key and key not in VALUES:
        for inner, found in value.items():
            yield f"{key}.{inner}", found
    else:
        yield key, value


def written(key: str, value: Any) -> str:
    """Return one option as a word of the command line.

    A text is what stands behind the equals sign there: ``"[nDCG@10,EEL]"`` is a list, ``"null"`` nothing. Lists,
    mappings of plain values, paths, numbers, truth values and None are written out.

    Raises
    ------
    ConfigError
        for a value that no option can have.
    """
    if isinstance(value, str):
        return f"{key}={value}"
    return f"{key}={_literal(key, value)}"


def _literal(key: str, value: Any) -> str:
    if hasattr(value, "item") and getattr(value, "ndim", None) == 0:
        value = value.item()  # a number of numpy
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return repr(value) if math.isfinite(value) else str(value)
    if isinstance(value, str | Path):
        return quote(str(value))
    if isinstance(value, Mapping):
        return "{" + ",".join(f"{_name(key, name)}:{_literal(key, one)}" for name, one in value.items()) + "}"
    if isinstance(value, list | tuple | range) or hasattr(value, "tolist"):
        items = value.tolist() if hasattr(value, "tolist") else value
        return "[" + ",".join(_literal(key, one) for one in items) + "]"
    raise ConfigError(
        f"{key}: found {type(value).__name__}; expected text, a number, None, a path, a list or a mapping of these"
    )


def _name(key: str, name: Any) -> str:
    """Return a key of a mapping as Hydra reads it, where quotes are not allowed."""
    text = str(name)
    if not text or any(sign in text for sign in "'\"\n\r${}"):
        raise ConfigError(f"{key}: found the name {text!r}; expected one without quotes, braces and dollar signs")
    return "".join(f"\\{sign}" if sign in "\\()[],:= \t" else sign for sign in text)
