"""What all checks share: saying what is wrong, and what an object keeps when it is sent or written down."""

from __future__ import annotations

import copy
import dataclasses
import importlib
import pickle
from typing import Any, NoReturn

from rerankers._base.errors import ConfigError
from rerankers._conf import build


def fail(what: object, said: str) -> NoReturn:
    """Raise `AssertionError` about an object."""
    raise AssertionError(f"{type(what).__name__}: {said}")


def check(holds: object, what: object, said: str) -> None:
    """Raise `AssertionError` about an object unless something holds."""
    if not holds:
        fail(what, said)


def sent(what: Any) -> Any:
    """Return an object as another process gets it.

    Raises
    ------
    AssertionError
        where it does not pickle, or does not come from a module that other processes can import.
    """
    kind = type(what)
    check(
        "<locals>" not in kind.__qualname__,
        what,
        "its class is defined inside a function; other processes cannot import it. Move it to the top of a module",
    )
    try:
        pickle.dumps(what)
        return copy.deepcopy(what)  # by the same reduction as pickle takes, without reading a pickle
    except Exception as error:
        raise AssertionError(
            f"{kind.__name__}: it does not pickle ({error}), which execution=joblib needs. Keep open files, locks and "
            "functions out of its fields"
        ) from error


def configured(what: Any) -> Any:
    """Return an object as a config file with the values of its fields makes it; itself where it is no dataclass.

    Raises
    ------
    AssertionError
        where fields can change, where a config cannot hold their values, and where another object comes back.
    """
    kind = type(what)
    if not dataclasses.is_dataclass(what) or kind.__module__ == "__main__":
        return what
    parameters: Any = getattr(kind, "__dataclass_params__", None)
    check(parameters is None or parameters.frozen, what, "its fields can change; write @dataclass(frozen=True)")
    check(
        getattr(importlib.import_module(kind.__module__), kind.__qualname__.partition(".")[0], None) is not None,
        what,
        f"{kind.__module__} has no {kind.__qualname__}; a config names classes at the top of a module",
    )
    node = {one.name: _plain(getattr(what, one.name)) for one in dataclasses.fields(what) if one.init}
    allowed = () if kind.__module__.startswith("rerankers.") else (kind.__module__.partition(".")[0],)
    try:
        made = build({"_target_": f"{kind.__module__}.{kind.__qualname__}", **node}, allowed, kind.__name__)
    except ConfigError as error:
        raise AssertionError(
            f"{kind.__name__}: a config with the values of its fields does not make it: {error}"
        ) from error
    for name in node:
        check(
            _plain(getattr(made, name)) == node[name],
            what,
            f"{name} is {node[name]!r}, and {getattr(made, name)!r} when a config makes it of that value",
        )
    return made


def _plain(value: Any) -> Any:
    """Return a value as YAML holds it."""
    if isinstance(value, tuple | list):
        return [_plain(one) for one in value]
    if isinstance(value, dict):
        return {str(key): _plain(one) for key, one in value.items()}
    return value
