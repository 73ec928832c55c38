"""Overrides as people type them: values that are paths or texts are quoted for Hydra, whatever they hold."""

from __future__ import annotations

import re
from pathlib import Path

import yaml

from rerankers._base.errors import ConfigError
from rerankers._conf import conf_folder
from rerankers._sweep_words import is_multirun

SINGLE = frozenset({"output", "path", "cache"})
"""Paths that are never a list, so that ``output=[mine]`` is a folder called ``[mine]``."""

PATHS = SINGLE | {
    "runs",
    "predicted",
    "query",
    "queries",
    "run",
    "qrels",
    "sequence",
    "targets",
    "policy",
    "corpus",
    "input",
    "data",
    "results",
    "texts",
    "template",
    "truth",
    "labels",
    "lexicon",
    "prompt",
    "label_set",
    "voters",
    "sets",
    "generate",
    "backstory",
    "topic_names",
    "exclude_topics",
    "docno",
}
"""Last part of a key whose value is a path or a text: ``output=…``, ``collection.path=…``, ``retriever.run=…``."""

ONE_A_SWEEP = frozenset({"output", "paths.cache"})
"""Paths of a whole sweep; others are swept where they are several with commas between them, under ``--multirun``."""

LISTS = frozenset({"measures.names", "optimise", "alternatives.methods"})
"""Keys whose value is a list of texts, such as ``[nDCG@10,EEL(group='region')@20]``."""

RENAMED = {
    "choose": {"groups": "groups.path"},
    "evaluate": {"groups": "groups.path"},
    "submit": {"groups": "groups.path"},
    "labels": {"groups": "groups.path"},
    "compare": {"measures": "measures.names", "clusters": "clusters.path"},
    "power": {"measures": "measures.names"},
    "explain": {"groups": "groups.path"},
    "meta": {"groups": "groups.path", "measures": "measures.names"},
    "kit": {"measures": "measures.names"},
    "presence": {"measures": "measures.names"},
}
"""``groups`` and ``measures`` choose an option in ``run``; elsewhere they name a file, and measures. Hydra takes the
bare word for an option. A list of measures is their names everywhere: ``measures=[nDCG@10,EEL]``."""

IRDS = "irds:"
"""``collection=irds:ID`` is short for ``collection=ir_datasets collection.id=ID``."""

_OVERRIDE = re.compile(r"(\+{0,2})([A-Za-z_][\w./@:-]*)=(.*)", re.DOTALL)


def quote_overrides(command: str, words: list[str]) -> list[str]:
    """Quote the values of path and text keys, write out ``collection=irds:ID``; everything else stays as it is.

    ``[A,B]`` stays a list, with its items quoted (an item that holds a comma outside brackets is quoted by the
    user); a value that is already quoted or ``null`` stays. ``${...}`` still interpolates, ``~/`` is the home folder.

    Raises
    ------
    ConfigError
        for a path or an id without a value, as an unset shell variable leaves it.
    """
    written = (part for word in words for part in _written_out(word))
    several = is_multirun(words)
    return [_quote_word(command, word, several) for word in written]


def _written_out(word: str) -> list[str]:
    key, _, value = word.partition("=")
    if key != "collection" or not value.startswith(IRDS):
        return [word]
    name = value.removeprefix(IRDS)
    if not name:
        raise ConfigError("collection: found irds: without an id; expected one, for instance collection=irds:vaswani")
    return ["collection=ir_datasets", f"collection.id={name}"]


def _quote_word(command: str, word: str, several: bool = False) -> str:
    match = _OVERRIDE.fullmatch(word)
    if match is None:
        return word
    prefix, key, value = match.groups()
    key = RENAMED.get(command, {}).get(key, key)
    if key == "measures" and value.startswith("["):
        key = "measures.names"
    last = key.rpartition(".")[2]
    if last not in PATHS and key not in LISTS:
        return word
    if not value:
        raise ConfigError(f"{key}: found nothing behind the equals sign; expected a value. Is a shell variable empty?")
    if several and key not in ONE_A_SWEEP and len(values := _split_list(value)) > 1 and not Path(value).exists():
        found = [_quote_word(command, f"{key}={one.strip()}").partition("=")[2] for one in values]
        return f"{prefix}{key}={','.join(found)}"
    if value.startswith("[") and value.endswith("]") and last not in SINGLE:
        items = [item.strip() for item in _split_list(value[1:-1])]
        return f"{prefix}{key}=[{','.join(quote(item) for item in items if item)}]"
    quoted = quote(value)
    return f"{prefix}{key}=[{quoted}]" if key in LISTS and value != "null" else f"{prefix}{key}={quoted}"


def check_options(command: str, words: list[str]) -> None:
    """Raise `ConfigError` for a list or a number where one option is chosen by its name; Hydra's words are others."""
    for word in words:
        key, _, value = word.partition("=")
        _check_option(command, key, value)


def _check_option(command: str, key: str, value: str) -> None:
    if not (value.startswith("[") or re.fullmatch(r"-?[\d.]+", value)):
        return
    if not (conf_folder() / key).is_dir():
        return
    defaults = yaml.safe_load((conf_folder() / f"{command}.yaml").read_text(encoding="utf-8")).get("defaults", [])
    if any(isinstance(one, dict) and key in one and not isinstance(one[key], list) for one in defaults):
        options = ", ".join(sorted(path.stem for path in (conf_folder() / key).glob("*.yaml")))
        raise ConfigError(f"{key}: found {value}; expected one of {options}. Several, one after the other: --multirun")


def _split_list(text: str) -> list[str]:
    """Split at commas outside brackets and outside quoted items."""
    parts, start, inside, depth = [], 0, "", 0
    for position, character in enumerate(text):
        if inside:
            inside = "" if character == inside else inside
        elif character in "'\"" and not text[start:position].strip():
            inside = character
        elif character in "([":
            depth += 1
        elif character in ")]":
            depth = max(depth - 1, 0)
        elif character == "," and not depth:
            parts.append(text[start:position])
            start = position + 1
    return [*parts, text[start:]]


def quote(value: str) -> str:
    """Return a value as a Hydra quoted string, unless it is null, missing (``???``) or quoted already."""
    if value in ("null", "???") or (len(value) > 1 and value[0] == value[-1] and value[0] in "'\""):
        return value
    if value == "~" or value.startswith("~/"):
        value = str(Path(value).expanduser())
    # Hydra's rule: backslashes count double only where they end up before the closing or an inner quote.
    escaped = re.sub(r"(\\*)'", lambda found: found[1] * 2 + "\\'", value)
    trailing = len(escaped) - len(escaped.rstrip("\\"))
    return f"'{escaped}{escaped[len(escaped) - trailing :]}'"
