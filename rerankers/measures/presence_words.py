"""RaB, ARaB, nDRaB and TExFAIR of a policy by name; see `rerankers.measures.word_magnitudes` and `texfair`."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.errors import ConfigError, InputError, choose
from rerankers.measures import over_draws
from rerankers.measures.definition import Parameter
from rerankers.measures.group_measure import GROUP, GroupMeasure
from rerankers.measures.presence_cwex import FORM
from rerankers.measures.presence_exposure import (
    depth_of,
    first_ranks,
    log_exposure,
    values_of,
    weighted_means,
)
from rerankers.measures.presence_lists import GENDERS, NEUTRAL
from rerankers.measures.scores import Scores
from rerankers.measures.texfair_score import target_of, texfair_of
from rerankers.measures.word_magnitudes import KINDS, magnitude
from rerankers.values.companions import SHARES, WORDS
from rerankers.values.groups import UNKNOWN

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.measures.evaluation import Evaluation
    from rerankers.measures.names import Measure
    from rerankers.values import GroupAlignment

    Floats = NDArray[np.float64]

MISSING = Parameter(
    "missing",
    str,
    "documents without a text: null = the query has no value either; drop = they keep their rank and add nothing",
    "null",
    ("null", "drop"),
)
OF = Parameter("of", str, "delta = male minus female (where these are the groups), gap = largest minus smallest, or a "
               "group's name; delta unless given, gap of other groups")  # fmt: skip
_ALL = 1.0 - 1e-9
"""A share above this, but for rounding, is all of the weight."""
_WORDS = Parameter("words", str, "tf = ln(1 + number of words), tc = their number, bool = any", "tf", KINDS)


class _OfTexts(GroupMeasure):
    """A measure of what documents carry; groups are looked up for their attribute's name alone."""

    @classmethod
    def depends_on_groups(cls, given: Collection[str]) -> bool:
        """Return False: numbers of words are not labels, there is nothing to shuffle."""
        return False

    @classmethod
    def of_groups(cls, measure: Measure, evaluation: Evaluation, attribute: str) -> Scores:
        """Return the value for an attribute that is there."""
        return cls.per_unit(measure, evaluation)


class RaB(_OfTexts):
    """Mean magnitude of the words of a group, or its difference between groups."""

    name = "RaB"
    description = (
        "mean magnitude of the groups' words in the first k documents, male minus female (of= a group's name or gap); "
        "0 where the groups are level (Rekabsaz & Schedl 2020)"
    )
    parameters = (_WORDS, OF, MISSING, GROUP)

    @classmethod
    def per_unit(cls, measure: Measure, evaluation: Evaluation) -> Scores:
        """Return the value of every query; null (``no_labels``) where nobody counted words."""
        found = values_of(measure, evaluation, WORDS)
        names, columns = _groups(found)
        if found is None or not names:
            return Scores.of(np.full(len(evaluation.over), np.nan), ("no_labels", True))
        strength = replace(found, weight=magnitude(found.weight, str(measure.get("words"))))
        mean, unknown, ranked = weighted_means(cls.name, evaluation, strength, depth_of(measure, evaluation))
        value = _compared(measure, names, mean[:, columns])
        return Scores.of(
            value,
            ("no_ranked_document", ~ranked),
            ("unlabelled_document", unknown > 0 if measure.get("missing") == "null" else False),
            ("no_labels", unknown > _ALL),
            ("fewer_than_two_groups", np.isnan(value)),
        )


class ARaB(RaB):
    """Mean over t = 1..k of RaB at t."""

    name = "ARaB"
    description = (
        "mean over t = 1..k of RaB at t, so that first ranks weigh most, male minus female (of= a group's name or "
        "gap); 0 where the groups are level (Rekabsaz & Schedl 2020)"
    )


class NDRaB(RaB):
    """RaB with logarithmic weights."""

    name = "nDRaB"
    description = (
        "mean magnitude of the groups' words with rank i weighing 1/log2(1+i), male minus female (of= a group's name "
        "or gap); 0 where the groups are level; shorter lists count by the documents they have"
    )


