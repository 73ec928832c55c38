"""A query in one system or several: exposure of every document, what changed, and why, as plain values."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from rerankers._base.errors import InputError
from rerankers.policies import Mixture
from rerankers.stages.explain_sides import SERVED
from rerankers.stages.explain_why import finite, why
from rerankers.stages.side_by_side_groups import group_rows, memberships
from rerankers.stages.side_by_side_method import method_account
from rerankers.stages.side_by_side_numbers import STEPS, Numbers, is_static, numbers

if TYPE_CHECKING:
    from rerankers.stages.explain_sides import Side

TOP = (1, 3, 10)
"""Ranks whose chance of being reached is told."""
WHY = 3
"""Documents that are explained where none is named."""
PUBLISHED, DEPTH = 3, 10
"""Rankings of each system that are shown, and how far down."""


def side_by_side(
    sides: Sequence[Side], docnos: Sequence[str] = (), titles: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """Return everything about a query in some systems, as in ``explain.json``.

    Parameters
    ----------
    sides
        one or more systems on one query.
    docnos
        documents that are explained; none: the three that differ most between the systems, of a single system the
        three furthest from their target (or with the most exposure, where there is no target).
    titles
        docno -> title.

    Raises
    ------
    InputError
        for a document that no system knows, with names that are like it.
    """
    found = [numbers(side) for side in sides]
    names = _unique([side.name for side in sides])
    systems = {name: _system(one) for name, one in zip(names, found, strict=True)}
    documents = _documents(found, names, titles or {})
    _add_own_numbers(documents, systems, found)
    known = [document["docno"] for document in documents]
    for docno in docnos:
        if docno not in known:
            raise _unknown(docno, known, sides[0].qid)
    changed = _changed(documents, names)
    asked = list(dict.fromkeys(docnos)) or _interesting(documents, names, changed)
    first = sides[0]
    return {
        "query": {"qid": first.qid, "text": next((side.text for side in sides if side.text), "")},
        "judged": any(one.judged for one in found),
        "steps": STEPS,
        "systems": systems,
        "documents": documents,
        "changed": changed,
        "groups": group_rows(found, names),
        "why": {
            docno: {name: why(one, docno) for name, one in zip(names, found, strict=True) if docno in one.names}
            for docno in asked
        },
    }


def _unique(names: Sequence[str]) -> list[str]:
    """Return names that are told apart, by a number where two are the same."""
    seen: dict[str, int] = {}
    out = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        out.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return out


def _system(found: Numbers) -> dict[str, Any]:
    side = found.side
    relevance = None if side.block is None else side.block.relevance
    return {
        "method": side.method,
        "browsing": str(side.options.model),
        "universe": side.options.universe,
        "policy": "a static ranking" if is_static(side.policy) else type(side.policy).__name__,
        "published": side.drawn,
        "draws": found.account.draws,
        "candidates": int(side.policy.over.nnz),
        "judged": found.judged,
        "beliefs": None if relevance is None else f"{relevance.kind} of {relevance.source}",
        "rankings": _published(side),
        "mixture": _mixture(side),
        "account": method_account(found),
    }


def _published(side: Side) -> list[list[str]]:
    """Return the first published rankings, their first documents."""
    policy, options = side.policy, side.options
    if isinstance(policy, Mixture) and (side.block is None or side.drawn == SERVED):
        rankings = policy.rankings
    else:
        rankings = policy.sample(min(PUBLISHED, options.samples), options.seed, 0, DEPTH)
    shown = []
    for at in range(min(PUBLISHED, len(rankings))):
        items = rankings.item[rankings.item_ptr[at] : rankings.item_ptr[at + 1]][:DEPTH]
        shown.append(side.docs.take(policy.over.doc[items]))
    return shown


def _mixture(side: Side) -> list[dict[str, Any]]:
    """Return the heaviest rankings of a mixture that a method made, with their weights; none of anything else."""
    policy = side.policy
    if side.block is None or side.drawn == SERVED or not isinstance(policy, Mixture) or len(policy.rankings) < 2:
        return []
    rankings = policy.rankings
    order = np.argsort(-rankings.weight, kind="stable")[:DEPTH]
    shown = []
    for at in order.tolist():
        items = rankings.item[rankings.item_ptr[at] : rankings.item_ptr[at + 1]][:DEPTH]
        docnos = side.docs.take(policy.over.doc[items])
        shown.append({"weight": float(rankings.weight[at]), "documents": docnos, "of": len(rankings)})
    return shown


def _documents(found: Sequence[Numbers], names: Sequence[str], titles: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return a row a document, by its exposure in the first system, then by the others', then by docno."""
    rows: dict[str, dict[str, Any]] = {}
    for name, one in zip(names, found, strict=True):
        groups, facts = memberships(one), _first_stage(one)
        within = {top: one.spread(one.account.ranks.within(top)) for top in TOP}
        for at, docno in enumerate(one.names):
            row = rows.setdefault(docno, _empty(docno, titles))
            row["groups"] = {**groups[at], **row["groups"]}
            row["grade"] = finite(one.grade[at]) if row["grade"] is None else row["grade"]
            for key, values in facts.items():
                row[key] = finite(values[at]) if row[key] is None else row[key]
            place = int(one.place[at])
            target = finite(one.target[at])
            row["systems"][name] = {
                "candidate": place >= 0,
                "exposure": float(one.exposure[at]),
                "error": finite(one.error[at]) if one.account.draws else None,
                "target": target,
                "difference": None if target is None else float(one.exposure[at]) - target,
                "stopping": float(one.exposure[at] - one.unsatisfied[at]),
                "within": {str(top): float(chance[at]) for top, chance in within.items()},
                "median": None if place < 0 else one.account.ranks.median(place),
            }
    return sorted(rows.values(), key=lambda row: (*(-exposure(row, name) for name in names), row["docno"]))


