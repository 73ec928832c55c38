"""What a report shows besides its measures, where a job has it: fronts, optima, shares of exposure, a sequence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

FRONT_NAMES = ("oracle front", "plug-in front", "true front")
FRONT_WORDS = {
    "oracle front": "the judgments themselves are known: nobody does better with these candidates",
    "plug-in front": "the best by the method's beliefs: no method with these is expected to do better",
    "true front": "the best by the probabilities that the judgments of a generated collection were drawn with",
}


@dataclass(frozen=True, slots=True)
class FrontLine:
    """A front as means over the queries, one spot a weight of utility.

    Attributes
    ----------
    name
        one of `FRONT_NAMES`.
    groups
        whether it is best for the loss of the groups of the one attribute, not of documents.
    utility, loss, disparity, relevance
        of each spot, by utility ascending.
    """

    name: str
    groups: bool
    utility: Sequence[float]
    loss: Sequence[float]
    disparity: Sequence[float]
    relevance: Sequence[float]


@dataclass(frozen=True, slots=True)
class Optimum:
    """The least loss that a front has at a utility; ``loss`` is None where the front does not reach it.

    Attributes
    ----------
    front, groups
        as of `FrontLine`.
    at
        in words, whose utility it is.
    utility, loss, interval
        means, and the interval of the loss over queries.
    """

    front: str
    groups: bool
    at: str
    utility: float
    loss: float | None
    interval: tuple[float, float] | None


@dataclass(frozen=True, slots=True)
class ShareCurve:
    """The Lorenz curve of a system, mean over queries (`rerankers.report.lorenz`).

    Attributes
    ----------
    system
        name; ``target`` for what is due.
    share
        K shares of all exposure, at as many equidistant shares of documents (or of what is due) from 0 to 1.
    gini
        mean Gini coefficient.
    queries
        how many the means are over.
    """

    system: str
    share: Sequence[float]
    gini: float
    queries: int


@dataclass(frozen=True, slots=True)
class Trace:
    """Exposure along a sequence of impressions, at T of them.

    Attributes
    ----------
    impression
        T numbers of impressions served so far.
    given, due
        attribute -> group -> T sums of exposure up to there, given and due by the judgments.
    loss
        name of a loss -> T values of what had been served so far; None before a judged query.
    left_out
        impressions of queries without judgments, which do not count.
    """

    impression: Sequence[int]
    given: Mapping[str, Mapping[str, Sequence[float]]]
    due: Mapping[str, Mapping[str, Sequence[float]]]
    loss: Mapping[str, Sequence[float | None]]
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class Extras:
    """Everything of this file that a job has, with sentences that say why the rest is not there.

    Attributes
    ----------
    about
        what was run, a paragraph.
    record
        label -> text: command, seeds, times, fingerprints, versions.
    method
        name of the method, for its source; empty where runs were read.
    queries
        query id -> its text, of the queries that are named.
    fronts, optima, fronts_words
        the fronts, what they have at certain utilities, and how they were computed or why not.
    documents, relevant
        Lorenz curves of exposure over documents, and of exposure relative to what is due over relevant documents.
    trace
        of a sequence that was served, else None.
    """

    about: str = ""
    record: Mapping[str, str] = field(default_factory=dict)
    method: str = ""
    queries: Mapping[str, str] = field(default_factory=dict)
    fronts: Sequence[FrontLine] = ()
    optima: Sequence[Optimum] = ()
    fronts_words: str = ""
    documents: Sequence[ShareCurve] = ()
    relevant: Sequence[ShareCurve] = ()
    trace: Trace | None = None
