"""The one family of errors, each with the exit code its command ends with."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import ClassVar


class FairRerankersError(Exception):
    """Base of every error raised on purpose; ``exit_code`` is what the command returns."""

    exit_code: ClassVar[int] = 1


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing wrong with an input: where, what was found, what was expected, how to mend it.

    ``where`` is a file path, a query id or an argument name; ``line`` is 1-based.
    """

    where: str
    found: str
    expected: str
    line: int | None = None
    mend: str = ""

    def __str__(self) -> str:
        place = self.where if self.line is None else f"{self.where}:{self.line}"
        text = f"{place}: found {self.found}; expected {self.expected}"
        return f"{text}. {self.mend}" if self.mend else text


class InputError(FairRerankersError, ValueError):
    """The input is wrong (exit code 1). Carries every problem found, one per line of its text."""

    exit_code: ClassVar[int] = 1

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems: tuple[Problem, ...] = tuple(problems)
        super().__init__("\n".join(str(problem) for problem in self.problems))

    @classmethod
    def one(cls, where: str, found: str, expected: str, *, line: int | None = None, mend: str = "") -> InputError:
        """Return an error with a single problem."""
        return cls([Problem(where, found, expected, line, mend)])

    def __reduce__(self) -> tuple[type[InputError], tuple[tuple[Problem, ...]]]:
        # Exceptions are rebuilt from their text otherwise, which breaks on the way back from a worker process.
        return type(self), (self.problems,)


class ConfigError(FairRerankersError, ValueError):
    """The command line or the config is wrong (exit code 2)."""

    exit_code: ClassVar[int] = 2


class MissingError(FairRerankersError):
    """Something the job needs is not there: Java, a package, a data file (exit code 3).

    The text ends with what to type to get it.
    """

    exit_code: ClassVar[int] = 3


class WorkerLostError(FairRerankersError):
    """A part of the work ended its worker process, most often for want of memory (exit code 3).

    Parameters
    ----------
    part
        what is worked on, in words.
    times
        how often it was tried, each time with the same end.
    cause
        what the engine said.
    """

    exit_code: ClassVar[int] = 3

    def __init__(self, part: str, times: int, cause: BaseException | str) -> None:
        self.part, self.times, self.cause = part, times, str(cause)
        said = " ".join(self.cause.split())
        super().__init__(
            f"{part}: its worker was lost {times} times (no memory left?): {said[:300]}. Give it less at once "
            "(execution.block=1, fewer samples, a smaller retriever.k), or take fewer workers or more memory"
        )

    def __reduce__(self) -> tuple[type[WorkerLostError], tuple[str, int, str]]:
        return type(self), (self.part, self.times, self.cause)


class InfeasibleError(FairRerankersError, ValueError):
    """No policy satisfies the constraints that were asked for (exit code 1)."""

    exit_code: ClassVar[int] = 1


@dataclass(slots=True)
class Problems:
    """Collects the problems of one file, so that all of them are reported at once.

    Memory is bounded: past ``limit`` problems only their number is kept.
    """

    where: str
    limit: int = 1000
    kept: list[Problem] = field(default_factory=list)
    beyond: int = 0

    def add(self, line: int | None, found: str, expected: str, mend: str = "") -> None:
        """Note one problem."""
        if len(self.kept) < self.limit:
            self.kept.append(Problem(self.where, found, expected, line, mend))
        else:
            self.beyond += 1

    def __bool__(self) -> bool:
        return bool(self.kept)

    def raise_if_any(self) -> None:
        """Raise `InputError` with everything noted so far, if anything was."""
        if not self.kept:
            return
        problems = list(self.kept)
        if self.beyond:
            problems.append(
                Problem(self.where, f"{self.beyond} more problems", "none", mend="Only the first are listed.")
            )
        raise InputError(problems)


def choose(name: str, value: str, options: Iterable[str]) -> str:
    """Return ``value`` when it is one of ``options``; otherwise say which exist and which was meant.

    Raises
    ------
    ConfigError
        when ``value`` is not among ``options``.
    """
    known = list(options)
    if value in known:
        return value
    near = difflib.get_close_matches(str(value), map(str, known), n=1)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    expected = f"one of {', '.join(map(str, known))}" if known else "none, for there is nothing to choose from"
    raise ConfigError(f"{name}: found {value!r}; expected {expected}.{hint}")
