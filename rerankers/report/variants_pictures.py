"""Pictures of sets of query variants: overlap by stage, growth of pools, bounds, fairness between wordings."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from rerankers.report.text import clean
from rerankers.report.variants_lines import MOST, Line, line_of, picture_of
from rerankers.report.variants_tables import CEILING, EQUAL, VALUE, chosen, others

if TYPE_CHECKING:
    from rerankers.report.picture import Picture

_RELATIVE = {"jaccard_all": "all documents", "jaccard_rel": "judged relevant"}


def variant_pictures(found: Mapping[str, Any]) -> list[Picture]:
    """Return the pictures of what ``variants.json`` holds, those that have something to draw."""
    pictures = [_texts(found), *_growth(found), _pools(found), _equal(found), _residuals(found), *_fairness(found)]
    return [picture for picture in pictures if picture is not None]


def _texts(found: Mapping[str, Any]) -> Picture | None:
    stages = list(dict.fromkeys(row["stage"] for row in chosen(found, "string_jaccard", role=VALUE)))
    lines = []
    for name in others(found):
        rows = {row["stage"]: row for row in chosen(found, "string_coverage_of_human", role=VALUE, set=name)}
        lines.append(line_of(name, [rows[stage] for stage in stages if stage in rows]))
    caption = "Part of the reference's variants that a set has too, by stage; bars are intervals over topics."
    title = "Texts in common with the reference"
    return picture_of("texts", title, caption, lines, "coverage of the reference", stages)


def _growth(found: Mapping[str, Any]) -> list[Picture | None]:
    curves = found.get("growth") or ()
    out = []
    for kind in dict.fromkeys(one["documents"] for one in curves):
        own = [one for one in curves if one["documents"] == kind]
        lines = [
            Line(one["set"], range(1, len(one["expected"]) + 1), one["expected"], (), one["set"] == found["reference"])
            for one in own
        ]
        word = "relevant documents" if kind == "relevant" else "documents"
        caption = (
            f"Number of {word} in the pool of depth {own[0]['depth']} of so many variants of each topic, or of all of "
            f"them where it has fewer: exact expectation over all choices of variants, mean over the same "
            f"{own[0]['topics']} topics everywhere. Dashed: the reference."
        )
        out.append(picture_of(f"growth_{kind}", f"Growth of pools: {word}", caption, lines, word, None, "variants"))
    return out


def _pools(found: Mapping[str, Any]) -> Picture | None:
    lines = []
    for name in others(found):
        for measure, word in _RELATIVE.items():
            rows = list(chosen(found, f"pool_{measure}", role=VALUE, set=name))
            line = line_of(f"{name}, {word}", rows, "depth")
            if measure == "jaccard_rel":
                line = Line(line.name, line.x, line.y, [_bounds(row) for row in rows if row["mean"] is not None], True)
            lines.append(line)
    caption = (
        "Jaccard of the pools of a set and the reference by depth. Of all documents with intervals over topics; of "
        "relevant ones (dashed) with the bounds between which the unjudged documents leave it."
    )
    return picture_of("pools", "What pools have in common", caption, lines, "Jaccard", None, "depth")


def _equal(found: Mapping[str, Any]) -> Picture | None:
    lines = []
    for role in (EQUAL, CEILING):
        names = dict.fromkeys(row["set"] for row in chosen(found, "pool_coverage_of_human_rel", role=role))
        for name in names:
            rows = list(chosen(found, "pool_coverage_of_human_rel", role=role, set=name))
            line = line_of(f"{name}: two halves" if role == CEILING else name, rows, "depth")
            lines.append(Line(line.name, line.x, line.y, line.spans, role == CEILING))
    caption = (
        "Part of the reference's relevant documents that as many variants of a set find as half of the reference's; "
        "dashed: the other half of the reference, the ceiling."
    )
    title = "Coverage at equal numbers of variants"
    return picture_of("equal_numbers", title, caption, lines, "relevant documents found", None, "depth")


def _residuals(found: Mapping[str, Any]) -> Picture | None:
    rows = [row for row in chosen(found, "rbp", role=VALUE) if row["mean"] is not None and row["bounds"] is not None]
    names = [row["set"] for row in rows]
    lines = [
        Line(row["set"], [place], [row["mean"]], [(row["bounds"][0], row["bounds"][1])])
        for place, row in enumerate(rows)
    ]
    caption = "Rank-biased precision; its bar ends where all unjudged and unread documents would be relevant."
    return picture_of("residuals", "Effectiveness and what is not judged", caption, lines, "RBP", names)


def _fairness(found: Mapping[str, Any]) -> list[Picture | None]:
    told = found["fairness"]
    if told is None:
        return []
    out = []
    for place, attribute in enumerate(told["groups"]):
        groups: list[str] = []
        lines = []
        targets: dict[str, float] = {}
        for system, of_set in told["systems"].items():
            for name, of_attribute in of_set.items():
                one = of_attribute[attribute]["by_group"]
                groups = list(one)[:MOST]
                means = [one[group]["exposure"]["mean"] for group in groups]
                x = [at for at, mean in enumerate(means) if mean is not None]
                y = [means[at] for at in x]
                sds = [one[groups[at]]["between_sd"]["mean"] for at in x]
                spans = [(mean - sd, mean + sd) for mean, sd in zip(y, sds, strict=True)]
                lines.append(Line(f"{name}, {system}" if len(told["systems"]) > 1 else name, x, y, spans))
                due = {group: one[group]["target"]["mean"] for group in groups}
                targets |= {group: mean for group, mean in due.items() if mean is not None}
        at = [number for number, group in enumerate(groups) if group in targets]
        lines.append(Line("target", at, [targets[groups[one]] for one in at], (), True))
        slug = re.sub(r"[^A-Za-z0-9]+", "_", attribute).strip("_") or "groups"
        caption = (
            "Exposure of each group, expected over the variants of a topic, mean over topics; bars reach one standard "
            "deviation between variants up and down: how much a group's exposure hangs on the wording."
        )
        title = f"Exposure over variants: {clean(attribute)}"
        out.append(picture_of(f"fairness_{place}_{slug}", title, caption, lines, "exposure", groups, apart=True))
    return out


def _bounds(row: Mapping[str, Any]) -> tuple[float, float] | None:
    ends = row["bounds"]
    return None if ends is None or None in ends else (ends[0], ends[1])
