"""The command ``fair-rerank``: the first word is the stage, the rest are its overrides."""

from __future__ import annotations

import os
import re
import shlex
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

from rerankers._base.errors import ConfigError, FairRerankersError, MissingError, choose
from rerankers._faults import own_faults
from rerankers._guard import refuse_name_clash

if TYPE_CHECKING:
    from rerankers._hydra import Call

INTERRUPTED = 130
_KEY = re.compile(r"[+~]*[A-Za-z_][\w./@:-]*=|~")
"""How a word begins that is no folder: an override, or one that takes an option away."""

USAGE = """\
fair-rerank COMMAND [overrides...]

  run        retrieve, rerank, draw rankings, measure their expected exposure, write a report
  choose     questions about what is fair, and the config of run that the answers stand for
  train      learn a scorer of candidates from judged queries, for run method.model=DIR
  evaluate   judge run files against qrels (and groups)
  submit     write the submission to a TREC Fair Ranking track from a run or a policy
  validate   check a submission to a TREC Fair Ranking track: every error with its line
  compare    the results of several jobs in one table, and among the published runs of a track
  explain    a query in several jobs side by side, and why documents have their exposure
  power      what comparisons over stored results can find, and the queries and draws it would take
  headroom   what the first stage leaves possible: recall by group, least losses, depths needed
  label      whom texts speak of: by word lists, a language model, given labels or votes
  agreement  how far labels of texts agree with true ones, and labellers with each other
  presence   which groups retrieved texts speak about, and what balancing them costs
  recommend  other queries, relevant to the original and better balanced over groups
  variants   several queries for each topic, from people or a model: what they share, find and show
  labels     what unknown, wrong or sampled group labels leave of a result
  meta       whether measures agree on the order of systems, whatever is assumed
  kit        what measures of gender presence are worth: their properties, and agreement with people
  reproduce  published numbers beside ours, from the data that is there
  ledger     show the ledger of a run with ledger=sqlite, or merge several
  new        a small package of yours to begin with: a method, a collection or a measure
  doctor     say what is wrong with this installation and what to type

Each command explains itself:  fair-rerank run --help
Exit codes: 0 done; 1 the input is wrong; 2 the command line or config is wrong; 3 something is missing;
130 interrupted (the same command continues from its finished stages).
"""

LESS = "Take smaller blocks (execution.block), fewer workers, samples or candidates, or a larger machine"


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    refuse_name_clash()
    words = list(sys.argv[1:] if argv is None else argv)
    if not words or words[0] in ("-h", "--help", "help"):
        print(USAGE, end="")
        return 0 if words else ConfigError.exit_code
    if words[0] in ("-V", "--version"):
        from rerankers import __version__

        print(f"fair-rerankers {__version__}")
        return 0
    try:
        name = choose("command", words[0], dict.fromkeys([*STAGES, *OTHERS]))
        return OTHERS[name](words[1:]) if name in OTHERS else _stage(name, words[1:])
    except FairRerankersError as error:
        print(f"fair-rerank {words[0]}: {error}", file=sys.stderr)
        return error.exit_code
    except BrokenPipeError:
        # The reader of our output has left (`| head`): Python must not try to flush into it at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        # Readers and writers of files name theirs; what is left is the terminal, or a machine in trouble.
        print(f"fair-rerank {words[0]}: {error}", file=sys.stderr)
        return MissingError.exit_code if isinstance(error, FileNotFoundError) else ConfigError.exit_code
    except MemoryError as error:
        print(f"fair-rerank {words[0]}: not enough memory ({error or 'none left'}). {LESS}", file=sys.stderr)
        return MissingError.exit_code
    except KeyboardInterrupt:
        print(
            f"fair-rerank {words[0]}: interrupted; the same command continues from its finished stages", file=sys.stderr
        )
        return INTERRUPTED


@dataclass(frozen=True, slots=True)
class Stage:
    """A command that Hydra composes a config for.

    Attributes
    ----------
    place
        module and function of `rerankers.stages`, imported when the command runs.
    takes
        what the function is given of a call: ``config``, ``output``, ``words``, ``method``.
    written
        brings the words as they are typed into the form that Hydra takes.
    """

    place: str
    takes: tuple[str, ...] = ("config",)
    written: Callable[[list[str]], list[str]] = list


