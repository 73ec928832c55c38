"""YAML from files that nobody vouches for: plain values, and no text that is small but means very much."""

from __future__ import annotations

from typing import Any

import yaml

from rerankers._base.json_text import DEEPEST

MOST = 1_000_000
"""Values in a text, each repeat of an anchored one counted: a few lines of aliases of aliases can mean billions."""

Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""Makes plain values only, and knows no tags of Python; in C where PyYAML was built with it."""


class TooMuchError(ValueError):
    """A text that means more than is read, or holds itself."""


def parse_yaml(text: str) -> Any:
    """Return the value of a YAML text.

    Raises
    ------
    ValueError
        when it is none, is nested more than 200 levels deep, holds itself, or means more than a million values.
    """
    try:
        check_size(text)
        loader = Loader(text)
        try:
            return loader.get_single_data()
        finally:
            loader.dispose()
    except (yaml.YAMLError, RecursionError, OverflowError, TypeError, AttributeError) as error:
        # Errors of other kinds come from texts that look like dates or numbers and are none.
        raise ValueError(" ".join(str(error).split()) or type(error).__name__) from error


def check_size(text: str) -> None:
    """Count levels and values by the events of the parser, before anything is built.

    Raises
    ------
    TooMuchError
        as `parse_yaml`.
    yaml.YAMLError
        for a text that is no YAML.
    """
    open_nodes: list[tuple[str | None, int]] = []  # anchor, and values when it began
    size_of: dict[str, int] = {}
    count = 0
    for event in yaml.parse(text, Loader=Loader):
        if isinstance(event, yaml.AliasEvent):
            if event.anchor not in size_of and any(anchor == event.anchor for anchor, _ in open_nodes):
                raise TooMuchError(f"*{event.anchor} within itself")
            count += size_of.get(event.anchor, 1)
        elif isinstance(event, yaml.CollectionStartEvent):
            open_nodes.append((event.anchor, count))
            size_of.pop(event.anchor, None)  # the same name anew
            count += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            anchor, before = open_nodes.pop()
            if anchor is not None:
                size_of[anchor] = count - before
        elif isinstance(event, yaml.ScalarEvent):
            count += 1
            if event.anchor is not None:
                size_of[event.anchor] = 1
        if len(open_nodes) > DEEPEST:
            raise TooMuchError(f"more than {DEEPEST} levels deep")
        if count > MOST:
            raise TooMuchError(f"more than {MOST:,} values, repeats of anchors counted")
