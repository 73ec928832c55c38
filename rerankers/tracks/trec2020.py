"""The evaluation of TREC Fair Ranking 2020 (Biega, Diaz, Ekstrand, Feldman and Kohlmeier 2021), both tasks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from rerankers._base.errors import ConfigError, choose
from rerankers.collections.lift import MIXED_POLICIES
from rerankers.exposure import DCG, GERR, RBP
from rerankers.tracks.groups2020 import GroupRules
from rerankers.tracks.judged2020 import PairRules
from rerankers.tracks.lists import DUPLICATES, EMPTY
from rerankers.tracks.official2020 import NORMALISE, UserModel
from rerankers.tracks.preset import departures
from rerankers.tracks.scoring2020 import Rules
from rerankers.values.groups import UNKNOWN_POLICIES

if TYPE_CHECKING:
    from rerankers.exposure.browsing import BrowsingModel
    from rerankers.tracks.preset import Inputs, Outcome

BROWSING = ("gerr", "rbp", "log2")
WORDS: Mapping[str, Sequence[str]] = {
    "browsing": BROWSING,
    "loss": ("squared", "l2", "js"),
    "mixed_policy": MIXED_POLICIES,
    "unannotated_policy": UNKNOWN_POLICIES,
    "normalise": NORMALISE,
    "missing_query": ("official_default", "zero_exposure", "error"),
    "empty_ranking": EMPTY,
    "negative_grade": ("own_level", "level", "as_zero"),
    "duplicates": DUPLICATES,
    "zero_disparity": ("inf", "zero"),
    "universe": ("judged", "ranked"),
    "group_column": ("whole_numbers", "any"),
}


@dataclass(frozen=True, slots=True)
class Trec2020:
    """A preset of 2020; the defaults are the corrected form of the rerank task.

    Parameters
    ----------
    name
        what it is called in results.
    complete
        True, rerank: all judged documents count. False, retrieval: those of a grade above 0 count; others, and
        documents without judgment, take ranks.
    browsing, patience, satisfaction
        ``gerr``, ``rbp`` or ``log2``; p and u in [0, 1] where the model has them.
    binarize
        whether grades above 0 are all 1.
    loss
        ``squared``, as published; ``l2``, its root, as the guidelines wrote; ``js``: the Jensen-Shannon divergence of
        the shares of exposure and target, in nats. Where it is not ``l2`` and nothing is normalised, the root stands
        beside it under ``EEL_l2``.
    attribute
        of the group file, for annotations ``level`` or ``h_class``; None: ``level``, or the file's only one.
    mixed_policy
        what a document of several groups in a group file belongs to: ``own_group``: "mixed", id 3 of the track;
        ``full``: each in full; ``split``, ``drop``, ``up``, ``down``. Groups in a column of the judgments stand as
        they are, in full.
    order
        the groups from low to high, for ``up`` and ``down``; known for the track's own annotations.
    unannotated_policy
        documents without a group: ``count``: a group of their own; ``drop``; ``spread``.
    normalise
        ``none``, or by the bounds of one of two versions of the official code: ``tools_ba07124``,
        ``expeval_69ab070``.
    missing_query
        judged queries without a ranking: ``official_default``: its bounds take the place of values, so that such a
        query has no group loss at all; ``zero_exposure``: EED = EER = 0 and EEL = EET; ``error``.
    empty_ranking
        rankings without documents: ``count``, with zero exposure, or ``ignore``.
    negative_grade
        ``own_level``: a level below 0 with a wrong factor in its target; ``level``: the same with the right one (the
        mean over all rankings by grade); ``as_zero``.
    duplicates
        a document that comes twice in a ranking: ``accumulate``, ``first``, ``error``; `read_lists` says how ranks
        are read with each.
    zero_disparity
        the disparity of a run without any exposure: ``inf`` or ``zero``.
    universe
        documents whose exposure is in the EED and EEL of documents: ``judged``, or ``ranked`` ones too.
    group_column
        groups in a column of the judgments: ``whole_numbers`` joined with ``|``, or ``any`` names joined with ``|``
        or commas.

    Raises
    ------
    ConfigError
        for other words or numbers.
    """

    name: str = "trec2020_corrected"
    complete: bool = True
    browsing: str = "gerr"
    patience: float = 0.5
    satisfaction: float = 0.5
    binarize: bool = False
    loss: str = "squared"
    attribute: str | None = None
    mixed_policy: str = "own_group"
    order: list[str] | None = None
    unannotated_policy: str = "count"
    normalise: str = "none"
    missing_query: str = "error"
    empty_ranking: str = "count"
    negative_grade: str = "as_zero"
    duplicates: str = "error"
    zero_disparity: str = "zero"
    universe: str = "judged"
    group_column: str = "any"

    def __post_init__(self) -> None:
        for option, words in WORDS.items():
            choose(f"preset.{option}", getattr(self, option), words)
        for option in ("patience", "satisfaction"):
            value = getattr(self, option)
            if not 0 <= value <= 1:
                raise ConfigError(f"preset.{option}: found {value}; expected a number from 0 to 1")
        if self.bounded and (self.patience == 1 or self.browsing == "log2"):
            raise ConfigError(
                f"preset.{'patience' if self.browsing != 'log2' else 'browsing'}: the official bounds, which "
                "missing_query=official_default and normalise need, are for gerr and rbp with a patience below 1"
            )
        if self.loss != "squared" and self.normalise != "none":
            raise ConfigError(f"preset.loss: found {self.loss}; expected squared, which is what normalise is about")

    @property
    def bounded(self) -> bool:
        """Whether the official bounds are needed."""
        return self.missing_query == "official_default" or self.normalise != "none"

    @property
    def model(self) -> BrowsingModel:
        """The browsing model."""
        if self.browsing == "log2":
            return DCG()
        return RBP(self.patience) if self.browsing == "rbp" else GERR(self.patience, self.satisfaction)

    @property
    def pair_rules(self) -> PairRules:
        """How judgments are read."""
        return PairRules(
            complete=self.complete,
            binarize=self.binarize,
            as_zero=self.negative_grade == "as_zero",
            united=self.duplicates == "accumulate",
            whole_groups=self.group_column == "whole_numbers",
        )

    @property
    def group_rules(self) -> GroupRules:
        """How a group file is read."""
        return GroupRules(self.attribute, self.mixed_policy, self.unannotated_policy, self.order)

    @property
    def rules(self) -> Rules:
        """How exposure is scored."""
        return Rules(
            browsing=self.model,
            model=UserModel(self.patience, self.satisfaction, self.browsing == "rbp"),
            loss=self.loss,
            complete=self.complete,
            ranked_too=self.universe == "ranked",
            negative=self.negative_grade,
            normalise=self.normalise,
            missing_default=self.missing_query == "official_default",
            infinite_zero=self.zero_disparity == "inf",
        )

    @property
    def differences(self) -> tuple[str, ...]:
        """One sentence for each option that is not that of the corrected form of the same task."""
        return departures(self, replace(CORRECTED, complete=self.complete), ABOUT)

    def evaluate(self, inputs: Inputs) -> Outcome:
        """Judge runs; anchors stand beside them.

        Raises
        ------
        InputError
            with every problem of a file, and every missing query.
        ConfigError
            where there are no judgments, options do not fit the files, or a file is given that has no use here.
        """
        from rerankers.tracks.evaluate2020 import evaluate

        return evaluate(self, inputs)


CORRECTED = Trec2020()
OFFICIAL: Mapping[str, Any] = {
    "missing_query": "official_default",
    "empty_ranking": "ignore",
    "negative_grade": "own_level",
    "duplicates": "accumulate",
    "zero_disparity": "inf",
    "universe": "ranked",
    "group_column": "whole_numbers",
}
"""What the official form does differently."""

ABOUT: Mapping[str, str] = {
    "browsing": "how users look at rankings",
    "patience": "how users look at rankings",
    "satisfaction": "how users look at rankings",
    "binarize": "grades above 0 made equal",
    "loss": "squared or rooted loss",
    "attribute": "attribute of the groups",
    "mixed_policy": "documents of several groups",
    "order": "order of the groups",
    "unannotated_policy": "documents without a group, so that the numbers are not comparable with published ones",
    "normalise": "normalised by bounds that hold for satisfaction 0.5 only, and are 0 for the relevance of groups",
    "missing_query": "judged queries without a ranking; the official default makes their group loss 0, a perfect score",
    "empty_ranking": "rankings without documents",
    "negative_grade": "grades below 0; a level of their own has a wrong factor in its target",
    "duplicates": "documents twice in a ranking or in the judgments, ranks that repeat",
    "zero_disparity": "disparity where no document that counts has any exposure",
    "universe": "documents whose exposure is in EED and EEL of documents",
    "group_column": "groups in a column of the judgments",
}


def preset(name: str) -> Trec2020:
    """Return one of the six presets; ``trec2020_official`` and ``trec2020_corrected`` are those of the rerank task."""
    built = replace(CORRECTED, name=name, complete="retrieval" not in name)
    return replace(built, **OFFICIAL) if name.endswith("_official") else built
