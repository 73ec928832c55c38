"""The rules of 2019 and 2020: one JSON object a line, one line for each entry of the sequence.

The rules are those of the organisers' own checkers (TREC Fair Ranking 2019 and 2020), which stop at the first error;
here all of them are found.
"""

from __future__ import annotations

import re
from array import array
from collections import Counter
from typing import TYPE_CHECKING, Any

from rerankers._base.json_text import parse_json
from rerankers.tracks.findings import listed, ranges
from rerankers.tracks.impressions import Impressions

if TYPE_CHECKING:
    from rerankers.tracks.candidates import QueryFile
    from rerankers.tracks.document_ids import DocumentIds
    from rerankers.tracks.findings import Findings
    from rerankers.tracks.sequences import Sequence
    from rerankers.tracks.track import Track

__all__ = ["JsonRules"]

FORM = '{"q_num": "0.1", "qid": 12, "ranking": ["d3", "d1"]}'
_Q_NUM = re.compile(rb'"q_num"\s*:\s*"?([0-9.]+)')


class JsonRules:
    """Checks a run line by line; of a line it remembers its number and one hash.

    Parameters
    ----------
    depth
        documents a ranking at most, in place of the track's own; None leaves it.
    corpus
        documents that exist: others are errors where the track has no candidates.
    """

    def __init__(
        self,
        track: Track,
        queries: QueryFile,
        sequence: Sequence,
        findings: Findings,
        depth: int | None = None,
        corpus: DocumentIds | None = None,
    ) -> None:
        self._complete = track.complete
        self._depth = track.depth if depth is None else depth
        self._queries, self._sequence, self._corpus = queries, sequence, corpus
        self._findings = findings
        self._line_of = array("q", bytes(8 * len(sequence)))
        self._damaged: set[int] = set()
        self.impressions = Impressions(track.rankings)

    def check(self, number: int, raw: bytes) -> None:
        """Check one line, without its line end."""
        try:
            record = parse_json(raw.decode("utf-8"))
        except (ValueError, RecursionError) as error:
            if not raw.strip():
                self._findings.add(number, "a blank line", "a JSON object", "Delete the line.")
            else:
                self._findings.add(number, f"a line that is no JSON ({error})", f"a line of the form {FORM}")
                self.damaged(raw)
            return
        if not isinstance(record, dict):
            self._findings.add(number, f"JSON that is no object ({_kind(record)})", f"a line of the form {FORM}")
            return
        missing = [name for name in ("q_num", "qid", "ranking") if name not in record]
        if missing:
            self._findings.add(number, f"an object without {' and '.join(missing)}", f"a line of the form {FORM}")
        asked = self._asked(number, record["q_num"]) if "q_num" in record else None
        if "q_num" in record and not isinstance(record["q_num"], str):
            self.damaged(raw)
        qid = self._query(number, record["qid"]) if "qid" in record else None
        if asked is not None and qid is not None and asked != qid:
            mend = "Copy both ids from the same line of the sequence file."
            self._findings.add(number, f"qid {qid} for q_num {record['q_num']!r}", f"qid {asked}", mend)
        if "ranking" in record:
            self._ranking(number, record["ranking"], qid or asked)

    def damaged(self, raw: bytes) -> None:
        """Note which entry a wrong line was meant for, where its bytes tell: it is not missing as well."""
        match = _Q_NUM.search(raw)
        place = None if match is None else self._sequence.place.get(match[1].decode("ascii"))
        if place is not None:
            self._damaged.add(place)

    def finish(self, complete: bool = True) -> None:
        """Check what only the whole file can tell; nothing is said to be missing unless it was read to its end."""
        left: dict[int, list[int]] = {}
        for place, line in enumerate(self._line_of):
            if complete and not line and place not in self._damaged:
                left.setdefault(int(self._sequence.sequence[place]), []).append(place)
        for sequence, places in left.items():
            name = self._sequence.names[sequence]
            numbers = sorted(int(self._sequence.q_num[place].rpartition(".")[2]) for place in places)
            prefix = f"{name}." if "." in self._sequence.q_num[places[0]] else ""
            found = f"no line for q_num {ranges(numbers, prefix)} (missing in sequence {name}: {len(places):,})"
            self._findings.add(None, found, "a line for each entry of the sequence file", "Add the missing lines.")
        unknown = [qid for qid in self._sequence.qids if qid not in self._queries.queries]
        if unknown:
            self._findings.warn(
                f"the sequence asks for queries that {self._queries.name} lacks: {listed(unknown, len(unknown))}. "
                "Are the two files of the same year and set?"
            )
        self.impressions.warn(self._findings, complete)

    def _asked(self, number: int, q_num: Any) -> str | None:
        """Return the query that the sequence asks under a number; note one that is wrong or used before."""
        if not isinstance(q_num, str):
            found = f"q_num {_shown(q_num)}, {_kind(q_num)}"
            self._findings.add(number, found, "text", "Copy it from the sequence file, with quotes around it.")
            return None
        place = self._sequence.place.get(q_num)
        if place is None:
            self._findings.add(number, f"q_num {_shown(q_num)}", "an entry of the sequence file, copied as text")
            return None
        first = self._line_of[place]
        if first:
            found = f"q_num {q_num!r} again, first on line {first}"
            self._findings.add(number, found, "one line for each entry of the sequence file", "Delete one of them.")
        else:
            self._line_of[place] = number
        return str(self._sequence.qids[self._sequence.query[place]])

    def _query(self, number: int, qid: Any) -> str | None:
        """Return a query's id as text, None where it is none of the file; note that."""
        if type(qid) is int:
            text = str(qid)
            if text in self._queries.queries:
                return text
            self._findings.add(number, f"qid {qid}", "a query of the query file")
            return None
        mend = "Write the number without quotes." if isinstance(qid, str) else ""
        self._findings.add(number, f"qid {_shown(qid)}, {_kind(qid)}", "a whole number", mend)
        return None

    def _ranking(self, number: int, ranking: Any, qid: str | None) -> None:
        if not isinstance(ranking, list):
            self._findings.add(number, f"a ranking that is no list ({_kind(ranking)})", "a list of document ids")
            return
        if set(map(type, ranking)) - {str} or "" in ranking:
            wrong = [docno for docno in ranking if not isinstance(docno, str) or not docno]
            self._findings.add(number, f"document ids {listed(wrong, len(wrong))}", "ids that are text")
            return
        distinct = frozenset(ranking)
        if len(distinct) < len(ranking):
            self._repeated(number, ranking)
        if self._depth is not None and len(ranking) > self._depth:
            mend = "Leave out the last ones."
            self._findings.add(number, f"{len(ranking):,} documents", f"at most {self._depth:,}", mend)
        query = None if qid is None else self._queries.queries.get(qid)
        if query is not None and self._complete:
            if distinct != query.documents:
                self._other_documents(number, distinct, query.documents)
        elif self._corpus is not None and not self._complete:
            strangers = [docno for docno, known in zip(ranking, self._corpus.has(ranking), strict=True) if not known]
            if strangers:
                found = f"documents that the corpus lacks: {listed(strangers, len(strangers))}"
                self._findings.add(number, found, "documents of the corpus")
        if qid is not None:
            self.impressions.add(qid, ranking)

    def _repeated(self, number: int, ranking: list[str]) -> None:
        twice = [docno for docno, times in Counter(ranking).items() if times > 1]
        self._findings.add(number, f"documents more than once: {listed(twice, len(twice))}", "each document once")

    def _other_documents(self, number: int, found: frozenset[str], expected: frozenset[str]) -> None:
        strangers, absent = sorted(found - expected), sorted(expected - found)
        if strangers:
            text = f"documents that are no candidates: {listed(strangers, len(strangers))}"
            self._findings.add(number, text, "candidates of the query only", "Leave them out.")
        if absent:
            text = f"a ranking without the candidates {listed(absent, len(absent))}"
            self._findings.add(number, text, "every candidate of the query", "Add them, at the end if need be.")


def _kind(value: Any) -> str:
    names = {dict: "an object", list: "a list", str: "text", bool: "true or false", type(None): "null"}
    return names.get(type(value), "a number")


def _shown(value: Any) -> str:
    return listed([value], 1)
