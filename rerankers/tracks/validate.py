"""Check a submission: every error of a file at once, with its line, in memory that lines hardly fill."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from rerankers._base.errors import ConfigError, InputError, Problem
from rerankers._base.files import BYTE_ORDER_MARK, COMPRESSED, MAX_LINE, open_bytes
from rerankers.tracks.findings import Findings, Verdict
from rerankers.tracks.rules_json import JsonRules
from rerankers.tracks.rules_tsv import TsvRules
from rerankers.tracks.run_blocks import run_blocks

if TYPE_CHECKING:
    from rerankers.tracks.candidates import QueryFile
    from rerankers.tracks.document_ids import DocumentIds
    from rerankers.tracks.sequences import Sequence
    from rerankers.tracks.track import Track

__all__ = ["validate"]

_BLOCK = 1 << 20  # bytes of lines checked at a time
_LONGEST = MAX_LINE


def validate(
    track: Track,
    run: str | Path,
    queries: QueryFile | None = None,
    sequence: Sequence | None = None,
    *,
    tell: Callable[[Problem], None],
    corpus: DocumentIds | None = None,
    depth: int | None = None,
    max_errors: int | None = None,
    shown: str | Path | None = None,
) -> Verdict:
    """Check a run file (plain, ``.gz`` or ``.zst``) against the rules of its track.

    2019 and 2020: each line is JSON with ``q_num`` (text), ``qid`` (whole number) and ``ranking`` (list of texts);
    ``q_num`` is an entry of the sequence file, used once, with the ``qid`` that it has there; every entry has a line.
    No document stands twice in a ranking; 2019 and 2020-rerank: it holds the candidates of its query, all of them and
    no other; 2020-retrieval: at most 100. Extra keys and the order of lines do not matter.

    2021 and 2022: columns ``id, page_id`` or ``id, seq_no, page_id`` of whole numbers, a header or none; topics of the
    topics file, each with all its rankings, in one piece; no page twice in a ranking; not more pages than the track
    takes (fewer are a warning).

    The verdict on a 2019 or 2020 file is that of the organisers' checkers, but for values of a wrong type that these
    let pass (``1.0`` or ``true`` for a ``qid`` of 1, a text in place of a list) and their evaluators trip over, and for
    the depth: where their checker of 2020-retrieval was given one, it took it for text and checked no depth at all.
    Here a depth is a number.

    Parameters
    ----------
    queries
        the query (2019, 2020) or topics file (2021, 2022; may be left out, then topics are not checked).
    sequence
        of 2019 and 2020.
    tell
        called with each error while the file is read. What only the whole file can tell comes last, without a line
        where a line is missing.
    corpus
        documents that exist. For 2020-retrieval, 2021 and 2022 others are errors; elsewhere candidates that it lacks
        are counted in a warning.
    depth
        documents a ranking at most, in place of the track's number.
    max_errors
        errors handed to ``tell``; the others are only counted. None for all.
    shown
        the file's name in errors, where it is not the one that is read.

    Returns
    -------
    Verdict
        with ``errors`` 0 for a valid file.

    Raises
    ------
    ConfigError
        when the track needs a file that is not given, or takes none of the kind given.
    MissingError
        when there is no such file.
    """
    findings = Findings(str(shown or run), tell, max_errors)
    rules = _rules(track, queries, sequence, findings, corpus, depth)
    if _beginning(Path(run)).startswith(BYTE_ORDER_MARK):
        findings.add(1, "a byte-order mark", "plain UTF-8", "Save the file without it.")
    lines, complete = 0, True
    try:
        for first, block, whole in run_blocks(Path(run), _BLOCK, _LONGEST):
            if not whole:
                lines = first
                findings.add(first, f"a line over {_LONGEST >> 20} MiB", "one ranking a line")
                rules.damaged(block)
                continue
            rows = (block.removeprefix(BYTE_ORDER_MARK) if first == 1 else block).removesuffix(b"\n").split(b"\n")
            for number, raw in enumerate(rows, first):
                rules.check(number, raw)
            lines = first + len(rows) - 1
    except InputError as error:  # a broken archive: what comes after it cannot be read, so nobody knows what is missing
        complete = False
        for problem in error.problems:
            checked = f"The {lines:,} lines before the damage were checked; what is missing cannot be told."
            findings.add(problem.line, problem.found, problem.expected, f"{problem.mend} {checked}")
    rules.finish(complete)
    if corpus is not None and queries is not None and track.complete:
        _without_metadata(queries, corpus, findings)
    return Verdict(findings.errors, tuple(findings.warnings), lines, len(rules.impressions))


def _beginning(path: Path) -> bytes:
    """Return the first bytes of a file, unpacked, or none of a broken archive.

    Raises
    ------
    InputError
        for a compressed file whose name does not tell.
    """
    with open_bytes(path) as stream:
        try:
            begin = stream.read(4)
        except (EOFError, OSError, zlib.error):  # what is wrong is said when the lines are read
            return b""
    for magic, suffix in ((b"\x1f\x8b", ".gz"), (b"\x28\xb5\x2f\xfd", ".zst")):
        if begin.startswith(magic) and path.suffix not in COMPRESSED:
            found = f"an archive without the suffix {suffix}"
            raise InputError.one(str(path), found, "a name that tells", mend=f"Rename it to {path.name}{suffix}.")
    return begin


def _rules(
    track: Track,
    queries: QueryFile | None,
    sequence: Sequence | None,
    findings: Findings,
    corpus: DocumentIds | None,
    depth: int | None,
) -> JsonRules | TsvRules:
    if depth is not None and depth < 1:
        raise ConfigError(f"depth: found {depth}; expected 1 or more")
    if track.form == "tsv":
        if sequence is not None:
            raise ConfigError(f"sequence: found a file; expected none, since {track.name} has no sequence")
        topics = None if queries is None else queries.queries.keys()
        if topics is None:
            findings.warn("without queries=FILE (the topics) nobody can tell unknown and missing topics")
        return TsvRules(track, topics, findings, depth, corpus)
    if queries is None or sequence is None:
        absent = [name for name, given in (("queries", queries), ("sequence", sequence)) if given is None]
        raise ConfigError(
            f"{' and '.join(absent)}: found nothing; expected the track's own file for {track.name}. "
            f"Type: {' '.join(f'{name}=FILE' for name in absent)}"
        )
    if depth is not None and track.complete:
        raise ConfigError(f"depth: found {depth}; expected none, since a ranking of {track.name} has every candidate")
    return JsonRules(track, queries, sequence, findings, depth, corpus)


def _without_metadata(queries: QueryFile, corpus: DocumentIds, findings: Findings) -> None:
    pairs = missing = 0
    for query in queries.queries.values():
        pairs += len(query.documents)
        missing += int((~corpus.has(query.documents)).sum())
    if missing:
        findings.warn(f"{missing:,} of {pairs:,} candidates are not in the corpus: nothing is known about them")
