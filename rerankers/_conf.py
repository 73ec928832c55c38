"""Where the configs are, and the one way from a config node to an object."""

from __future__ import annotations

import dataclasses
import difflib
from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from pathlib import Path
from typing import Any

from rerankers._base.errors import ConfigError, FairRerankersError, MissingError
from rerankers._targets import OURS, locate

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


HYDRA_KEYS = ("_args_", "_partial_", "_recursive_", "_convert_")
"""Words of Hydra's own instantiate, which nothing here follows."""


ALLOWED: ContextVar[tuple[str, ...]] = ContextVar("ALLOWED", default=())
"""The packages that the job which runs allows, for parts that name further classes in their options."""


def build(node: Mapping[str, Any], allowed: Sequence[str] = (), where: str = "config") -> Any:
    """Build the object that a config node describes: the only place where ``_target_`` is followed.

    A ``_target_`` inside an option is data like any other: it is not followed.

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
        for a target outside the allow-list or that is no class, an unknown or missing field, a value of a wrong type,
        and whatever a class of the user's own raises while it is made.
    """
    if not isinstance(node, Mapping):
        raise ConfigError(f"{where}: found {node!r}; expected options under _target_")
    fields = {str(key): value for key, value in node.items() if key != "_target_"}
    for word in HYDRA_KEYS:
        if word in fields:
            raise ConfigError(f"{where}.{word}: no such option; expected the fields of the class, by their names")
    kind = locate(str(node.get("_target_", "")), allowed, where)
    name = f"{kind.__module__}.{kind.__qualname__}"
    try:
        return kind(**(_typed(kind, fields, where) if dataclasses.is_dataclass(kind) else fields))
    except FairRerankersError:
        raise
    except RecursionError as error:
        raise ConfigError(f"{where}: found options inside options too deep to read; expected a few levels") from error
    except TypeError as error:
        raise ConfigError(f"{where}: {error}. Compare the fields of {name}") from error
    except Exception as error:
        if name.startswith(f"{OURS}."):
            raise  # a fault of ours, to be seen as it is
        raise ConfigError(f"{where}: {name} cannot be made ({type(error).__name__}: {error})") from error


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
        schema = OmegaConf.structured(kind)
    except (OmegaConfBaseException, NameError, TypeError) as error:  # of types that only a type checker imports
        raise ConfigError(_no_schema(kind, where, error)) from error
    try:
        merged = OmegaConf.merge(schema, dict(fields))
        plain = OmegaConf.to_container(merged, resolve=True, throw_on_missing=True)
    except OmegaConfBaseException as error:
        raise ConfigError(_wrong_value(kind, fields, where, error)) from error
    return {str(key): value for key, value in dict(plain).items() if key in known}  # type: ignore[arg-type]


def _no_schema(kind: type[Any], where: str, error: Exception) -> str:
    """Say which field of a class cannot be an option."""
    name = str(getattr(error, "full_key", None) or getattr(error, "key", None) or "")
    what = f"its field {name}" if name else f"its fields ({' '.join(str(error).split())})"
    return (
        f"{where}: {kind.__module__}.{kind.__qualname__} cannot take options by {what}; expected fields of the types "
        "str, int, float, bool, or lists and dicts of them, maybe with | None"
    )


def _wrong_value(kind: type[Any], fields: Mapping[str, Any], where: str, error: Exception) -> str:
    """Say which option has a value of a wrong type, in the words of its dataclass."""
    name = str(getattr(error, "full_key", None) or "").partition("[")[0].partition(".")[0]
    types = {field.name: field.type for field in dataclasses.fields(kind)}
    expected = types.get(name)
    expected = expected.__name__ if isinstance(expected, type) else expected
    if expected is None:
        return f"{where}: {' '.join(str(error).split())}"
    found = fields.get(name)
    if found == "???" or name not in fields:
        return f"{where}.{name}: no value; expected one. Type: {where}.{name}=VALUE"
    return f"{where}.{name}: found {found!r}; expected {str(expected).replace('None', 'null').replace('|', 'or')}"
