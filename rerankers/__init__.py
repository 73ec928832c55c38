"""Stochastic fair reranking: policies over rankings, exact expected exposure, fairness measures.

The commands as functions (`rerankers.api`) are imported when they are first used: ``import rerankers`` alone is light.
"""

from importlib import import_module as _import

from rerankers._guard import refuse_name_clash

refuse_name_clash()

__version__ = "0.1.0"

_LATER = {
    **dict.fromkeys(("run", "sweep", "train", "evaluate", "compare", "submit", "validate", "command"), "rerankers.api"),
    **dict.fromkeys(("Result", "Outcome", "Sweep", "Validation", "Reranker"), "rerankers.api"),
    **dict.fromkeys(("FairRerankersError", "ConfigError", "InputError", "MissingError"), "rerankers._base.errors"),
}
"""Name -> module that has it."""

__all__ = ["__version__", *_LATER]


def __getattr__(name: str) -> object:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(_import(_LATER[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATER})
