"""What `explain` looks at: folders of ``run``, folders of ``evaluate`` and run files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from rerankers._base.errors import ConfigError, MissingError
from rerankers.runs import PARQUET_FILE, TREC_FILE
from rerankers.stages.evaluate import EvaluateJob
from rerankers.stages.explain_ranked import RankedSource, evaluated_job
from rerankers.stages.explain_rebuild import CONFIG, POLICY
from rerankers.stages.explain_run import RunSource

Source = RunSource | RankedSource


def sources_of(
    paths: Sequence[Path], given: EvaluateJob | None, names: Mapping[Path, str] | None = None
) -> list[Source]:
    """Return what there is to look at; run files are read together, under one coding.

    Parameters
    ----------
    paths
        folders of ``run`` or ``evaluate``, or run files.
    given
        the judgments and the browsing model of run files; None where there are none.
    names
        what folders are called; None calls them by their last part, or all of it where two end alike.

    Raises
    ------
    MissingError
        for a path that is not there.
    ConfigError
        for run files without judgments, and a folder of a preset's results.
    """
    labels, found, files = dict(names or _labels(paths)), list[Source](), list[Path]()
    for path in paths:
        if not path.exists():
            raise MissingError(f"{path}: no such file or folder. Type: fair-rerank run output={path}")
        if (path / POLICY).is_file():
            found.append(RunSource(labels[path], path))
        elif (path / CONFIG).is_file():
            found.append(RankedSource(evaluated_job(path)))
        elif path.is_file() or any((path / name).is_file() for name in (PARQUET_FILE, TREC_FILE)):
            files.append(path)
        else:
            raise MissingError(
                f"{path}: found neither {POLICY} and {CONFIG} of fair-rerank run, nor those of evaluate, nor a run"
            )
    if files:
        if given is None:
            raise ConfigError(f"qrels: found null; expected the judgments of {files[0]}. Type: qrels=FILE")
        found.append(RankedSource(replace(given, runs=files)))
    return found


def _labels(paths: Sequence[Path]) -> dict[Path, str]:
    """Return what each path is called: its last part, or all of it where another one ends alike."""
    last = [path.resolve().name for path in paths]
    return {path: name if last.count(name) == 1 else str(path) for path, name in zip(paths, last, strict=True)}
