"""Options of a call sorted out: words for Hydra, objects in the place of config nodes, frames that become files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rerankers._base.errors import ConfigError
from rerankers.api.held import describe, node_of
from rerankers.api.inputs import candidates_file
from rerankers.api.part_files import as_file
from rerankers.api.words import Override, is_word, pairs_of, written
from rerankers.stages.config_parts import NEEDED

OFFERS = {**NEEDED, "ledger": "open"}
"""Config group -> what its objects can do."""
BESIDE = {"method": ("model",), "objective": ("fairness_weight", "unfairness")}
"""Options of a group that are no fields of its objects, and stay words beside an object."""


@dataclass
class Parts:
    """The options of one call.

    Attributes
    ----------
    words
        for Hydra, in order.
    nodes
        config group -> the node that stands for an object.
    held
        config group -> an object that only this process has.
    described
        config group -> its object in words, for the record of what was called.
    measures
        name -> the node of a measure of the caller's own.
    """

    words: list[str] = field(default_factory=list)
    nodes: dict[str, dict[str, Any]] = field(default_factory=dict)
    held: dict[str, Any] = field(default_factory=dict)
    described: dict[str, str] = field(default_factory=dict)
    measures: dict[str, dict[str, Any]] = field(default_factory=dict)

    def put(self, part: str, value: Any) -> None:
        """Put an object in the place of a part's options."""
        self.nodes[part], by_hand = node_of(part, value)
        self.described[part] = describe(value)
        if by_hand:
            self.held[part] = value

    def put_measures(self, own: Mapping[str, Any]) -> None:
        """Take in measures of the caller's own, by name."""
        for name, value in own.items():
            part = f"measures.own.{name}"
            self.measures[str(name)], by_hand = node_of(part, value)
            self.described[part] = describe(value)
            if by_hand:
                self.held[part] = value

    def check(self) -> None:
        """Raise `ConfigError` for words about a part that is an object: they would have no effect."""
        for word in self.words:
            key = word.lstrip("+~").partition("=")[0]
            group, _, rest = key.partition(".")
            if group in self.nodes and rest not in BESIDE.get(group, ()):
                raise ConfigError(f"{key}: found {word!r} beside {group} as an object; set it in the object")


def parts_of(command: str, overrides: tuple[Override, ...], options: Mapping[str, Any], inputs: Path) -> Parts:
    """Sort out the options of a call; what is in memory and has a file form is written to ``inputs``.

    Raises
    ------
    ConfigError
        for what no option can be.
    InputError
        for frames that are wrong.
    """
    parts = Parts()
    for key, value in pairs_of(overrides, options):
        if is_word(value):
            parts.words.append(key)
        elif key == "measures.own" and isinstance(value, Mapping):
            parts.put_measures(value)
        elif key == "candidates" and command != "candidates":
            _candidates(parts, value, inputs)
        elif (own := as_file(command, key, value, inputs)) is not None:
            parts.words += own
        elif _is_object(key, value):
            _put(parts, key, value)
        elif key in OFFERS and not isinstance(value, _PLAIN):
            raise ConfigError(
                f"{key}: found {type(value).__name__}; expected the name of an option, or an object with "
                f"{OFFERS[key]}()"
            )
        else:
            parts.words.append(written(key, _plain(key, value)))
    parts.check()
    return parts


_PLAIN = (str, Path, bool, int, float, type(None), list, tuple, Mapping)


def _candidates(parts: Parts, value: Any, inputs: Path) -> None:
    path = value if isinstance(value, str | Path) else candidates_file(value, inputs)
    parts.words += ["retriever=run_file", f"retriever.run={path}"]


def _put(parts: Parts, key: str, value: Any) -> None:
    if isinstance(value, type):
        kind = value.__name__
        raise ConfigError(f"{key}: found the class {kind}; expected an object of it: {kind}()")
    if key == "target" and isinstance(value, Mapping):
        from rerankers.methods.targets import as_target

        parts.put(key, as_target(value))
    elif key == "collection" and not callable(getattr(value, "load", None)):
        parts.put(key, Given(value))
    else:
        parts.put(key, value)


def _is_object(key: str, value: Any) -> bool:
    if key == "target" and isinstance(value, Mapping):
        return True
    if key == "collection" and hasattr(value, "topics") and hasattr(value, "judgments"):
        return True
    return key in OFFERS and not isinstance(value, str) and callable(getattr(value, OFFERS[key], None))


@dataclass(frozen=True)
class Given:
    """A collection that is loaded already, in the place of the options of one."""

    collection: Any

    def load(self) -> Any:
        """Return it."""
        return self.collection

    @property
    def name(self) -> str:
        """Its name."""
        return str(self.collection.name)

    @property
    def fingerprint(self) -> str:
        """Of its content."""
        return str(self.collection.fingerprint)


def _plain(key: str, value: Any) -> Any:
    """Return results as their folder, and measures as their names."""
    from rerankers.measures import Measure

    if hasattr(value, "folder"):
        return Path(str(value.folder))
    if isinstance(value, Measure):
        return [str(value)]
    if isinstance(value, list | tuple):
        return [str(one) if isinstance(one, Measure) else _plain(key, one) for one in value]
    return value
