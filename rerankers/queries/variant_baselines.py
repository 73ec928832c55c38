"""Floors of the overlap of variants: those of another topic, and random subsets of a topic's own terms.

A generated set that does no better than the variants of some other topic, or than words thrown together, says
nothing. Both floors can be made as sets of variants, to be retrieved and compared like any other; what random terms
share with the human variants needs no drawing at all and is given exactly.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence

from rerankers._base.errors import InputError
from rerankers._base.streams import generator
from rerankers.queries.normalise import normalise_all
from rerankers.queries.sets import VariantSet


def other_topics(topics: Sequence[str], seed: int) -> dict[str, str]:
    """Return for each topic another one, every topic used once: a random cycle through all of them.

    Parameters
    ----------
    topics
        distinct ids; their order does not matter.
    seed
        of the draw.

    Returns
    -------
    dict, empty for fewer than two topics.
    """
    ordered = sorted(topics)
    if len(ordered) < 2:
        return {}
    cycle = [ordered[at] for at in generator(seed, "another topic").permutation(len(ordered))]
    return dict(zip(cycle, [*cycle[1:], cycle[0]], strict=True))


def other_topic_variants(of: VariantSet, seed: int) -> VariantSet:
    """Return the variants of a set with those of another topic under every topic (`other_topics`).

    Raises
    ------
    InputError
        for a set of fewer than two topics.
    """
    other = other_topics(tuple(of.texts), seed)
    if not other:
        raise InputError.one(of.name, f"{len(of.texts)} topics", "at least two, to take variants of another topic")
    return VariantSet(f"{of.name}:other_topic", {topic: of.texts[other[topic]] for topic in of.texts})


def term_subset_variants(like: VariantSet, terms: VariantSet, seed: int, draw: int = 0) -> VariantSet:
    """Return variants of random terms of a topic, as many and as long as those of a set.

    Parameters
    ----------
    like
        the set whose numbers and lengths (in words, after ``punct``) are taken over.
    terms
        the set whose words are used, topic by topic; no word twice in a variant, in random order.
    seed, draw
        each draw is another set.

    Returns
    -------
    VariantSet
        of the topics that both have; ``counts`` holds ``shortened``, variants longer than the topic has words.
    """
    texts, shortened = {}, 0
    for topic in like.texts:
        words = sorted(
            {word for text in normalise_all(terms.texts.get(topic, ()), "punct").texts for word in text.split()}
        )
        if not words:
            continue
        pick = generator(seed, "term subsets", topic, draw)
        lengths = [len(text.split()) for text in normalise_all(like.texts[topic], "punct").texts]
        shortened += sum(length > len(words) for length in lengths)
        chosen = [pick.permutation(len(words))[:length] for length in lengths]
        texts[topic] = tuple(" ".join(words[at] for at in one) for one in chosen)
    return VariantSet(f"{like.name}:random_terms", texts, {"shortened": shortened})


def random_term_overlap(human: Sequence[str], generated: Sequence[str], stage: str) -> Mapping[str, float | None]:
    """Return what random variants, as many and as long as the generated ones, share with the human ones, exactly.

    Of V distinct words of the human variants, an ordered choice of L without repeats is one of N_L = V! / (V - L)!
    texts (of C(V, L) at the stage ``bag``), all equally likely. A human variant of L different words is then hit by
    one of n_L independent choices with probability 1 - (1 - 1 / N_L)^n_L, and the number of distinct choices is
    expected to be N_L (1 - (1 - 1 / N_L)^n_L).

    Parameters
    ----------
    human, generated
        variants of one topic.
    stage
        of normalisation, at which words are counted.

    Returns
    -------
    dict
        ``coverage_of_human``, ``coverage_of_generated`` and ``jaccard`` as ratios of expected numbers, None where a
        denominator is 0.
    """
    one, two = normalise_all(human, stage).texts, normalise_all(generated, stage).texts
    split = [text.split() for text in one]
    vocabulary = len({word for words in split for word in words})
    targets = Counter(len(words) for words in split if len(set(words)) == len(words))
    lengths = Counter(min(len(text.split()), vocabulary) for text in two)
    shared = distinct = 0.0
    for length, number in sorted(lengths.items()):
        if length:
            found = math.comb(vocabulary, length) if stage == "bag" else math.perm(vocabulary, length)
            # 1 - (1 - 1/N)^n without cancellation; N may be too large for a float
            hit = 1.0 if found == 1 else -math.expm1(number * math.log1p(-_inverse(found)))
            shared += targets[length] * hit
            distinct += min(float(number), hit / _inverse(found)) if _inverse(found) > 0 else number
    union = len(one) + distinct - shared
    return {
        "jaccard": shared / union if union else None,
        "coverage_of_human": shared / len(one) if one else None,
        "coverage_of_generated": shared / distinct if distinct else None,
    }


def _inverse(number: int) -> float:
    """Return 1 / number, 0.0 where it is smaller than any float."""
    return 1 / number
