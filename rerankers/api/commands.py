"""The commands as functions, with the same names and the same options as on the command line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rerankers.api.job import perform
from rerankers.api.outcome import Outcome
from rerankers.api.result import Result
from rerankers.api.words import Override

Place = str | Path | None


def run(
    *overrides: Override, output: Place = None, config_dir: Place = None, verbose: bool = False, **options: Any
) -> Result:
    """Retrieve, rerank, draw rankings, measure their expected exposure, write a report.

    ``run("method=kl_tilt", "target=population", samples=50)`` does what ``fair-rerank run method=kl_tilt
    target=population samples=50`` does, to the bit.

    Parameters
    ----------
    *overrides
        words as on the command line, or mappings: ``{"method": "kl_tilt", "method.temperature": 0.5}``.
    output
        folder of the results; None: a temporary one, which goes with the last object that belongs to the result.
    config_dir
        folder with config groups of your own, as behind ``--config-dir``.
    verbose
        print what the command prints; it is in ``result.text`` in any case.
    **options
        the same as keyword arguments: ``samples=50``, ``method={"temperature": 0.5}``. A text is what stands behind
        the equals sign on the command line; numbers, None, lists and paths are written out. Objects take the place
        of options: ``collection`` may be a `rerankers.values.Collection`, anything with ``load()``, or a mapping of
        frames ``docs``, ``queries`` and maybe ``qrels``, ``groups``; ``candidates`` a run (frame or mapping) in
        place of a first stage; ``groups`` and ``predicted`` a frame or ``{docno: group}``; ``target`` also
        ``{group: share}``; ``method``, ``browsing``, ``retriever`` and the other config groups an object of that
        kind, such as ``RBP(0.9)`` or a method of your own. Frames are written to ``output/inputs``.

    Returns
    -------
    Result

    Raises
    ------
    ConfigError, InputError, MissingError
        as the command ends with exit code 2, 1 and 3.
    """
    return Result(perform("run", overrides, options, output=output, config_dir=config_dir, verbose=verbose))


def evaluate(
    *overrides: Override, output: Place = None, config_dir: Place = None, verbose: bool = False, **options: Any
) -> Result:
    """Judge runs against judgments (and groups): ``evaluate(run=..., qrels=..., groups=...)``.

    Parameters
    ----------
    *overrides, output, config_dir, verbose, **options
        as of `run`. ``run`` is a path, a result of `run`, a frame, a mapping ``{qid: [[docno, …], …]}``, a list of
        these, or ``{name: any of these}``; ``qrels`` a path, a frame, ``{qid: {docno: grade}}`` or tuples as
        ir_measures has them; ``groups`` a path, a frame or ``{docno: group | [groups] | {group: weight} | None}``.

    Returns
    -------
    Result

    Raises
    ------
    ConfigError, InputError, MissingError
        as the command.
    """
    return Result(perform("evaluate", overrides, options, output=output, config_dir=config_dir, verbose=verbose))


def train(
    *overrides: Override, output: Place = None, config_dir: Place = None, verbose: bool = False, **options: Any
) -> Result:
    """Learn a scorer of candidates from judged queries; the result as ``run(..., {"method.model": result})`` uses it.

    Parameters
    ----------
    *overrides, output, config_dir, verbose, **options
        as of `run`, with the options of ``fair-rerank train``.

    Returns
    -------
    Result
        its folder is the model.

    Raises
    ------
    ConfigError, InputError, MissingError
        as the command.
    """
    return Result(perform("train", overrides, options, output=output, config_dir=config_dir, verbose=verbose))


def compare(results: Any, *overrides: Override, output: Place = None, verbose: bool = False, **options: Any) -> Outcome:
    """Put the results of several jobs into one table, with paired differences.

    Parameters
    ----------
    results
        results, sweeps or folders, in a list.
    *overrides, output, verbose, **options
        as of `run`, with the options of ``fair-rerank compare``; without ``output`` the tables are in a temporary
        folder: ``compare([a, b]).content("comparison.csv")``.

    Returns
    -------
    Outcome

    Raises
    ------
    ConfigError, InputError, MissingError
        as the command.
    """
    return Outcome(perform("compare", overrides, {"results": results, **options}, output=output, verbose=verbose))


def submit(*overrides: Override, output: Place, verbose: bool = False, **options: Any) -> Outcome:
    """Write the submission to a TREC Fair Ranking track: ``submit(track="2020-rerank", run=result, output=FILE)``.

    Parameters
    ----------
    *overrides, verbose, **options
        as of `run`, with the options of ``fair-rerank submit``.
    output
        the file.

    Returns
    -------
    Outcome
        ``text`` says what the file and the policy lose.

    Raises
    ------
    ConfigError, InputError, MissingError
        as the command.
    """
    return Outcome(perform("submit", overrides, options, output=output, verbose=verbose))


def command(
    name: str,
    /,
    *overrides: Override,
    output: Place = None,
    config_dir: Place = None,
    verbose: bool = False,
    **options: Any,
) -> Outcome:
    """Run any command that composes a config: ``headroom``, ``power``, ``meta``, ``labels``, ``label``, ``choose`` ….

    Parameters
    ----------
    name
        of the command.
    *overrides, output, config_dir, verbose, **options
        as of `run`, with the options of that command.

    Returns
    -------
    Outcome
        a `Result` for ``run``, ``evaluate`` and ``train``.

    Raises
    ------
    ConfigError, InputError, MissingError
        as the command.
    """
    done = perform(name, overrides, options, output=output, config_dir=config_dir, verbose=verbose)
    return Result(done) if name in ("run", "evaluate", "train") else Outcome(done)
