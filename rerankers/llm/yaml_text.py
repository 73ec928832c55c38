"""YAML files that people write: read safely, and every problem with its line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from rerankers._base.errors import InputError, Problems
from rerankers._base.files import read_lines
from rerankers._base.yaml_values import parse_yaml


@dataclass(frozen=True, slots=True)
class YamlFile:
    """A file that is a mapping, and where its parts are.

    Attributes
    ----------
    value
        what it says.
    lines
        path of keys and places, such as ``("messages", 0, "role")`` -> line, from 1.
    """

    value: Mapping[str, Any]
    lines: Mapping[tuple[str | int, ...], int]

    def line(self, *path: str | int) -> int:
        """Return the line of a part, or of the nearest part around it."""
        while path not in self.lines:
            path = path[:-1]
        return self.lines[path]


def read_yaml(path: Path, known: Sequence[str]) -> YamlFile:
    """Return the mapping of a file.

    Raises
    ------
    MissingError
        when there is no such file.
    InputError
        with the line: what is no YAML, no mapping, a key that is not among ``known`` or comes twice.
    """
    text = "\n".join(line for _, line in read_lines(path))
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)  # in Python: its marks are those of the lines
        value = parse_yaml(text)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        mark = getattr(error.__cause__ or error, "problem_mark", None)
        found = f"no YAML ({getattr(error.__cause__ or error, 'problem', None) or error})"
        raise InputError.one(str(path), found, "YAML", line=mark.line + 1 if mark else None) from None
    if not isinstance(value, dict) or root is None:
        raise InputError.one(str(path), "no mapping", f"a mapping with the keys {', '.join(known)}", line=1)
    problems = Problems(str(path))
    lines: dict[tuple[str | int, ...], int] = {(): 1}
    for place, node in _walk(root, ()):
        line = node.start_mark.line + 1
        if place in lines and place:
            problems.add(line, f"the key {place[-1]!r} twice", "each once")
        lines[place] = line
        if len(place) == 1 and place[0] not in known:
            problems.add(line, f"the key {place[0]!r}", f"one of {', '.join(known)}")
    problems.raise_if_any()
    return YamlFile(value, lines)


def _walk(node: yaml.Node, place: tuple[str | int, ...]) -> Iterator[tuple[tuple[str | int, ...], yaml.Node]]:
    """Yield every key and list entry with its place; aliases are not followed twice, so that no file grows."""
    stack: list[tuple[yaml.Node, tuple[str | int, ...]]] = [(node, place)]
    seen: set[int] = set()
    while stack:
        here, path = stack.pop()
        if id(here) in seen:
            continue
        seen.add(id(here))
        pairs: list[tuple[str | int, yaml.Node, yaml.Node]] = []
        if isinstance(here, yaml.MappingNode):
            pairs = [(key.value if isinstance(key.value, str) else "", key, value) for key, value in here.value]
        elif isinstance(here, yaml.SequenceNode):
            pairs = [(number, value, value) for number, value in enumerate(here.value)]
        for name, at, value in pairs:
            yield (*path, name), at
            stack.append((value, (*path, name)))
