"""Short names for rows of a comparison: the method, and the options in which its jobs differ."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

TARGET = "_target_"
MANY = 3
"""More options than this are not all written into names: those that tell rows apart are."""
_LONG = 28
ABSENT = object()


@dataclass(frozen=True, slots=True, eq=False)
class Named:
    """What a name is made of.

    Attributes
    ----------
    system
        what its jobs call it.
    options
        flat options of its jobs, without the seed where seeds are together.
    folder
        of its first job.
    """

    system: str
    options: Mapping[str, Any] = field(default_factory=dict)
    folder: Path = Path()


def names_of(rows: Sequence[Named]) -> list[str]:
    """Return a name for each row: its system where no other row has that, else with what tells them apart.

    Rows without options, or with the same ones, carry as much of their folder as tells them apart.
    """
    out = [row.system for row in rows]
    for system in dict.fromkeys(out):
        places = [place for place, row in enumerate(rows) if row.system == system]
        if len(places) > 1:
            for place, words in zip(places, _apart([rows[place] for place in places]), strict=True):
                out[place] = words
    return out


def differing(options: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the keys in which options differ, in order of appearance; a key that one lacks differs."""
    keys = dict.fromkeys(key for one in options for key in one)
    return [key for key in keys if len({identity(one.get(key, ABSENT)) for one in options}) > 1]


def short_keys(keys: Sequence[str]) -> dict[str, str]:
    """Return key -> its last words, as few as tell keys apart: ``method.temperature`` -> ``temperature``."""
    parts = {key: key.removesuffix(f".{TARGET}").split(".") for key in keys}
    found = {}
    for key, words in parts.items():
        for count in range(1, len(words) + 1):
            short = ".".join(words[-count:])
            if count == len(words) or sum(".".join(other[-count:]) == short for other in parts.values()) == 1:
                found[key] = short
                break
    return found


def value_words(key: str, value: Any) -> str:
    """Return an option's value as it is typed: a class by the name of its config, a path by its last part."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return str(value).lower()
    text = str(value)
    if key.rpartition(".")[2] == TARGET:
        name = text.rpartition(".")[2]
        return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()
    if len(text) > _LONG and "/" in text:
        return text.rstrip("/").rpartition("/")[2]
    return text


def folder_labels(folders: Sequence[Path]) -> list[str]:
    """Return the last parts of each folder, as few as tell all apart."""
    parts = [folder.parts or (".",) for folder in folders]
    out = []
    for own in parts:
        for count in range(1, len(own) + 1):
            tail = own[-count:]
            if count == len(own) or sum(other[-count:] == tail for other in set(parts)) == 1:
                out.append("/".join(tail))
                break
    return out


def _apart(rows: Sequence[Named]) -> list[str]:
    """Return names of rows of one system."""
    labels = folder_labels([row.folder for row in rows])
    by_folder = [f"{label}/{row.system}" for label, row in zip(labels, rows, strict=True)]
    keys = differing([row.options for row in rows]) if all(row.options for row in rows) else []
    if not keys:
        return by_folder
    if len(keys) > MANY:
        keys = _enough(keys, rows)
    short = short_keys(keys)
    found = [" ".join([row.system, *_words(row.options, keys, short)]) for row in rows]
    return [
        f"{words} ({label})" if found.count(words) > 1 else words for words, label in zip(found, labels, strict=True)
    ]


def _words(options: Mapping[str, Any], keys: Sequence[str], short: Mapping[str, str]) -> list[str]:
    return [f"{short[key]}={value_words(key, options[key])}" for key in keys if key in options]


def _enough(keys: Sequence[str], rows: Sequence[Named]) -> list[str]:
    """Return keys that tell as many rows apart as all do: each time the one that divides most."""
    chosen: list[str] = []

    def classes(some: Sequence[str]) -> int:
        return len({tuple(identity(row.options.get(key, ABSENT)) for key in some) for row in rows})

    most = classes(keys)
    while classes(chosen) < most:
        chosen.append(max((key for key in keys if key not in chosen), key=lambda key: classes([*chosen, key])))
    return [key for key in keys if key in chosen]


def identity(value: Any) -> str:
    """Return what two equal values share, 1 and 1.0 too."""
    if value is ABSENT:
        return ""
    return repr(float(value)) if isinstance(value, int | float) and not isinstance(value, bool) else repr(value)
