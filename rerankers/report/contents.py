"""What stands in a report: the titles of its sections, and what its measures do not tell."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rerankers.report.keys import attributes, in_order
from rerankers.report.loss_parts import TITLE as LOSS_TITLE

if TYPE_CHECKING:
    from collections.abc import Collection

    from rerankers.report.data import ReportData

FAIRNESS = "fairness"
"""The entry of a summary that has a section of its own."""


def titles_of(data: ReportData, pictures: Collection[str], exposure: bool) -> dict[str, str]:
    """Return id -> title of the sections that there are, in their order.

    Parameters
    ----------
    data
        the report.
    pictures
        the names of those drawn.
    exposure
        whether group exposure was drawn.
    """
    asked = {
        "warnings": ("Warnings", True),
        "what": ("What was run", True),
        "fairness": ("What fair means here", FAIRNESS in data.summary),
        "groups": ("Groups and coverage", bool(data.coverage)),
        "results": ("Results", True),
        "planes": ("Trade-offs", True),
        "exposure": ("Exposure of groups and target", exposure),
        "shares": ("How exposure is spread", "lorenz" in pictures),
        "along": ("Along the sequence", "sequence" in pictures),
        "labels": ("What the group labels explain", "placebo" in pictures),
        "more": (_more(data), bool(data.tables or data.pictures)),
        "units": (data.units.capitalize(), True),
        "limits": ("What the measures do not tell", True),
        "cite": ("What to cite", True),
        "appendix": ("Appendix", True),
    }
    return {name: title for name, (title, there) in asked.items() if there}


def _more(data: ReportData) -> str:
    """Return what tables and pictures of the job's own are about."""
    losses = all(table.title.startswith(LOSS_TITLE) for table in data.tables)
    return LOSS_TITLE if losses and not data.pictures else "Further results of this job"


def limits(data: ReportData) -> list[str]:
    """Return what a reader may not conclude from these results, a sentence each."""
    keys = in_order(data.keys)
    bases = {key.base for key in keys}
    found = []
    if bases & {"EEL", "unfairness"}:
        found.append(
            "A low loss is no merit by itself: shuffling at random, or ranking relevant documents last, can lose less "
            "than a real ranker. That is why utility and the anchors stand beside every loss."
        )
    if "EER" in bases:
        found.append("EER is not utility: it grows as exposure is concentrated.")
    if "EET" in bases or "EEL" in bases:
        found.append(
            "The target says that equally relevant documents are due equal exposure. Whether the judgments are "
            "themselves fair to the groups in question lies outside of what is measured."
        )
    if attributes(keys):
        found.append(
            "Means hide who is behind them: exposure that a group lacks in one query and has too much of in another "
            "cancels out in its mean, and a group's fair share says nothing of how it is shared inside the group."
        )
    found.append(
        f"Intervals are about the choice of {data.units}. They do not cover errors in judgments, in group labels, or "
        "in what is assumed about how users browse."
    )
    if data.extras.fronts:
        found.append(
            "Fronts are optima over the candidates that were retrieved, for the browsing model in use; another first "
            "stage has others. The oracle front knows the judgments, which no ranker does."
        )
    if data.extras.trace is not None:
        found.append("A sequence is one order of requests: another order of the same requests would have other losses.")
    return found
