"""A submission checked: every problem as a value, where the command prints them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from rerankers._base.errors import InputError, Problem
from rerankers.api.job import Done, perform
from rerankers.api.outcome import Outcome
from rerankers.api.quiet import Said

if TYPE_CHECKING:
    from rerankers.api.words import Override


class Validation(Outcome):
    """What is wrong with a submission; true where nothing is.

    Attributes
    ----------
    problems
        every error with its line (`rerankers._base.errors.Problem`), empty for a valid file. Warnings are in ``text``.
    """

    def __init__(self, done: Done, problems: tuple[Problem, ...]) -> None:
        super().__init__(done)
        self.problems = problems

    @property
    def valid(self) -> bool:
        """Whether nothing is wrong."""
        return not self.problems

    def __bool__(self) -> bool:
        return self.valid

    def __repr__(self) -> str:
        return "Validation(valid)" if self.valid else f"Validation({len(self.problems)} problems)"


def validate(*overrides: Override, verbose: bool = False, **options: Any) -> Validation:
    """Check a submission to a TREC Fair Ranking track: ``validate(track="2020-rerank", run=FILE, queries=FILE)``.

    Parameters
    ----------
    *overrides, verbose, **options
        as of `run`, with the options of ``fair-rerank validate``.

    Returns
    -------
    Validation
        true where the file is valid, else with every problem. Only files that cannot be read at all raise.

    Raises
    ------
    ConfigError, InputError, MissingError
        for wrong options, and files that cannot be read or are of another kind.
    """
    problems: list[Problem] = []
    try:
        done = perform("validate", overrides, options, verbose=verbose, extra={"tell": problems.append})
    except InputError as error:
        if not problems:
            raise
        said = Said(err="\n".join(map(str, [*problems, error])))
        done = Done("validate", None, _plain(options), said, None, "", None)
    return Validation(done, tuple(problems))


def _plain(options: Mapping[str, Any]) -> dict[str, Any]:
    return {key: str(value) for key, value in options.items()}