def _add_own_numbers(
    documents: Sequence[Mapping[str, Any]], systems: Mapping[str, dict[str, Any]], found: Sequence[Numbers]
) -> None:
    """Move what the methods say of documents from their accounts to the documents: ``own``."""
    for (name, system), one in zip(systems.items(), found, strict=True):
        columns = (system["account"] or {}).pop("documents", {})
        place = dict(zip(one.names, one.place.tolist(), strict=True))
        for row in documents:
            at = place.get(row["docno"], -1)
            if name in row["systems"]:
                row["systems"][name]["own"] = {key: values[at] for key, values in columns.items()} if at >= 0 else {}


def _empty(docno: str, titles: Mapping[str, str]) -> dict[str, Any]:
    facts: dict[str, Any] = dict.fromkeys(("grade", "score", "rank", "belief", "probability"))
    return {"docno": docno, "title": titles.get(docno, ""), "groups": {}, **facts, "systems": {}}


def _first_stage(found: Numbers) -> dict[str, Any]:
    """Return first-stage score and rank and the method's beliefs, (U,), not a number where there is none."""
    block = found.side.block
    if block is None:
        return {}
    candidates, relevance = block.candidates, block.relevance
    columns = {"rank": np.arange(1.0, candidates.nnz + 1.0), "belief": relevance.value}
    if "score" in candidates.columns:
        columns["score"] = candidates.score
    if relevance.probability is not None:
        columns["probability"] = relevance.probability
    inside = found.place >= 0
    out = {}
    for key, values in columns.items():
        out[key] = np.full(len(found.doc), np.nan)
        out[key][inside] = values[found.place[inside]]
    return out


def exposure(row: Mapping[str, Any], name: str) -> float:
    """Return the exposure of a document in a system, 0 where the system does not know it."""
    return float(row["systems"][name]["exposure"]) if name in row["systems"] else 0.0


def _changed(documents: Sequence[Mapping[str, Any]], names: Sequence[str]) -> list[dict[str, Any]]:
    """Return docno and the largest difference of its exposures between two systems, largest first; none of one."""
    if len(names) < 2:
        return []
    gaps = []
    for row in documents:
        values = [exposure(row, name) for name in names]
        gaps.append({"docno": row["docno"], "by": max(values) - min(values)})
    gaps = [gap for gap in gaps if gap["by"] > 1e-12]
    return sorted(gaps, key=lambda gap: (-gap["by"], gap["docno"]))


def _interesting(
    documents: Sequence[Mapping[str, Any]], names: Sequence[str], changed: Sequence[Mapping[str, Any]]
) -> list[str]:
    if changed:
        return [gap["docno"] for gap in changed[:WHY]]

    def off(row: Mapping[str, Any]) -> float:
        differences = [abs(one["difference"] or 0.0) for one in row["systems"].values()]
        return max(differences, default=0.0)

    far = sorted(documents, key=lambda row: (-off(row), row["docno"])) if any(map(off, documents)) else documents
    return [row["docno"] for row in islice(far, WHY)]


def _unknown(docno: str, known: Iterable[str], qid: str) -> InputError:
    names = list(known)
    near = difflib.get_close_matches(docno, names, n=3, cutoff=0.5) or names[:3]
    expected = f"a candidate or judged document of query {qid!r}"
    expected += f", such as {', '.join(map(repr, near))}" if near else ", which has none"
    return InputError.one("docno", repr(docno), expected)
