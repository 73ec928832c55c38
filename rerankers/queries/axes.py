"""Axes of balance: for each attribute the distribution over its groups that results are wanted to have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from rerankers._base.errors import ConfigError, InputError, choose
from rerankers.methods.targets.file import ANY, read_shares
from rerankers.queries.axis_scores import Axis as AxisOfQuery
from rerankers.queries.axis_scores import joint_axis
from rerankers.queries.distributions import CLOSENESS, Distribution, closeness, distribution, unresolved
from rerankers.values.groups import UNKNOWN, UNKNOWN_POLICIES

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.values import Collection, GroupAlignment

    Floats = NDArray[np.float64]

TARGETS: Final = ("uniform", "population", "relevant")
"""Words for targets; anything else is a file of shares."""
NO_TARGET: Final = "no_target"
NO_RELEVANT: Final = "no_relevant_document_with_a_label"


@dataclass(frozen=True, slots=True, eq=False)
class Axis:
    """One attribute with its targets.

    Attributes
    ----------
    name
        of the attribute.
    alignment
        documents and groups; what is unknown is stated.
    unknown
        policy for weight without a label (`distribution`).
    kind
        of closeness.
    target
        the word or file behind the targets; ``none`` for ``entropy``.
    targets
        query id, or ``*`` -> float64 (groups,) that sums to 1; a query without one has no value on this axis.
    """

    name: str
    alignment: GroupAlignment
    unknown: str
    kind: str
    target: str
    targets: Mapping[str, Floats]

    @property
    def groups(self) -> tuple[str, ...]:
        """The categories of its distributions."""
        return (*self.alignment.groups, UNKNOWN) if self.unknown == "count" else self.alignment.groups

    def target_of(self, query: str) -> Floats | None:
        """Return the target of a query."""
        return self.targets.get(query, self.targets.get(ANY))

    def of_query(self, query: str, least_coverage: float = 0.0) -> AxisOfQuery | None:
        """Return the axis with the target of one query, as policies take it; None for a query without a target."""
        target = self.target_of(query)
        if target is None and self.kind != "entropy":
            return None
        named = None if target is None else dict(zip(self.groups, target.tolist(), strict=True))
        return AxisOfQuery(self.name, self.alignment, named, self.kind, self.unknown, least_coverage)

    def distribution(self, docs: Any, weights: Any) -> Distribution:
        """Return how weighted documents are shared by the groups."""
        return distribution(self.alignment, docs, weights, self.unknown)

    def closeness(self, found: Distribution, query: str) -> tuple[float | None, str]:
        """Return how close a distribution is to the target of a query, and why it has no value where it has none."""
        if found.shares is None:
            return None, found.reason
        target = self.target_of(query)
        if target is None and self.kind != "entropy":
            return None, NO_RELEVANT if self.target == "relevant" else NO_TARGET
        return closeness(found.shares, target, self.kind), ""


def parsed_targets(value: Any, attributes: Sequence[str]) -> dict[str, str]:
    """Return attribute -> word or file.

    Parameters
    ----------
    value
        a word of `TARGETS` or a file for all attributes; or ``{economy: uniform, age: FILE}``, as a mapping or as it
        is typed; attributes that are not named take ``uniform``.

    Raises
    ------
    ConfigError
        for an attribute that is not there, or something else than a word.
    """
    if isinstance(value, str) and value.startswith("{") and value.endswith("}"):
        items = [item.partition(":") for item in value[1:-1].split(",") if item.strip()]
        value = {key.strip().strip("'\""): word.strip().strip("'\"") for key, _, word in items}
    if isinstance(value, str) and value:
        return dict.fromkeys(attributes, value)
    if not isinstance(value, Mapping):
        raise ConfigError(f"targets: found {value!r}; expected {', '.join(TARGETS)}, a file, or {{attribute:word}}")
    for key, word in value.items():
        choose("targets", str(key), attributes)
        if not isinstance(word, str) or not word:
            raise ConfigError(f"targets.{key}: found {word!r}; expected {', '.join(TARGETS)}, or a file")
    return {name: str(value.get(name, "uniform")) for name in attributes}


def crossed(name: str, alignments: Mapping[str, GroupAlignment]) -> GroupAlignment:
    """Return the combinations of the groups of several attributes: a document's shares multiplied.

    What is known of a document is the part that has a label on every attribute.

    Parameters
    ----------
    name
        attributes with ``*`` between them, such as ``economy*access``.
    alignments
        attribute -> alignment that states what is unknown.

    Raises
    ------
    ConfigError
        for a single or repeated attribute, or one that is not there.
    """
    parts = [choose("crossed", one.strip(), list(alignments)) for one in name.split("*")]
    if len(set(parts)) < max(len(parts), 2):
        raise ConfigError(f"crossed: found {name!r}; expected different attributes, such as economy*access")
    uniform = {one: dict.fromkeys(alignments[one].groups, 1.0) for one in parts}
    joint = joint_axis([AxisOfQuery(one, alignments[one], uniform[one]) for one in parts]).alignment
    row = np.repeat(np.arange(joint.n_docs), np.diff(joint.indptr))
    known = np.bincount(row, joint.weight, minlength=joint.n_docs)
    return replace(joint, attribute=name, unknown=np.clip(1.0 - known, 0.0, 1.0))


def make_axes(
    alignments: Mapping[str, GroupAlignment],
    collection: Collection,
    targets: Any = "uniform",
    unknown: str = "drop",
    kind: str = "jsd",
) -> list[Axis]:
    """Return the axes of attributes.

    Parameters
    ----------
    alignments
        attribute -> alignment over the collection's documents, not resolved, or resolved by ``count``.
    collection
        whose documents are the population, and whose judgments say what is relevant.
    targets
        see `parsed_targets`. ``uniform``: every group alike; ``population``: as all documents of the collection;
        ``relevant``: as the judged-relevant documents of the topic; a file: CSV or TSV ``qid,cell,value``.
    unknown, kind
        see `distribution` and `closeness`. With ``unknown=count`` targets have a category ``unknown`` too: uniform
        takes it for a group, population and relevant have its share, a file has to name it.

    Raises
    ------
    ConfigError
        for unknown words.
    InputError
        for an attribute that no document has a label of, and with every problem of a file.
    """
    choose("unknown", unknown, UNKNOWN_POLICIES)
    choose("closeness", kind, CLOSENESS)
    words = parsed_targets(targets, list(alignments))
    bare = []
    for name, given in alignments.items():
        alignment = unresolved(given)
        if not len(alignment.weight) or not alignment.weight.any():
            raise InputError.one(
                f"groups {name!r}", "no document with a label", "labels of at least some documents of the collection"
            )
        target = "none" if kind == "entropy" else words[name]
        if target not in (*TARGETS, "none") and not Path(target).suffix:
            choose(f"targets.{name}", target, TARGETS)
        bare.append(Axis(name, alignment, unknown, kind, target, {}))
    _check_files(bare, words)
    return [replace(axis, targets=_targets(axis, collection)) for axis in bare]


def _targets(axis: Axis, collection: Collection) -> dict[str, Floats]:
    groups = axis.groups
    if axis.target == "none":
        return {}
    if axis.target == "uniform":
        return {ANY: np.full(len(groups), 1.0 / len(groups))}
    if axis.target == "population":
        shares = axis.distribution(np.arange(axis.alignment.n_docs), np.ones(axis.alignment.n_docs)).shares
        return {} if shares is None else {ANY: shares}
    if axis.target == "relevant":
        return _relevant(axis, collection)
    found = read_shares(axis.target)
    vectors = {qid: found.vector(qid, axis.name, groups) for qid in found.by_query}
    named = {qid: vector for qid, vector in vectors.items() if vector.any()}
    if not named:
        expected = f"shares of groups of {axis.name}: {', '.join(groups)}"
        raise InputError.one(axis.target, f"no cell of {axis.name}", expected)
    return named


def _relevant(axis: Axis, collection: Collection) -> dict[str, Floats]:
    judged = collection.judgments
    ids = collection.topics.ids.take(judged.query)
    out = {}
    for row, qid in enumerate(ids):
        part = judged.row(row)
        docs = judged.doc[part][judged.grade[part] > 0]
        shares = axis.distribution(docs, np.ones(len(docs))).shares
        if shares is not None:
            out[qid] = shares
    return out


def _check_files(axes: Sequence[Axis], words: Mapping[str, str]) -> None:
    """Raise `InputError` with the cells of target files that are groups of no axis that reads the file."""
    for file in dict.fromkeys(word for word in words.values() if word not in TARGETS):
        mine = {axis.name: axis.groups for axis in axes if axis.target == file}
        if mine:
            read_shares(file).check_groups(mine)
