"""The other means by which a ``recommend`` evaluates what it has selected."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rerankers._base.errors import ConfigError, choose
from rerankers.queries.distributions import WEIGHTS


@dataclass(frozen=True, slots=True)
class HeldOut:
    """By what other means results are evaluated than those that selected them; None: by the same.

    Attributes
    ----------
    retriever
        options of the retriever that differ.
    browsing, patience
        weights of ranks.
    targets
        of axes.
    """

    retriever: Mapping[str, Any] | None = None
    browsing: str | None = None
    patience: float = 0.5
    targets: Any = None

    def __post_init__(self) -> None:
        if self.browsing is not None:
            choose("evaluate.browsing", self.browsing, WEIGHTS)
        if not 0 < self.patience < 1:
            raise ConfigError(f"evaluate.patience: found {self.patience}; expected above 0 and below 1")

    def changed(self, retriever: Any) -> Any:
        """Return the retriever with the options that differ.

        Raises
        ------
        ConfigError
            for options that it does not have, or values out of range.
        """
        if not self.retriever:
            return retriever
        known = [one.name for one in dataclasses.fields(retriever)] if dataclasses.is_dataclass(retriever) else []
        for key in self.retriever:
            choose("evaluate.retriever", str(key), known)
        try:
            return dataclasses.replace(retriever, **self.retriever)
        except TypeError as error:
            raise ConfigError(f"evaluate.retriever: {error}; expected values as of the retriever") from error