def _stage(name: str, words: list[str]) -> int:
    from rerankers._base.logs import job_log
    from rerankers._hydra import hydra_command

    stage = STAGES[name]

    def task(call: Call) -> None:
        module, _, function = stage.place.partition(":")
        given: dict[str, Any] = {
            "config": call.config,
            "output": call.output,
            "words": call.words,
            "method": call.choices.get("method", ""),
        }
        folder = call.output if "output" in stage.takes else None
        with job_log(shlex.join(["fair-rerank", name, *call.words]), folder), own_faults(call.config):
            getattr(import_module(f"rerankers.stages.{module}"), function)(*(given[one] for one in stage.takes))

    return hydra_command(name, stage.written(words), task)


def _with_folders(words: list[str]) -> list[str]:
    """Write out folders that are typed as bare words: A B for results=[A,B]."""
    from rerankers._hydra import FLAGS_WITH_VALUE
    from rerankers._overrides import quote

    bare, rest, before = list[str](), list[str](), ""
    for word in words:
        is_folder = not word.startswith("-") and not _KEY.match(word) and before not in FLAGS_WITH_VALUE
        (bare if is_folder else rest).append(word)
        before = word
    results = [f"results=[{','.join(quote(word) for word in bare)}]"] if bare else []
    return [*rest, *results]


def _with_axes(words: list[str]) -> list[str]:
    """Write out the axes of a grid: browsing and target would choose an option, as in run; here they are lists."""
    axes = re.compile(r"(browsing|patience|target|unknown|cutoff)=")
    return _with_folders([f"grid.{word}" if axes.match(word) else word for word in words])


def _with_names(words: list[str]) -> list[str]:
    """Write out what is a name here, where Hydra would take the bare word for an option of run."""
    return [re.sub(r"^(collection|retriever)=", r"\1.name=", word) for word in words]


def _with_groups(words: list[str]) -> list[str]:
    """Write out groups that are names of attributes, or a file, where Hydra would look for an option."""
    from rerankers.stages.recommend_words import written

    return written(words)


def _choose(words: list[str]) -> int:
    """Answer with the questions where nothing is answered."""
    if words:
        return _stage("choose", words)
    from rerankers.stages.choose import questions

    print(questions(), end="")
    return 0


def _ledger(words: list[str]) -> int:
    from rerankers.stages.ledger import ledger_command

    return ledger_command(words)


def _new(words: list[str]) -> int:
    from rerankers.stages.new import new_command

    return new_command(words)


def _doctor(words: list[str]) -> int:
    from rerankers.doctor import main as doctor

    return doctor(words)


_OF_JOB = ("config", "output", "words")
STAGES = {
    "run": Stage("from_config:run_from_config", (*_OF_JOB, "method")),
    "choose": Stage("choose:choose_from_config", written=_with_names),
    "train": Stage("train_config:train_from_config", _OF_JOB),
    "evaluate": Stage("from_config:evaluate_from_config", _OF_JOB),
    "submit": Stage("submit:submit_from_config"),
    "validate": Stage("validate:validate_from_config"),
    "compare": Stage("compare:compare_from_config", written=_with_folders),
    "explain": Stage("explain:explain_from_config", written=_with_folders),
    "power": Stage("power:power_from_config", written=_with_folders),
    "headroom": Stage("headroom:headroom_from_config", _OF_JOB),
    "label": Stage("label:label_from_config"),
    "agreement": Stage("agreement:agreement_from_config", _OF_JOB),
    "labels": Stage("label_study:labels_from_config", _OF_JOB),
    "presence": Stage("presence_config:presence_from_config", _OF_JOB),
    "recommend": Stage("recommend:recommend_from_config", _OF_JOB, _with_groups),
    "variants": Stage("variants:variants_from_config", (*_OF_JOB, "method")),
    "meta": Stage("meta:meta_from_config", written=_with_axes),
    "kit": Stage("judged_rankings:kit_from_config"),
    "reproduce": Stage("reproduce:reproduce_from_config"),
}
OTHERS: dict[str, Callable[[list[str]], int]] = {"choose": _choose, "ledger": _ledger, "new": _new, "doctor": _doctor}
