"""Objects of the caller in the place of config nodes: collections, methods and other parts that only Python has."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from rerankers._base.errors import ConfigError

TARGET = f"{__name__}.Held"
_HELD: ContextVar[Mapping[str, Any] | None] = ContextVar("rerankers_held", default=None)


class Held:
    """What a config names where a part was handed over from Python; building it gives that very object.

    Parameters
    ----------
    part
        the config group, for instance ``method``.
    described
        the object in words, for readers of ``config.yaml``.

    Raises
    ------
    ConfigError
        in any other job: the object was in the memory of the one that wrote the config.
    """

    def __new__(cls, part: str, described: str = "") -> Any:
        """Return the object."""
        held = _HELD.get() or {}
        if part not in held:
            raise ConfigError(
                f"{part}: found an object of another Python session ({described}); expected an option, or the call "
                f"that made it, with {part}=THE OBJECT"
            )
        return held[part]


@contextmanager
def holding(parts: Mapping[str, Any]) -> Iterator[None]:
    """Let configs of this thread name these objects meanwhile."""
    token = _HELD.set({**(_HELD.get() or {}), **parts})
    try:
        yield
    finally:
        _HELD.reset(token)


def node_of(part: str, value: Any) -> tuple[dict[str, Any], bool]:
    """Return the config node that stands for an object, and whether the object itself has to be held.

    A dataclass of this package whose fields are plain is written out, so that ``config.yaml`` repeats the job;
    anything else can only be described.
    """
    fields = _plain_fields(value)
    kind = type(value)
    if fields is not None and kind.__module__.startswith("rerankers."):
        return {"_target_": f"{kind.__module__}.{kind.__qualname__}", **fields}, False
    return {"_target_": TARGET, "part": part, "described": describe(value)}, True


def _plain_fields(value: Any) -> dict[str, Any] | None:
    """Return the fields of a dataclass, None where it is none or one of them is more than a plain value."""
    if not dataclasses.is_dataclass(value) or isinstance(value, type):
        return None
    fields = {field.name: getattr(value, field.name) for field in dataclasses.fields(value) if field.init}
    plain = {name: _plain(found) for name, found in fields.items()}
    return None if any(found is NotImplemented for found in plain.values()) else plain


def _plain(value: Any) -> Any:
    """Return a value as YAML holds it, `NotImplemented` where YAML does not."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, list | tuple):
        items = [_plain(one) for one in value]
        return NotImplemented if any(one is NotImplemented for one in items) else items
    if isinstance(value, Mapping) and all(isinstance(key, str) for key in value):
        pairs = {key: _plain(one) for key, one in value.items()}
        return NotImplemented if any(one is NotImplemented for one in pairs.values()) else pairs
    return NotImplemented


def describe(value: Any) -> str:
    """Return an object in a few words: what it is called, what it is, and which content it has where it says so."""
    words = [str(value.name)] if isinstance(getattr(value, "name", None), str) else []
    kind = f"{type(value).__module__}.{type(value).__qualname__}"
    mark = getattr(value, "fingerprint", None)
    words += [kind, *([f"fingerprint {mark}"] if isinstance(mark, str) else [])]
    fields = _plain_fields(value)
    return ", ".join([*words, *(f"{name}={found!r}" for name, found in (fields or {}).items())])
