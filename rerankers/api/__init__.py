"""The commands of ``fair-rerank`` as functions, and reranking without files: what a notebook uses.

``import rerankers as fr`` offers all of it: ``fr.run``, ``fr.sweep``, ``fr.evaluate``, ``fr.train``, ``fr.compare``,
``fr.submit``, ``fr.validate``, ``fr.command`` for every other command, ``fr.Result`` and ``fr.Reranker``.

Functions raise the package's exceptions (`ConfigError`, `InputError`, `MissingError`, all `FairRerankersError`), print
nothing unless ``verbose=True``, never leave the process, and change neither the working directory nor Hydra's state.
They may be called from several threads at once; jobs that write to one folder refuse each other as commands do.
"""

from rerankers.api.commands import command, compare, evaluate, run, submit, train
from rerankers.api.outcome import Outcome
from rerankers.api.reranker import Reranker
from rerankers.api.result import Result
from rerankers.api.sweep import Sweep, sweep
from rerankers.api.validation import Validation, validate

__all__ = [
    "Outcome",
    "Reranker",
    "Result",
    "Sweep",
    "Validation",
    "command",
    "compare",
    "evaluate",
    "run",
    "submit",
    "sweep",
    "train",
    "validate",
]
