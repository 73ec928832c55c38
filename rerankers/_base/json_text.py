"""JSON from files that nobody vouches for."""

from __future__ import annotations

import json
import re
from typing import Any

DEEPEST = 200
"""Levels of nesting that are read. Python's own reader recurses in C, and where a Java virtual machine has narrowed the
stack of the main thread a deep line would end the process."""

# A text that never closes is one token too: else every quote in it is tried anew.
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*+(?:"|\\?\Z)|[\[\]{}]', re.DOTALL)


def parse_json(text: str) -> Any:
    """Return the value of a JSON text.

    Raises
    ------
    ValueError
        when it is none, or is nested more than 200 levels deep.
    """
    # A text with few brackets cannot be deep: nearly all lines cost two counts.
    if text.count("[") + text.count("{") > DEEPEST and _depth(text) > DEEPEST:
        raise ValueError(f"brackets more than {DEEPEST} levels deep")
    return json.loads(text)


def _depth(text: str) -> int:
    depth = deepest = 0
    for token in _TOKEN.finditer(text):
        if token[0] in "[{":
            depth += 1
            deepest = max(deepest, depth)
        elif token[0] in "]}":
            depth -= 1
    return deepest
