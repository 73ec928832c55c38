"""The report of recommended queries: one HTML page from what stands in ``recommendations.json``.

Queries are texts of users in any script: they are escaped, kept apart from their surroundings in direction, and drawn
nowhere in pictures.
"""

from __future__ import annotations

import io
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rerankers._base.files import write_text
from rerankers.report.picture import Picture
from rerankers.report.recommendation_comparisons import comparison_tables, evaluation_tables, summary_table
from rerankers.report.recommendation_plot import trade_off_picture
from rerankers.report.recommendation_tables import (
    candidate_table,
    click_table,
    listed,
    moved,
    objectives,
    reranking_table,
    role,
)
from rerankers.report.style import drawing
from rerankers.report.svg import inline
from rerankers.report.text import clean, flatten, number, words

if TYPE_CHECKING:
    import jinja2

TOPICS = 100
"""Queries that the page shows; the JSON has all of them."""
PICTURES = 20
"""Queries that the page draws pictures of."""


DOCUMENTS = 20
"""Documents that enter or leave, named for each recommendation."""


def write_report(found: Mapping[str, Any], folder: Path) -> Path:
    """Write ``report.html`` into a folder; return its path.

    Parameters
    ----------
    found
        as `recommendation_report`.
    folder
        created where it does not exist.

    Raises
    ------
    ConfigError
        when the folder cannot be written.
    """
    path = folder / "report.html"
    write_text(path, recommendation_report(found))
    return path


def recommendation_report(found: Mapping[str, Any]) -> str:
    """Return the page: HTML that needs no other file.

    Parameters
    ----------
    found
        as in ``recommendations.json``: ``options``, ``counts``, ``topics`` (query id -> ``query``, ``candidates``,
        ``front``, ``shown``, ``alternatives``), ``comparison`` (`rerankers.queries.contest.contest`) and
        ``evaluation`` (`rerankers.queries.held_out.held_out`), the last two None or left out where there are none;
        ``warnings`` and ``summary`` may stand beside them. ``front`` and ``shown`` hold places in ``candidates`` or
        their ``id``.

    Returns
    -------
    str
        The same input gives the same text.
    """
    topics = list(found["topics"].items())
    evaluation = found.get("evaluation")
    text = _template().render(
        options=flatten(found.get("options") or {}),
        warnings=[*(found.get("warnings") or []), *_warnings(evaluation)],
        counts=flatten(found.get("counts") or {}),
        objectives=list(dict.fromkeys(name for _, topic in topics for name in objectives(topic))),
        topics=[_topic(place, qid, topic) for place, (qid, topic) in enumerate(topics[:TOPICS])],
        left_out=max(len(topics) - TOPICS, 0),
        comparison=comparison_tables(found.get("comparison")),
        evaluation=evaluation_tables(evaluation),
        statement=(evaluation or {}).get("statement", ""),
        summary=summary_table(found.get("summary")),
    )
    # texts in another encoding hold lone surrogates, which UTF-8 has no bytes for
    return text.encode("utf-8", "replace").decode("utf-8")


def _topic(place: int, qid: str, topic: Mapping[str, Any]) -> dict[str, Any]:
    from markupsafe import Markup

    picture = trade_off_picture(f"topic_{place}", topic) if place < PICTURES else None
    candidates = topic["candidates"]
    shown = [candidates[at] for at in listed(topic) if role(topic, at) == "recommended"]
    return {
        "id": qid,
        "query": topic["query"],
        "candidates": len(candidates),
        "excluded": sum(one.get("rank") is None for one in candidates),
        "table": candidate_table(topic),
        "explained": [(one["text"], one.get("explanation", ""), *_moves(one)) for one in shown],
        "picture": picture,
        # drawn by our own renderer, which escapes what it is given
        "svg": None if picture is None else Markup(_drawn(picture)),  # noqa: S704
        "more": [sheet for sheet in (reranking_table(topic), click_table(topic)) if sheet is not None],
    }


def _moves(candidate: Mapping[str, Any]) -> tuple[str, str]:
    """Return the documents that enter, and those that leave."""
    parts = []
    for name, other in (("enter", "entering"), ("leave", "leaving")):
        documents = moved(candidate, name, other)
        more = f" and {len(documents) - DOCUMENTS} more" if len(documents) > DOCUMENTS else ""
        parts.append(", ".join(documents[:DOCUMENTS]) + more)
    return parts[0], parts[1]


def _drawn(picture: Picture) -> str:
    """Return a picture as an element of the page; nothing is written."""
    stream = io.StringIO()
    axes = sorted({str(row[0]) for row in picture.rows})
    with drawing(axes, picture.name):
        metadata = {"Date": None, "Creator": None, "Format": None, "Type": None}
        picture.figure().savefig(stream, format="svg", transparent=True, metadata=metadata)
    return inline(stream.getvalue(), picture.name, picture.title, clean(picture.alt))


def _warnings(evaluation: Mapping[str, Any] | None) -> list[str]:
    circular = (evaluation or {}).get("circular") or []
    if not circular:
        return []
    return [
        f"circular: {', '.join(circular)} evaluated with the target that recommendations were selected on; "
        "closeness there says how well the selection worked, not whether the target is right"
    ]


def _template() -> jinja2.Template:
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("rerankers.report", "."),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"number": number, "words": words}
    return environment.get_template("recommendations.html.j2")
