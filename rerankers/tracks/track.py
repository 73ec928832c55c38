"""What each track asks of a submission: one row a year and task."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Literal

from rerankers._base.errors import choose

__all__ = ["TRACKS", "Track", "track_of"]


@dataclass(frozen=True, slots=True)
class Track:
    """One task of one year.

    Attributes
    ----------
    name
        the word of the command line, ``2020-rerank``.
    year
        of the track.
    form
        ``jsonl``: a JSON object a line; ``tsv``: tab-separated columns, ranks by the order of lines.
    columns
        keys of an object, or names of the columns; ids of queries (topics) are whole numbers in both.
    rankings
        rankings a query that the track asks for; None where the sequence alone decides (2019).
    depth
        documents a ranking at most; None for no bound.
    complete
        whether a ranking holds all candidates of its query, and nothing else.
    header
        whether the organisers' own example begins with the names of the columns; they are optional in every ``tsv``.
    """

    name: str
    year: int
    form: Literal["jsonl", "tsv"]
    columns: tuple[str, ...]
    rankings: int | None
    depth: int | None
    complete: bool = False
    header: bool = False

    @property
    def has_sequence(self) -> bool:
        """Whether a file of the organisers says which query is asked when, and hence how many rankings it gets."""
        return self.form == "jsonl"

    @property
    def has_repeats(self) -> bool:
        """Whether rankings of a topic are numbered from 1 in a column of their own."""
        return len(self.columns) == 3 and self.form == "tsv"


_JSON: Final = ("q_num", "qid", "ranking")
_ONE: Final = ("id", "page_id")
_MANY: Final = ("id", "seq_no", "page_id")

TRACKS: Final[Mapping[str, Track]] = MappingProxyType(
    {
        track.name: track
        for track in (
            Track("2019", 2019, "jsonl", _JSON, None, None, complete=True),
            Track("2020-rerank", 2020, "jsonl", _JSON, 150, None, complete=True),
            Track("2020-retrieval", 2020, "jsonl", _JSON, 150, 100),
            Track("2021-task1", 2021, "tsv", _ONE, 1, 1000),
            Track("2021-task2", 2021, "tsv", _MANY, 100, 50),
            Track("2022-task1", 2022, "tsv", _ONE, 1, 500, header=True),
            Track("2022-task2", 2022, "tsv", _MANY, 100, 20, header=True),
        )
    }
)
"""Name -> track."""


def track_of(name: str) -> Track:
    """Return the track of a name.

    Raises
    ------
    ConfigError
        for a name that is none; the text lists them and says which was meant.
    """
    return TRACKS[choose("track", name, TRACKS)]
