"""Check a submission and say everything that is wrong with it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from rerankers._base.errors import ConfigError, InputError, Problem, choose
from rerankers.tracks.candidates import QueryFile, read_queries
from rerankers.tracks.document_ids import read_document_ids
from rerankers.tracks.file_kinds import expect_kind
from rerankers.tracks.sequences import Sequence, read_sequence
from rerankers.tracks.track import Track, track_of
from rerankers.tracks.validate import validate

KEYS = ("track", "run", "queries", "sequence", "corpus", "depth", "max_errors")


def validate_from_config(config: Mapping[str, Any], tell: Callable[[Problem], None] | None = None) -> None:
    """Check the run of a config of ``conf/validate.yaml``'s form.

    Errors go to ``tell``, else to standard error, one a line, as they are met; then the warnings, and the sum.

    Raises
    ------
    InputError
        when the run is not valid: that there were errors, which have been told already.
    FairRerankersError
        with the exit code of the command, for files that cannot be read and words that are wrong.
    """
    known_keys(config, KEYS)
    track = track_of(str(config["track"]))
    run = one_path(config, "run")
    if run is None:
        raise ConfigError("run: found nothing; expected a run file. Type: run=FILE")
    sequence, corpus = one_path(config, "sequence"), one_path(config, "corpus")
    queries, entries = read_track_queries(track, one_path(config, "queries")), read_track_sequence(track, sequence)
    expect_kind("run", run, "json run" if track.form == "jsonl" else "columns")
    verdict = validate(
        track,
        run,
        queries,
        entries,
        tell=tell or _tell,
        corpus=None if corpus is None else read_document_ids(corpus),
        depth=whole(config, "depth"),
        max_errors=whole(config, "max_errors"),
    )
    for warning in verdict.warnings:
        print(f"warning: {warning}", file=sys.stderr)
    if verdict.errors:
        raise InputError.one(str(run), f"{verdict.errors:,} errors in {verdict.lines:,} lines", f"a {track.name} run")
    print(f"{run}: valid for {track.name}: {verdict.lines:,} lines, {verdict.queries:,} queries")


def _tell(problem: Problem) -> None:
    print(problem, file=sys.stderr)


def read_track_queries(track: Track, path: Path | None) -> QueryFile | None:
    """Read the queries (or topics) of a track, with what its rules need of them."""
    if path is None:
        return None
    expect_kind("queries", path, *(("queries", "topics") if track.form == "jsonl" else ("topics", "queries")))
    return read_queries(path, "qid" if track.form == "jsonl" else "id", candidates=track.complete)


def read_track_sequence(track: Track, path: Path | None) -> Sequence | None:
    """Read the sequence of a track that has one."""
    if path is None:
        return None
    if not track.has_sequence:
        raise ConfigError(f"sequence: found {path}; expected none, since {track.name} has no sequence")
    expect_kind("sequence", path, "sequence")
    return read_sequence(path)


def known_keys(config: Mapping[str, Any], keys: tuple[str, ...]) -> None:
    """Raise `ConfigError` unless a config has these keys and no others."""
    for key in config:
        choose("option", key, keys)
    for key in keys:
        if key not in config:
            raise ConfigError(f"{key}: taken away; expected a value")


def one_path(config: Mapping[str, Any], key: str) -> Path | None:
    """Return a path of a config, None for null."""
    value = config[key]
    if value is None:
        return None
    if not isinstance(value, str):
        raise ConfigError(f"{key}: found {value!r}; expected one path")
    return Path(value)


def whole(config: Mapping[str, Any], key: str, least: int | None = 1) -> int | None:
    """Return a whole number of a config, None for null."""
    value = config[key]
    if value is None:
        return None
    if type(value) is not int or (least is not None and value < least) or not -(2**63) <= value < 2**63:
        bound = "" if least is None else f" of at least {least}"
        raise ConfigError(f"{key}: found {value!r}; expected a whole number{bound}")
    return value
