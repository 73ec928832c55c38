"""How many queries two sets of variants share, at a named stage of normalisation.

With H and G the distinct normalised human and generated variants of a topic: |H ∩ G| / |H ∪ G| (Jaccard 1901),
|H ∩ G| / |H| (how much of the human set was found) and |H ∩ G| / |G| (how much of the generated set is human, its
precision). Where a denominator is 0 there is no value.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from rerankers.queries.normalise import normalise_all


@dataclass(frozen=True, slots=True)
class StringOverlap:
    """Overlap of the variants of one topic.

    Attributes
    ----------
    stage
        of normalisation.
    human, generated, shared
        numbers of distinct normalised variants.
    empty_human, empty_generated
        variants of which the stage left nothing; they are no part of the sets.
    """

    stage: str
    human: int
    generated: int
    shared: int
    empty_human: int = 0
    empty_generated: int = 0

    @property
    def jaccard(self) -> float | None:
        """Shared variants by all; None where both sets are empty."""
        return _ratio(self.shared, self.human + self.generated - self.shared)

    @property
    def coverage_of_human(self) -> float | None:
        """Shared variants by human ones; None where there is none."""
        return _ratio(self.shared, self.human)

    @property
    def coverage_of_generated(self) -> float | None:
        """Shared variants by generated ones; None where there is none."""
        return _ratio(self.shared, self.generated)


def string_overlap(human: Iterable[str], generated: Iterable[str], stage: str) -> StringOverlap:
    """Return the overlap of two sets of variants of one topic.

    Parameters
    ----------
    human, generated
        variants, repeats allowed.
    stage
        one of `rerankers.queries.normalise.STAGES`.

    Raises
    ------
    ConfigError
        for another stage.
    """
    one, two = normalise_all(human, stage), normalise_all(generated, stage)
    shared = len(set(one.texts) & set(two.texts))
    return StringOverlap(stage, len(one.texts), len(two.texts), shared, one.counts["empty"], two.counts["empty"])


def _ratio(part: int, whole: int) -> float | None:
    return part / whole if whole else None
