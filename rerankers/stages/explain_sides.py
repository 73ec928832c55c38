"""One system and one query, as `explain` takes them."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rerankers._base.errors import InputError

if TYPE_CHECKING:
    from rerankers.measures.evaluation import Options
    from rerankers.stages.explain_model import Parts
    from rerankers.stages.run import RunJob
    from rerankers.values import Block, GroupAlignment, Ids, Judgments

SERVED = "the rankings that were served"


@dataclass(frozen=True, slots=True, eq=False)
class Side:
    """One system and one query.

    Attributes
    ----------
    name, method
        of the system: what tells it apart, and what it is.
    qid, text
        the query.
    policy
        over one row.
    judgments
        of the query, coded alike; no row where it is not judged.
    docs
        the ids behind the document codes.
    groups
        attribute -> resolved alignment.
    options
        how the job judges.
    block
        what the method was shown; None where only rankings are known.
    job
        the parts of the job; None likewise.
    drawn
        what the published rankings are, in words.
    parts
        what features add to the scores of a model; None where there is none, or none that has such parts.
    """

    name: str
    method: str
    qid: str
    text: str
    policy: Any
    judgments: Judgments
    docs: Ids
    groups: Mapping[str, GroupAlignment]
    options: Options
    block: Block | None
    job: RunJob | None
    drawn: str
    parts: Parts | None = None


def unknown_query(qid: str, known: Sequence[str], where: str) -> InputError:
    """Return the error for a query that is not there, with names that are like it."""
    near = difflib.get_close_matches(qid, known, n=3, cutoff=0.5) or list(known[:3])
    expected = f"one of its {len(known):,} queries, such as {', '.join(map(repr, near))}" if known else "a ranked query"
    return InputError.one(f"query in {where}", repr(qid), expected)
