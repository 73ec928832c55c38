"""What a class of the user's own says of itself."""

from __future__ import annotations


def first_sentence(kind: type[object]) -> str:
    """Return the first line of a class's own docstring, without its full stop; ``""`` where there is none.

    The text that a dataclass makes of its fields where nobody wrote a docstring does not count.
    """
    lines = (kind.__dict__.get("__doc__") or "").strip().splitlines()
    first = str(lines[0]).strip() if lines else ""
    return "" if first.startswith(f"{kind.__name__}(") else first.rstrip(".")
