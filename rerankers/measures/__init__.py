"""Measures of stochastic rankings: expected exposure of documents and groups, utility, classic measures.

`evaluate` judges small runs in memory. Larger jobs build one `Evaluation` a block and `measure_block` it.

What cannot be computed is null with a reason, never missing and never 0:

================================  ==========================================================================
case                              what happens
================================  ==========================================================================
query without any judgment        every measure is null: ``query_not_judged``
judged, nothing relevant          AP, nDCG, R, RR are null: ``no_relevant_document``; EEL, EED, EER, EET are
                                  computed (all documents are one grade: the target is uniform); utility, P are 0
no groups were given, or all are  measures of groups are null: ``no_groups``
unknown and dropped or spread
nothing is ranked                 exposure is 0: EEL is EET, EED, EER, utility and the classic measures are 0;
                                  Judged is null: ``no_ranked_document``
rankings shorter than 10 ranks    rND, rKL, rRD are null: ``fewer_ranks_than_step`` (``step`` sets another first prefix)
exposure estimated from one draw  EEL and EED are null: ``too_few_draws``
no value under any shuffled label placebo and excess are null: ``no_value_under_shuffled_labels``
gender presence                   needs no judgments, and has values for queries without any; null where nothing is
                                  labelled (``no_labels``), a document lacks a value (``unlabelled_document``), a
                                  background has nothing neutral (``no_neutral_background``), groups are too few to
                                  compare (``fewer_than_two_groups``), a pool has one value in every order or several
                                  labels a document (``one_value_in_pool``, ``mixed_labels``), or there are no words to
                                  share (``no_group_words``)
judged query missing from a run   an error, an empty ranking or left out and counted, as chosen
================================  ==========================================================================

A document outside the ranking has exposure 0; an unjudged document and a negative grade count as grade 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rerankers.measures.names import Measure, parse, parse_many
from rerankers.measures.placebo import group_exposure_placebo
from rerankers.measures.rank_fairness import awrf

if TYPE_CHECKING:
    import pyarrow as pa

    from rerankers.exposure.browsing import BrowsingModel
    from rerankers.measures.attention import iaa
    from rerankers.measures.cwex_pool import ncwex
    from rerankers.measures.cwex_score import cwex, cwex_of_draws, cwex_sweep
    from rerankers.measures.fairweb import gfr
    from rerankers.measures.front_distance import pareto_distance
    from rerankers.measures.joint_exposure import jme
    from rerankers.measures.neutrality_measures import nfairr
    from rerankers.measures.pairs import favoured_pairs
    from rerankers.measures.prefix_divergence import ndkl
    from rerankers.measures.prefix_shares import prefix_parity
    from rerankers.measures.rank_overlap import rbo
    from rerankers.measures.rate_parity import group_rates, unequal
    from rerankers.measures.seen import SeenExposure, SeenRanking
    from rerankers.measures.texfair_score import texfair
    from rerankers.measures.word_magnitudes import arab, magnitudes
    from rerankers.measures.worst_off import leximin, leximin_preference, lexirecall

_LATER = {
    "arab": "word_magnitudes",
    "cwex": "cwex_score",
    "cwex_of_draws": "cwex_score",
    "cwex_sweep": "cwex_score",
    "favoured_pairs": "pairs",
    "gfr": "fairweb",
    "group_rates": "rate_parity",
    "iaa": "attention",
    "jme": "joint_exposure",
    "leximin": "worst_off",
    "leximin_preference": "worst_off",
    "lexirecall": "worst_off",
    "magnitudes": "word_magnitudes",
    "ncwex": "cwex_pool",
    "ndkl": "prefix_divergence",
    "nfairr": "neutrality_measures",
    "pareto_distance": "front_distance",
    "prefix_parity": "prefix_shares",
    "SeenExposure": "seen",
    "SeenRanking": "seen",
    "rbo": "rank_overlap",
    "texfair": "texfair_score",
    "unequal": "rate_parity",
}
"""Function -> module, imported when first used."""

__all__ = [
    "Measure",
    "SeenExposure",
    "SeenRanking",
    "arab",
    "awrf",
    "cwex",
    "cwex_of_draws",
    "cwex_sweep",
    "evaluate",
    "favoured_pairs",
    "gfr",
    "group_exposure_placebo",
    "group_rates",
    "iaa",
    "jme",
    "leximin",
    "leximin_preference",
    "lexirecall",
    "magnitudes",
    "ncwex",
    "ndkl",
    "nfairr",
    "pareto_distance",
    "parse",
    "parse_many",
    "prefix_parity",
    "rbo",
    "texfair",
    "unequal",
]


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_LATER[name]}"), name)


def evaluate(
    run: Any,
    qrels: str | Path | Mapping[Any, Mapping[Any, Any]],
    groups: Mapping[Any, Any] | None = None,
    preset: str | None = None,
    browsing: BrowsingModel | None = None,
    *,
    measures: str | Measure | Iterable[Any] | None = None,
    universe: str = "union",
    cutoff: int | None = None,
    missing_query: str = "error",
) -> pa.Table:
    """Judge a run: one row a query and measure.

    Parameters
    ----------
    run
        a path, a frame with the columns of a run, or ``{qid: [[docno, …], …]}``: any number of equally weighted
        rankings a query, best first. They are the policy that is judged.
    qrels
        ``{qid: {docno: grade}}`` or the path of a qrels file.
    groups
        ``{docno: group | [groups] | {group: weight} | None}``; a document of several groups counts in full for each;
        documents without a group make up the group "unknown".
    preset
        the rules of a TREC Fair Ranking track, for instance ``trec2020_official`` (`rerankers.tracks.preset`), which
        set all options below but ``groups``; None: those options.
    browsing
        how users look at a ranking; GERR with patience .5 and satisfaction .5 unless given.
    measures
        names, see `parse`, and objects of your own that measure (`rerankers.measures.own`), for instance
        ``["EEL", Coverage(least=0.2)]``; by default expected exposure, utility, group measures where there are groups,
        and classic measures.
    universe
        ``union``: ranked and judged documents count; ``judged``: judged ones only (the others still take ranks).
    cutoff
        depth at which browsing stops, for exposure and target.
    missing_query
        what happens to judged queries without a ranking: ``error``, ``zero_exposure`` or ``skip``.

    Returns
    -------
    Table (system, seed, unit, measure, value, reason)
        queries in the order of the run, then those that only the qrels have. ``value`` is null where ``reason``
        says why.

    Raises
    ------
    InputError
        with every problem of the run, the qrels or the groups, and every missing query under ``error``.
    ConfigError
        for an unknown preset, universe, rule or measure.
    MissingError
        when a file is not there.
    """
    from rerankers.measures.memory import evaluate_in_memory

    return evaluate_in_memory(run, qrels, groups, preset, browsing, measures, universe, cutoff, missing_query)