class TExFAIR(_OfTexts):
    """How the words of groups share exposure, discounted by how much of it meets any of them."""

    name = "TExFAIR"
    description = (
        "1 minus TED times RBDF: how far the groups' shares of word exposure are from what they are due (TED), times "
        "the exposure of documents with any such word (RBDF), which of= gives by themselves; at most 1, the best; two "
        "equal groups: at least 0 (Abolghasemi et al. 2024, as we read it)"
    )
    parameters = (
        Parameter("of", str, "score, TED, RBDF, or share and a group's name as in share:female", "score"),
        Parameter("target", str, "uniform, or what each group is due as in 'male:0.7,female:0.3'", "uniform"),
        FORM,
        MISSING,
        GROUP,
    )

    @classmethod
    def per_unit(cls, measure: Measure, evaluation: Evaluation) -> Scores:
        """Return the value of every query; null (``no_labels``) where nobody counted words."""
        found = values_of(measure, evaluation, SHARES)
        names, columns = _groups(found)
        if found is None or not names:
            return Scores.of(np.full(len(evaluation.over), np.nan), ("no_labels", True))
        due, of = _due(measure, names), _of(measure, names)
        k, docs, rows = depth_of(measure, evaluation), evaluation.source.over.doc, len(evaluation.over)
        words = found.totals(np.arange(len(docs)), docs, np.ones(len(docs)), len(docs))[:, columns]
        any_word: NDArray[np.bool_] = np.asarray((words > 0).any(axis=1))
        if measure.get("form") == "expected":
            over, weight = log_exposure(evaluation, k)
            row, pair = over.row_index, np.arange(over.nnz)
            sizes = rows
        else:
            row, pair, rank, shown = first_ranks(evaluation, k)
            weight, sizes = 1.0 / np.log2(rank + 2.0), len(shown)
        total, seen, lost = (
            np.bincount(row, weights=one, minlength=sizes)
            for one in (weight, weight * any_word[pair], weight * found.unknown[docs[pair]])
        )
        scale = np.where(total > 0, total, 1.0)
        exposure = found.totals(row, docs[pair], weight, sizes)[:, columns] / scale[:, np.newaxis]
        counted = lost <= _ALL * total
        value = np.where(counted, _part(of, names, exposure, seen / scale, due), np.nan)
        ranked, unknown = total > 0, lost > 0
        if measure.get("form") == "mean":
            ranking = evaluation.rankings.row_of_ranking
            value = over_draws.mean(evaluation.rankings, np.where(ranked, value, np.nan))
            ranked, unknown, counted = (
                np.bincount(ranking, weights=one, minlength=rows) > 0 for one in (ranked, unknown, counted & ranked)
            )
        return Scores.of(
            value,
            ("no_ranked_document", ~ranked),
            ("unlabelled_document", unknown if measure.get("missing") == "null" else False),
            ("no_labels", ~counted),
            ("no_group_words", np.isnan(value)),
        )


def _groups(found: GroupAlignment | None) -> tuple[list[str], list[int]]:
    """Return the groups whose words are counted, and their columns."""
    names = () if found is None else found.groups
    columns = [place for place, name in enumerate(names) if name not in (NEUTRAL, UNKNOWN)]
    return [names[place] for place in columns], columns


def _compared(measure: Measure, names: list[str], mean: Floats) -> Floats:
    """Return the difference or the group that is asked for, float64 (B,); NaN where there is nothing to compare."""
    genders = set(names) == set(GENDERS)
    of = str(dict(measure.params).get("of", "delta" if genders else "gap"))
    choose(f"measure {measure}, of", of, [*(["delta"] if genders else []), "gap", *names])
    if of in names:
        return np.asarray(mean[:, names.index(of)])
    if len(names) < 2:
        return np.full(len(mean), np.nan)
    if of == "delta":
        return np.asarray(mean[:, names.index("male")] - mean[:, names.index("female")])
    return np.asarray(mean.max(axis=1) - mean.min(axis=1))


def _of(measure: Measure, names: list[str]) -> str:
    words = ["score", "TED", "RBDF", *(f"share:{name}" for name in names)]
    return choose(f"measure {measure}, of", str(measure.get("of")), words)


def _part(of: str, names: list[str], exposure: Floats, seen: Floats, due: Floats) -> Floats:
    score, ted = texfair_of(exposure, seen, due)
    if of in ("score", "TED", "RBDF"):
        return {"score": score, "TED": ted, "RBDF": seen}[of]
    total = exposure.sum(axis=1)
    mine = exposure[:, names.index(of.partition(":")[2])]
    return np.where(total > 0, mine / np.where(total > 0, total, 1.0), np.nan)


def _due(measure: Measure, names: list[str]) -> Floats:
    text = str(measure.get("target"))
    try:
        if text == "uniform":
            return target_of(None, tuple(names))
        parts = [part.rpartition(":") for part in text.split(",")]
        return target_of({name.strip(): float(share) for name, _, share in parts}, tuple(names))
    except InputError as error:
        raise ConfigError(f"measure {measure}: {error}") from error
    except ValueError:
        raise ConfigError(
            f"measure {measure}, target: found {text!r}; expected uniform, or group:share as in 'male:0.7,female:0.3'"
        ) from None
