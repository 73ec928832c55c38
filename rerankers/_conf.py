"""Where the configs are, and the one way from a config node to an object."""

from __future__ import annotations

import dataclasses
import difflib
import importlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rerankers._base.errors import ConfigError, MissingError

ROOT_CONFIG = "run.yaml"


def conf_folder() -> Path:
    """Return the folder of the configs: inside the package (wheel) or beside it (checkout).

    Raises
    ------
    MissingError
        naming both places.
    """
    package = Path(__file__).resolve().parent
    places = (package / "conf", package.parent / "conf")
    for place in places:
        if (place / ROOT_CONFIG).is_file():
            return place
    raise MissingError(
        f"no {ROOT_CONFIG} in {places[0]} nor in {places[1]}. "
        "Type: pip install --force-reinstall --no-deps fair-rerankers"
    )


def build(node: Mapping[str, Any], allowed: Sequence[str] = (), where: str = "config") -> Any:
    """Build the object that a config node describes: the only place where ``_target_`` is followed.

    Parameters
    ----------
    node
        plain mapping with ``_target_`` and the fields of that class.
    allowed
        packages (``"mine"`` allows ``mine.anything``) besides ``rerankers`` whose classes may be named.
    where
        the config key, for messages.

    Raises
    ------
    ConfigError
        for a target outside the allow-list or that is no class, an unknown or missing field, a value of a wrong type.
    """
    if not isinstance(node, Mapping):
        raise ConfigError(f"{where}: found {node!r}; expected options under _target_")
    fields = {str(key): value for key, value in node.items() if key != "_target_"}
    kind = _locate(str(node.get("_target_", "")), allowed, where)
    if dataclasses.is_dataclass(kind):
        fields = _typed(kind, fields, where)
    try:
        return kind(**fields)
    except TypeError as error:
        raise ConfigError(f"{where}: {error}. Compare the fields of {kind.__module__}.{kind.__qualname__}") from error


def _locate(target: str, allowed: Sequence[str], where: str) -> type[Any]:
    prefixes = ("rerankers", *allowed)
    module_name, _, class_name = target.rpartition(".")
    if not any(module_name == prefix or module_name.startswith(f"{prefix}.") for prefix in prefixes):
        raise ConfigError(
            f"{where}._target_: found {target!r}; expected a class of the packages {', '.join(prefixes)}. "
            "To use a class of your own, add its package (not the class): allow_targets=[mypackage]"
        )
    try:
        kind = getattr(importlib.import_module(module_name), class_name)
    except Exception as error:  # a package of the user's own may fail in any way while it is imported
        raise ConfigError(
            f"{where}._target_: {target!r} cannot be imported ({error}). "
            "Is the folder of its package on PYTHONPATH, or the package installed?"
        ) from error
    # A module of an allowed package may import anything; only what an allowed package defines may be called.
    home = str(getattr(kind, "__module__", ""))
    if not isinstance(kind, type) or not any(home == prefix or home.startswith(f"{prefix}.") for prefix in prefixes):
        raise ConfigError(f"{where}._target_: {target!r} is not a class of {', '.join(prefixes)}")
    return kind


def _typed(kind: type[Any], fields: Mapping[str, Any], where: str) -> dict[str, Any]:
    """Check and convert values by the dataclass, which is the schema of its config."""
    from omegaconf import OmegaConf
    from omegaconf.errors import OmegaConfBaseException

    known = [field.name for field in dataclasses.fields(kind) if field.init]
    for name in fields:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            hint = f" Did you mean {where}.{near[0]}?" if near else ""
            raise ConfigError(f"{where}.{name}: no such option; expected one of {', '.join(known) or 'none'}.{hint}")
    try:
        merged = OmegaConf.merge(OmegaConf.structured(kind), dict(fields))
        plain = OmegaConf.to_container(merged, resolve=True, throw_on_missing=True)
    except OmegaConfBaseException as error:
        raise ConfigError(_wrong_value(kind, fields, where, error)) from error
    return {str(key): value for key, value in dict(plain).items() if key in known}  # type: ignore[arg-type]


def _wrong_value(kind: type[Any], fields: Mapping[str, Any], where: str, error: Exception) -> str:
    """Say which option has a value of a wrong type, in the words of its dataclass."""
    name = str(getattr(error, "full_key", None) or "").partition("[")[0].partition(".")[0]
    expected = {field.name: field.type for field in dataclasses.fields(kind)}.get(name)
    if expected is None:
        return f"{where}: {' '.join(str(error).split())}"
    found = fields.get(name)
    if found == "???":
        return f"{where}.{name}: no value; expected one. Type: {where}.{name}=VALUE"
    return f"{where}.{name}: found {found!r}; expected {str(expected).replace('None', 'null').replace('|', 'or')}"
