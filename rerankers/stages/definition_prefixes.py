"""Methods that bound what the first documents hold, in words."""

from __future__ import annotations

from typing import Any

from rerankers.stages.definition import Definition, Setting, joined, percent
from rerankers.stages.definition_targets import BY_CANDIDATES, BY_GROUPS, NO_MERIT, Aim, aim_of

COUNTS = "Documents are counted, not exposure, and each query has one ranking."


def fa_star_ir(method: Any, setting: Setting) -> Definition:
    """Return the words of FA*IR: a lower bound by a test."""
    if method.pool:
        aim = Aim("proportional", "the protected group's share of the candidates", BY_CANDIDATES)
    elif method.p is not None:
        aim = Aim("proportional", f"a share of {percent(method.p)}", f"{NO_MERIT}.")
    else:
        aim = aim_of(setting.target)
    protected = method.protected or "the protected group"
    tests = "all prefixes together" if method.adjusted else "each prefix by itself"
    sentence = (
        f"Every prefix holds so many documents of {protected} that a test of level {method.alpha:g} for {tests} does "
        f"not tell it from a fair lottery (FA*IR, Zehlike et al. 2017); wanted: {aim.shares}."
    )
    caveat = f"By the test {protected} may fall below as far as chance may go, and nobody else has a bound. {COUNTS}"
    return Definition(aim.name, sentence, joined(aim.caveat, setting.believed_if(aim.believed), caveat))


def det_const_sort(method: Any, setting: Setting) -> Definition:
    """Return the words of DetConstSort and its relatives: bounds on counts."""
    aim = aim_of(setting.target)
    most = "" if method.variant == "det_const_sort" else ", and at most that rounded up"
    depth = "" if method.cutoff is None else f" of up to {method.cutoff} documents"
    sentence = (
        f"Every prefix{depth} holds (as in Geyik et al. 2019) at least the share of each of the "
        f"{setting.whose(method)}, rounded down{most}: {aim.shares}."
    )
    return Definition(aim.name, sentence, joined(aim.caveat, setting.believed_if(aim.believed), COUNTS))


def expost_group_fair(method: Any, setting: Setting) -> Definition:
    """Return the words of ex-post fair rankings: random, each within bounds."""
    aim = aim_of(setting.target)
    prefixes = "every prefix" if method.every == 1 else f"every prefix of a multiple of {method.every} documents"
    slack = f", give or take {method.slack}" if method.slack else ""
    sentence = (
        f"Every single ranking holds in {prefixes} (as in Gorantla et al. 2023) the shares of the "
        f"{setting.whose(method)}, rounded down or up{slack}: {aim.shares}."
    )
    caveat = "Documents are counted, not exposure; within a group they follow by belief, by no definition."
    return Definition(aim.name, sentence, joined(aim.caveat, setting.believed_if(aim.believed), caveat))


def equal_opportunity(method: Any, setting: Setting) -> Definition:
    """Return the words of equal opportunity: equal parts of what is relevant."""
    sentence = (
        f"Every prefix holds the same part of what is relevant in each of the {setting.whose(method)} (Rastogi and "
        "Joachims 2024): relevant documents have the same chance of being among the first, whatever their group."
    )
    return Definition("merit", sentence, f"{setting.believed} {COUNTS}")


def phi_fair(method: Any, setting: Setting) -> Definition:
    """Return the words of phi-fairness: a floor for everybody."""
    if method.phi == 0:
        return Definition("none", "As the options stand (phi 0) each query has one ranking, by believed relevance.")
    sentence = (
        f"No document is among the first k, for any k, less than {method.phi:g} times as often as its relevance, which "
        "is uncertain, would have it there (Singh et al. 2021); beyond that floor the most useful come first."
    )
    floor = "It is a floor for everybody, not the largest that there could be."
    caveat = f"{floor} {setting.believed} Groups are not looked at."
    return Definition("worst_off" if method.phi < 1 else "merit", sentence, caveat)


def round_robin(method: Any, setting: Setting) -> Definition:
    """Return the words of turn-taking."""
    equal = Aim("parity", "the same share for every group that has candidates", BY_GROUPS)
    aim = equal if method.shares == "equal" else aim_of(setting.target)
    sentence = f"The {setting.whose(method)} take turns at the ranks: {aim.shares}."
    caveat = "Turns are counted, not exposure: whoever begins is ahead. A baseline to compare with."
    return Definition(aim.name, sentence, joined(aim.caveat, setting.believed_if(aim.believed), caveat))
