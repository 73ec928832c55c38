"""A measure of groups asked for its values on rankings that are written as words."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from rerankers.measures import evaluate

SIZE = 10
CLOSE = 1e-9


class NoValueError(Exception):
    """A ranking on which a measure has no value."""


@dataclass(frozen=True, slots=True)
class Trial:
    """A measure that can be asked for its values on words.

    Attributes
    ----------
    text
        the measure as written.
    sign
        1 where more is better, -1 where less is.
    """

    text: str
    sign: float

    def maybe(
        self,
        *words: str,
        relevant: Callable[[str, int], bool] = lambda group, number: True,
        judged: str = "ab",
        weight: float | None = None,
        names: str = "ab",
        backwards: bool = False,
    ) -> float | None:
        """Return the value of equally likely rankings, None where the measure has none.

        Parameters
        ----------
        *words
            groups of the ranked documents; the documents of a group come in their order.
        relevant
            of a document, by its group and its number within it; all of them unless given.
        judged
            groups whose documents exist.
        weight
            of documents in the other group, for soft labels.
        names
            what the groups a and b are called.
        backwards
            whether the documents of a group come in reverse order.
        """
        rankings = [
            [f"{group}{abs((SIZE - 1) * backwards - word[:place].count(group))}" for place, group in enumerate(word)]
            for word in words
        ]
        docs = [(group, number) for group in judged for number in range(SIZE)]
        qrels = {f"{group}{number}": int(relevant(group, number)) for group, number in docs}
        called = dict(zip("ab", names, strict=True))
        other = dict(zip("ab", reversed(names), strict=True))
        groups: dict[str, object] = {
            f"{group}{number}": called[group] if weight is None else {called[group]: 1 - weight, other[group]: weight}
            for group, number in docs
        }
        table = evaluate({"q": rankings}, {"q": qrels}, groups, measures=self.text)
        value: float | None = table["value"][0].as_py()
        return value

    def value(self, *words: str, **options: object) -> float:
        """Return the value; `NoValueError` where there is none."""
        found = self.maybe(*words, **options)  # type: ignore[arg-type]
        if found is None:
            raise NoValueError(" or ".join(words))
        return found

    def better(self, first: float, second: float) -> bool:
        """Whether the first value is better by more than rounding."""
        return self.sign * (first - second) > CLOSE * max(1.0, abs(first), abs(second))
