"""Where measures and methods come from: what to cite beside this software."""

from __future__ import annotations

from collections.abc import Iterable

from rerankers.report.keys import Key

SOFTWARE = "fair-rerankers: stochastic fair reranking with exact expected exposure (CITATION.cff has the entry)"
_EXPECTED = (
    "F. Diaz, B. Mitra, M. D. Ekstrand, A. J. Biega, B. Carterette: Evaluating stochastic rankings with expected "
    "exposure. CIKM 2020"
)
_GEYIK = (
    "S. C. Geyik, S. Ambler, K. Kenthapadi: Fairness-aware ranking in search and recommendation systems with "
    "application to LinkedIn talent search. KDD 2019"
)
_SINGH = "A. Singh, T. Joachims: Fairness of exposure in rankings. KDD 2018"
_RAJ = (
    "A. Raj, M. D. Ekstrand: Measuring fairness in ranked results: an analytical and empirical comparison. SIGIR 2022"
)
_BIEGA = (
    "A. J. Biega, K. P. Gummadi, G. Weikum: Equity of attention: amortizing individual fairness in rankings. SIGIR 2018"
)
_UNCERTAIN = "A. Singh, D. Kempe, T. Joachims: Fairness in ranking under uncertainty. NeurIPS 2021"
_TRACK_2020 = (
    "A. J. Biega, F. Diaz, M. D. Ekstrand, S. Feldman, S. Kohlmeier: Overview of the TREC 2020 Fair Ranking Track"
)
_YANG = "K. Yang, J. Stoyanovich: Measuring fairness in ranked outputs. SSDBM 2017"

MEASURES = {
    **dict.fromkeys(("EEL", "EED", "EER", "EET", "EEL_l2", "share_loss"), _EXPECTED),
    "nDCG": "K. Järvelin, J. Kekäläinen: Cumulated gain-based evaluation of IR techniques. TOIS 2002",
    "AWRF": "P. Sapiezynski, W. Zeng, R. E. Robertson, A. Mislove, C. Wilson: Quantifying the impact of user attention "
    f"on fair group representation in ranked lists. WWW 2019 Companion; {_RAJ}",
    "NDKL": _GEYIK,
    **dict.fromkeys(("DP", "EUR", "RUR"), f"{_SINGH}; {_RAJ}"),
    **dict.fromkeys(("rND", "rKL", "rRD"), _YANG),
    "IAA": _BIEGA,
    "unfairness": "A. J. Biega, F. Diaz, M. D. Ekstrand, S. Kohlmeier: Overview of the TREC 2019 Fair Ranking Track",
}
"""Base of a measure's key -> its source, of those that are no common knowledge."""

BROWSING = {
    "rbp": "A. Moffat, J. Zobel: Rank-biased precision for measurement of retrieval effectiveness. TOIS 2008",
    "err": "O. Chapelle, D. Metzler, Y. Zhang, P. Grinspan: Expected reciprocal rank for graded relevance. CIKM 2009",
    "gerr": _EXPECTED,
}
"""How the text of a browsing model begins -> its source."""

METHODS = {
    "plackett_luce": "R. L. Plackett: The analysis of permutations. Applied Statistics 1975; R. D. Luce: Individual "
    "choice behavior. 1959",
    "kl_greedy": "H. Steck: Calibrated recommendations. RecSys 2018",
    "infoseeking_kl": f"{_TRACK_2020} (runs of the group InfoSeeking)",
    "fair_co": "M. Morik, A. Singh, J. Hong, T. Joachims: Controlling fairness and bias in dynamic learning-to-rank. "
    "SIGIR 2020",
    "online_frank_wolfe": "N. Usunier, V. Do, E. Dohmatob: Fast online ranking with fairness of exposure. FAccT 2022",
    "equity_of_attention": _BIEGA,
    "nle_controller": f"T. Kletti, J.-M. Renders: Naver Labs Europe at TREC 2020 Fair Ranking Track; {_TRACK_2020}",
    **dict.fromkeys(("thompson", "phi_fair"), _UNCERTAIN),
    **dict.fromkeys(("scenario_optimal", "pareto_optimal"), _EXPECTED),
    "fa_star_ir": "M. Zehlike, F. Bonchi, C. Castillo, S. Hajian, M. Megahed, R. Baeza-Yates: FA*IR: a fair top-k "
    "ranking algorithm. CIKM 2017",
    "det_const_sort": _GEYIK,
    "expost_group_fair": "S. Gorantla, A. Deshpande, A. Louis: Sampling ex-post group-fair rankings. IJCAI 2023",
    "equal_opportunity": "R. Rastogi, T. Joachims: Fairness in ranking under disparate uncertainty. EAAMO 2024",
    "foeir": _SINGH,
    "rrf": "G. V. Cormack, C. L. A. Clarke, S. Büttcher: Reciprocal rank fusion outperforms Condorcet and individual "
    "rank learning methods. SIGIR 2009",
    "linear_fusion": "E. A. Fox, J. A. Shaw: Combination of multiple searches. TREC-2, 1994",
    "mmr": "J. Carbonell, J. Goldstein: The use of MMR, diversity-based reranking for reordering documents and "
    "producing summaries. SIGIR 1998",
    "pm2": "V. Dang, W. B. Croft: Diversity by proportionality: an election-based approach to search result "
    "diversification. SIGIR 2012",
    **dict.fromkeys(("mtg_noise", "mtg_clusters", "macewan_fusion"), _TRACK_2020),
}
"""Name of a method -> its source, of those that come from elsewhere."""


def sources(keys: Iterable[Key], method: str, browsing: str) -> list[tuple[str, str]]:
    """Return (source, what it is cited for), each source once, this software first.

    Parameters
    ----------
    keys
        of the measures that are reported.
    method
        name of the method; empty for none.
    browsing
        text of the browsing model, as ``gerr(patience=0.5, satisfaction=0.5)``.
    """
    found: dict[str, list[str]] = {SOFTWARE: ["this software"]}
    if method in METHODS:
        found.setdefault(METHODS[method], []).append(f"method {method}")
    for key in keys:
        base = key.base.partition("(")[0]
        if base in MEASURES and not key.part:
            found.setdefault(MEASURES[base], []).append(base)
    model = browsing.partition("(")[0].lower()
    if model in BROWSING:
        found.setdefault(BROWSING[model], []).append(f"browsing model {model}")
    return [(source, ", ".join(dict.fromkeys(uses))) for source, uses in found.items()]
