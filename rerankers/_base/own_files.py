"""YAML and JSON files that the package itself wrote, and anything may have happened to since."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rerankers._base.errors import InputError, MissingError
from rerankers._base.files import open_bytes
from rerankers._base.json_text import parse_json
from rerankers._base.yaml_values import parse_yaml

LARGEST = 1 << 30
"""Bytes of a JSON file that are read; those of 20,000 queries take a tenth of it."""
LARGEST_YAML = 16 << 20


def own_yaml(path: Path, expected: str, mend: str = "") -> Any:
    """Return the value of a YAML file.

    Parameters
    ----------
    path
        the file.
    expected
        what it should be, for messages: "the config of a job, as it was written".
    mend
        what to do about a damaged one.

    Raises
    ------
    MissingError
        when there is no such file.
    InputError
        when it cannot be read, is no YAML, is above 16 MiB, or means more than `parse_yaml` allows.
    """
    return _value(path, LARGEST_YAML, parse_yaml, "YAML", expected, mend)


def own_json(path: Path, expected: str, mend: str = "") -> Any:
    """Return the value of a JSON file; as `own_yaml`, up to 1 GiB."""
    return _value(path, LARGEST, parse_json, "JSON", expected, mend)


def own_mapping(path: Path, expected: str, mend: str = "") -> dict[str, Any]:
    """Return the value of a YAML or, by its name, JSON file that must be a mapping; as `own_yaml`."""
    found = (own_json if path.suffix == ".json" else own_yaml)(path, expected, mend)
    if not isinstance(found, dict) or not all(isinstance(key, str) for key in found):
        raise InputError.one(str(path), f"{_kind(found)}", expected, mend=mend)
    return found


def _kind(found: object) -> str:
    return "a mapping whose keys are no texts" if isinstance(found, dict) else f"a {type(found).__name__}"


def _value(path: Path, largest: int, parse: Callable[[str], Any], form: str, expected: str, mend: str) -> Any:
    try:
        with open_bytes(path) as stream:
            raw = stream.read(largest + 1)
        if len(raw) > largest:
            raise ValueError(f"more than {largest >> 20} MiB")
        return parse(raw.decode("utf-8"))
    except (MissingError, InputError):
        raise
    except OSError as error:
        raise InputError.one(str(path), error.strerror or str(error), "a readable file", mend=mend) from error
    except (ValueError, RecursionError) as error:
        said = error.msg if isinstance(error, json.JSONDecodeError) else " ".join(str(error).split())
        raise InputError.one(str(path), f"no {form} ({said})", expected, mend=mend) from error
