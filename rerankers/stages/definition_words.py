"""The methods in words: what each takes for fair, as its options stand. Constraints are in `definition_prefixes`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rerankers.stages import definition_prefixes as prefixes
from rerankers.stages.definition import Definition, Setting, joined, percent
from rerankers.stages.definition_targets import aim_of

IN_EXPECTATION = "This holds on average over the drawn rankings; a single one may differ."
STATIC = "Nothing is shared out: each query has one ranking, by believed relevance."
ONE_RANKING = "One ranking cannot share attention among equally relevant documents; it stands as an anchor."
NO_EFFECT = "As the options stand, fairness has no weight."


def _deterministic(_: Any, __: Setting) -> Definition:
    return Definition("none", STATIC, ONE_RANKING)


def _uniform(_: Any, __: Setting) -> Definition:
    sentence = "All candidates are shuffled: each has the same exposure on average, relevant or not. It is an anchor."
    return Definition("none", sentence, "It gives up relevance: a low loss of it is no merit.")


def _noise(what: str) -> Callable[[Any, Setting], Definition]:
    """Return the words of a method that shares out attention by chance alone."""

    def words(method: Any, _: Setting) -> Definition:
        caveat = "How far attention is shared out follows from the options; fit=search or grid aims it at a loss."
        return Definition("none", f"{what} No definition says how much.", caveat)

    return words


_plackett_luce = _noise("Rankings are drawn by believed relevance, so that close documents change places.")
_epsilon_greedy = _noise("Some ranks are filled at random.")
_mtg_noise = _noise("Noise lets documents of close scores change places.")
_macewan_fusion = _noise("Rankings move from one fused run to the next, equal places drawn anew.")


def _baseline(what: str) -> Callable[[Any, Setting], Definition]:
    """Return the words of a baseline of fusion or diversification."""

    def words(_: Any, __: Setting) -> Definition:
        return Definition("none", what, "Whose exposure comes out equal is not looked at; a baseline to compare with.")

    return words


_rrf = _baseline("Runs are fused by their ranks.")
_linear_fusion = _baseline("Runs are fused by their scores.")
_mmr = _baseline("Documents unlike those ranked before are preferred (diversification).")
_pm2 = _baseline("Ranks are seats that go to groups in proportion (diversification by proportionality).")
_mtg_clusters = _baseline("The first documents of different communities come first (diversification), with noise.")


def _kl_tilt(method: Any, setting: Setting) -> Definition:
    if method.strength == 0:
        return _plackett_luce(method, setting)
    aim = aim_of(setting.target)
    part = "" if method.strength == 1 else f", as far as method.strength={method.strength:g} of 1 goes"
    sentence = (
        f"On average the {setting.whose(method)} have these shares of exposure: {aim.shares}{part}. {setting.exposure}"
    )
    return Definition(aim.name, sentence, joined(aim.caveat, setting.believed_if(aim.believed), IN_EXPECTATION))


def _kl_greedy(method: Any, setting: Setting) -> Definition:
    if method.fairness_weight == 0:
        return Definition("none", f"{NO_EFFECT} {STATIC}", ONE_RANKING)
    aim = aim_of(setting.target)
    sentence = (
        f"The documents of every prefix come near to a mix of {setting.whose(method)}: {aim.shares}; relevance has the "
        f"weight {1 - method.fairness_weight:.3g}, that mix {method.fairness_weight:.3g}."
    )
    caveat = "Documents are counted, not exposure, and each query has one ranking."
    return Definition(aim.name, sentence, joined(aim.caveat, setting.believed_if(aim.believed), caveat))


def _infoseeking_kl(method: Any, setting: Setting) -> Definition:
    if method.relevance_weight == 1:
        return Definition("none", f"{NO_EFFECT} {STATIC}", ONE_RANKING)
    ideals = {"candidates": "their shares of the candidates", "corpus": "their shares of the collection"}
    aim = aim_of(setting.target) if method.ideal == "target" else None
    shares, name = (ideals[method.ideal], "proportional") if aim is None else (aim.shares, aim.name)
    sentence = (
        f"The documents of every prefix come near to a mix of {setting.whose(method)}: {shares}; relevance has the "
        f"weight {method.relevance_weight:.3g}."
    )
    caveat = "Documents are counted, not exposure."
    caveats = () if aim is None else (aim.caveat, setting.believed_if(aim.believed))
    return Definition(name, sentence, joined(*caveats, caveat))


def _thompson(_: Any, setting: Setting) -> Definition:
    sentence = (
        "Each document is ranked among the relevant ones as often as it is believed to be relevant, and equally "
        f"relevant ones change places (Singh et al. 2021; equal exposure for equal relevance). {setting.exposure}"
    )
    return Definition("merit", sentence, f"{setting.believed} Groups are not looked at. {IN_EXPECTATION}")


def _optimal(method: Any, setting: Setting) -> Definition:
    total = getattr(method, "total", 0.0)
    weights = {"documents": method.individual, setting.whose(method): method.group, "all documents together": total}
    whom = [words for words, weight in weights.items() if weight]
    kept = f", keeping {percent(method.floor or 0)} of the static ranking's believed utility"
    floor = "" if method.floor is None else kept
    weighed = f", against utility of weight {method.utility:g}" if method.utility else ""
    sentence = (
        f"The exposure of {' and of '.join(whom)} comes as near as can be to equal exposure for equal relevance "
        f"(Diaz et al. 2020){floor}{weighed}. {setting.exposure}"
    )
    unseen = "" if method.group else " Groups are not looked at."
    return Definition("merit", sentence, f"{setting.believed}{unseen} {IN_EXPECTATION}")


DUE = {
    "equal": "the exposure that equally relevant documents would share equally",
    "merit": "exposure in proportion to their share of the query's relevance",
    "relevance": "exposure in proportion to their relevance",
}
SCOPE = {"query": "for each query by itself", "sequence": "along each sequence", "corpus": "over all queries together"}


def _amortised(method: Any, setting: Setting) -> Definition:
    # what fairness weighs, under the name that the method has for it
    weights = [getattr(method, "strength", 1.0), getattr(method, "fairness", 1.0), 1.0 - getattr(method, "theta", 0.0)]
    if 0 in weights:
        return Definition("none", f"{NO_EFFECT} {STATIC}", ONE_RANKING)
    whom = method.entities if method.entities in ("documents", "authors") else f"groups of {method.entities}"
    sentence = (
        f"Over repeated rankings, {SCOPE[method.scope]}, {whom} are due {DUE[method.target]}; a ledger of what was "
        f"served and what is due moves those up who are owed. {setting.exposure}"
    )
    quality = getattr(method, "quality", None)
    if quality is not None:
        sentence += f" Every ranking keeps {percent(quality)} of the best believed DCG@{method.k}."
    caveat = f"{setting.believed} It holds for the sequence as a whole, the more the longer it is, not for one ranking."
    return Definition("merit", sentence, caveat)


def _foeir(method: Any, setting: Setting) -> Definition:
    whom = f"documents of {method.group} and of all other groups" if method.group else "documents of both groups"
    sentences = {
        "parity": f"The {whom} have the same mean exposure, whatever their relevance",
        "treatment": f"The {whom} have mean exposure in proportion to their mean relevance",
        "impact": f"The {whom} have mean clicks (exposure times relevance) in proportion to their mean relevance",
    }
    sentence = (
        f"{sentences[method.constraint]} (Singh and Joachims 2018), in each query, at the least price of relevance. "
        f"{setting.exposure}"
    )
    name = "parity" if method.constraint == "parity" else "merit"
    # utility is believed under parity too, but what is fair is not
    return Definition(name, sentence, joined(setting.believed_if(name == "merit"), IN_EXPECTATION))


WORDS: dict[str, Callable[[Any, Setting], Definition]] = {
    "deterministic": _deterministic,
    "uniform": _uniform,
    "plackett_luce": _plackett_luce,
    "kl_tilt": _kl_tilt,
    "kl_greedy": _kl_greedy,
    "infoseeking_kl": _infoseeking_kl,
    "fair_co": _amortised,
    "online_frank_wolfe": _amortised,
    "equity_of_attention": _amortised,
    "nle_controller": _amortised,
    "horizon_planner": _amortised,
    "thompson": _thompson,
    "scenario_optimal": _optimal,
    "pareto_optimal": _optimal,
    "fa_star_ir": prefixes.fa_star_ir,
    "det_const_sort": prefixes.det_const_sort,
    "expost_group_fair": prefixes.expost_group_fair,
    "equal_opportunity": prefixes.equal_opportunity,
    "phi_fair": prefixes.phi_fair,
    "foeir": _foeir,
    "rrf": _rrf,
    "linear_fusion": _linear_fusion,
    "mmr": _mmr,
    "pm2": _pm2,
    "round_robin": prefixes.round_robin,
    "epsilon_greedy": _epsilon_greedy,
    "mtg_noise": _mtg_noise,
    "mtg_clusters": _mtg_clusters,
    "macewan_fusion": _macewan_fusion,
}
"""Name of a method -> its words; the names are those of `rerankers.methods.names`."""
