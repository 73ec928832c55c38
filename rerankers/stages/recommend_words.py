"""The words of ``fair-rerank recommend`` in the form that Hydra takes: groups by name, or by file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rerankers._base.own_files import own_yaml
from rerankers._conf import conf_folder

UNKNOWN, MIXED = "groups.unknown", "groups.mixed"
OF_GROUPS = {UNKNOWN: "drop", MIXED: "split"}
"""Options of groups -> what they are here unless they are typed: the balance of a list is that of its known labels, and
a document of two groups is half of each."""


def written(words: Sequence[str]) -> list[str]:
    """Write out ``groups=[economy,access]`` and ``groups=FILE``, and set what groups are here unless it is typed."""
    out, option = list[str](), "collection"
    for word in words:
        key, _, value = word.partition("=")
        if key != "groups" or value == "null" or _is_option(value, words):
            out.append(word)
            option = value if key == "groups" else option
        elif not value.startswith("[") and Path(value).suffix:
            option = "file"
            out += ["groups=file", f"groups.path={value}"]
        else:
            out.append(f"groups.attribute={value}")
    typed = {word.partition("=")[0] for word in out}
    known = _fields(option, words)
    return [*out, *(f"{key}={value}" for key, value in OF_GROUPS.items() if key not in typed and key[7:] in known)]


def _is_option(value: str, words: Sequence[str]) -> bool:
    return any((folder / "groups" / f"{value}.yaml").is_file() for folder in _folders(words))


def _fields(option: str, words: Sequence[str]) -> frozenset[str]:
    for folder in _folders(words):
        path = folder / "groups" / f"{option}.yaml"
        if path.is_file():
            return frozenset(own_yaml(path, "options of groups") or ())
    return frozenset()


def _folders(words: Sequence[str]) -> list[Path]:
    given = [words[place + 1] for place, word in enumerate(words[:-1]) if word in ("--config-dir", "-cd")]
    given += [word.partition("=")[2] for word in words if word.startswith("--config-dir=")]
    return [*(Path(one) for one in given), conf_folder()]
