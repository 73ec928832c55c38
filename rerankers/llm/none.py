"""No language model: what needs one says so."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from rerankers._base.errors import ConfigError
from rerankers.llm.base import Session


@dataclass(frozen=True, slots=True)
class NoModel:
    """The default: nothing is asked of anybody, and what would be is an error."""

    def session(self, cache: Path) -> Session:
        """Refuse.

        Raises
        ------
        ConfigError
            always.
        """
        raise ConfigError(
            "llm: found none, but this needs a language model; expected llm=openai (any server that speaks the "
            "protocol, see llm.base_url), llm=local (a model on this machine) or llm=scripted (replies from a file)"
        )
