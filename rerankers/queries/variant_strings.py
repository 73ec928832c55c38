"""Rows of what sets of variants share as texts, with floors, a ceiling and equal numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations

import numpy as np

from rerankers.queries.normalise import normalise
from rerankers.queries.rarefaction import ExpectedOverlap, equal_number_overlap, split_half_overlap
from rerankers.queries.sets import VariantSet
from rerankers.queries.string_overlap import string_overlap
from rerankers.queries.variant_baselines import other_topics, random_term_overlap
from rerankers.queries.variant_options import AnalysisOptions
from rerankers.queries.variant_rows import BETWEEN, CEILING, EQUAL, FLOOR, VALUE, Key, Row, row_of

FORMS = ("jaccard", "coverage_of_human", "coverage_of_generated")
EXPECTED = ("jaccard_of_expectations", "coverage_of_human", "coverage_of_generated")

Texts = tuple[str, ...]
Forms = Mapping[str, float | None]


def string_rows(
    human: VariantSet, generated: Sequence[VariantSet], topics: Sequence[str], options: AnalysisOptions
) -> Iterator[Row]:
    """Yield the rows of all stages.

    ``string_jaccard`` and so on compare distinct variants. The rows of equal numbers and of the ceiling take as many
    texts of either side as both can give when the human ones are halved, as they came with their repeats, and give
    ratios of expectations over all draws (see `rerankers.queries.rarefaction`).
    """
    other = other_topics([topic for topic in topics if topic in human.texts], options.seed)
    for stage in options.stages:
        for one in generated:
            yield from _compared(VALUE, None, human, one, topics, stage, None)
            yield from _compared(FLOOR, "variants of another topic", human, one, topics, stage, other)
            yield from _forms(
                Key("string", FLOOR, stage, None, "random terms of the topic"),
                human,
                one,
                _both(human, one, topics, random_term_overlap, stage),
            )
            yield from _expected(EQUAL, stage, human, one, topics)
        yield from _expected(CEILING, stage, human, None, topics)
        for one, two in combinations(generated, 2):
            found = _both(one, two, topics, _overlap_forms, stage)
            jaccard = [each if isinstance(each, str) else each["jaccard"] for each in found]
            yield row_of(Key("string_jaccard", BETWEEN, stage), two.name, one.name, jaccard)


def _compared(
    role: str,
    detail: str | None,
    human: VariantSet,
    generated: VariantSet,
    topics: Sequence[str],
    stage: str,
    other: dict[str, str] | None,
) -> Iterator[Row]:
    """Yield the three overlaps, of the human variants with those generated for the topic or for another one."""
    if other is None:
        found = _both(human, generated, topics, _overlap_forms, stage)
    elif not other:
        found = ["fewer_than_two_topics"] * len(topics)
    else:
        moved = {topic: generated.texts[source] for topic, source in other.items() if source in generated.texts}
        own = {topic: texts for topic, texts in moved.items() if topic in generated.texts}
        found = _both(human, VariantSet(generated.name, own), topics, _overlap_forms, stage)
    yield from _forms(Key("string", role, stage, None, detail), human, generated, found)


def _overlap_forms(human: Texts, generated: Texts, stage: str) -> Forms:
    overlap = string_overlap(human, generated, stage)
    return {form: getattr(overlap, form) for form in FORMS}


def _forms(key: Key, human: VariantSet, generated: VariantSet, found: Sequence[Forms | str]) -> Iterator[Row]:
    """Yield one row a form from values by form, or reasons, one a topic."""
    for form in FORMS:
        values = [one if isinstance(one, str) else one[form] for one in found]
        yield row_of(key._replace(measure=f"string_{form}"), generated.name, human.name, values)


def _expected(
    role: str, stage: str, human: VariantSet, generated: VariantSet | None, topics: Sequence[str]
) -> Iterator[Row]:
    """Yield the rows at equal numbers: human texts with generated ones, or two halves of the human ones."""
    repeats = any(len(set(texts)) < len(texts) for texts in human.texts.values())
    found: list[ExpectedOverlap | str] = []
    for topic in topics:
        texts = human.texts.get(topic)
        others = texts if generated is None else generated.texts.get(topic)
        if texts is None or others is None:
            found.append("topic_not_in_set")
        elif generated is None and not repeats:
            found.append("variants_are_distinct")
        else:
            found.append(_at_equal_number(texts, None if generated is None else others, stage))
    detail = "two halves of the human variants" if generated is None else "as many as half of the human variants"
    name = human.name if generated is None else generated.name
    for form in EXPECTED:
        if role == CEILING and form == "coverage_of_generated":
            continue  # the halves are alike: it is the coverage of the other one
        values = [one if isinstance(one, str) else getattr(one, form) for one in found]
        sizes = np.array([np.nan if isinstance(one, str) else one.variants for one in found])
        key = Key(f"string_{form}", role, stage, None, detail)
        yield row_of(key, name, human.name, values, parts={"variants": sizes})


def _at_equal_number(human: Texts, generated: Texts | None, stage: str) -> ExpectedOverlap | str:
    """Return the expected overlap of m texts of either side; texts of which a stage leaves nothing are kept as rows."""
    one = Counter(normalise(text, stage) for text in human)
    one.pop("", None)
    if generated is None:
        m = len(human) // 2
        return split_half_overlap(np.array(list(one.values()), np.int64), len(human), m) if m else "too_few_variants"
    two = Counter(normalise(text, stage) for text in generated)
    two.pop("", None)
    m, texts = min(len(human) // 2, len(generated)), sorted(one.keys() | two.keys())
    counts = [np.array([side[text] for text in texts], dtype=np.int64) for side in (one, two)]
    return equal_number_overlap(counts[0], len(human), counts[1], len(generated), m) if m else "too_few_variants"


def _both(
    one: VariantSet, two: VariantSet, topics: Sequence[str], measure: Callable[[Texts, Texts, str], Forms], stage: str
) -> list[Forms | str]:
    """Return the measures of each topic that both sets have, or the reason why there is none."""
    return [
        measure(one.texts[topic], two.texts[topic], stage)
        if topic in one.texts and topic in two.texts
        else "topic_not_in_set"
        for topic in topics
    ]
