"""Which measures a ``presence`` computes, by whose labels, and which keys of results belong together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from rerankers.measures.names import Measure, parse, parse_many
from rerankers.measures.plan import plan
from rerankers.values.companions import NEUTRALITY, companion

if TYPE_CHECKING:
    from rerankers.stages.presence_labels import Labellings
    from rerankers.values import GroupAlignment

NFAIRR, CWEX = "NFaiRR", "CWEx"
PARTS: Final = ("neutral", "gap", "unknown")
"""Parts of CWEx beside the score: ``CWEx_gap`` in tables, ``CWEx(of='gap')`` as a measure."""


@dataclass(frozen=True, slots=True, eq=False)
class Presence:
    """What is computed.

    Attributes
    ----------
    measures
        all of them.
    utility
        the key of nDCG.
    keys
        attribute -> measure's short name -> key in results; under ``""`` the keys of nDCG, of the share
        of documents that are judged, and of further measures.
    left_out
        sentences: what cannot be measured, and why.
    """

    measures: tuple[Measure, ...]
    utility: str
    keys: Mapping[str, Mapping[str, str]]
    left_out: tuple[str, ...]

    @classmethod
    def of(
        cls,
        labels: Labellings,
        companions: Mapping[str, GroupAlignment],
        cutoff: int,
        alpha: float,
        further: Sequence[str],
    ) -> Presence:
        """Choose the measures; NFaiRR only where neutralities are known."""
        utility = parse(f"nDCG@{cutoff}")
        judged = parse(f"Judged@{cutoff}")
        measures: list[Measure] = [utility, judged]
        keys: dict[str, dict[str, str]] = {"": {"nDCG": str(utility), "Judged": str(judged)}}
        left_out: list[str] = []
        for attribute in labels.attributes:
            own = keys.setdefault(attribute, {})
            if companion(attribute, NEUTRALITY) in companions:
                own[NFAIRR] = _added(measures, f"NFaiRR(missing='drop',group={attribute!r})@{cutoff}")
            else:
                left_out.append(f"NFaiRR by {attribute}: nothing says how neutral a text is")
            own[CWEX] = _added(measures, f"CWEx(alpha={alpha},group={attribute!r})@{cutoff}")
            for part in PARTS:
                own[f"{CWEX}_{part}"] = _added(measures, f"CWEx(of={part!r},group={attribute!r})@{cutoff}")
        more = parse_many(list(further))
        keys[""] |= {str(one): str(one) for one in plan(more, labels.attributes)}
        return cls(tuple(dict.fromkeys([*measures, *more])), str(utility), keys, tuple(left_out))

    @property
    def shown(self) -> list[str]:
        """The keys of nDCG, of NFaiRR and CWEx by any labels, and of further measures."""
        own = [self.keys[name][one] for name in self.keys if name for one in (NFAIRR, CWEX) if one in self.keys[name]]
        return list(dict.fromkeys([self.utility, *own, *self.keys[""].values()]))

    @property
    def pairs(self) -> list[tuple[str, str, str]]:
        """(measure, its key by the labeller's labels, its key by the given ones), of measures that have both."""
        one, *rest = [attribute for attribute in self.keys if attribute]
        return [
            (name, key, self.keys[other][name])
            for other in rest
            for name, key in self.keys[one].items()
            if name in self.keys[other]
        ]


def _added(measures: list[Measure], text: str) -> str:
    """Add a measure to a list; return its key in results."""
    measures.append(parse(text))
    return str(measures[-1])
