"""The command ``fair-rerank``: the first word is the stage, the rest are its overrides."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from rerankers._base.errors import ConfigError, FairRerankersError, MissingError, choose
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
  power      what comparisons over stored results can find, and the queries and draws it would take
  headroom   what the first stage leaves possible: recall by group, least losses, depths needed
  labels     what unknown, wrong or sampled group labels leave of a result
  meta       whether measures agree on the order of systems, whatever is assumed
  reproduce  published numbers beside ours, from the data that is there
  ledger     show the ledger of a run with ledger=sqlite, or merge several
  doctor     say what is wrong with this installation and what to type

Each command explains itself:  fair-rerank run --help
Exit codes: 0 done; 1 the input is wrong; 2 the command line or config is wrong; 3 something is missing;
130 interrupted (the same command continues from its finished stages).
"""


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
        command = COMMANDS[choose("command", words[0], COMMANDS)]
        return command(words[1:])
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
    except KeyboardInterrupt:
        print(
            f"fair-rerank {words[0]}: interrupted; the same command continues from its finished stages", file=sys.stderr
        )
        return INTERRUPTED


def _run(words: list[str]) -> int:
    from rerankers._hydra import hydra_command

    return hydra_command("run", words, _run_task)


def _train(words: list[str]) -> int:
    from rerankers._hydra import hydra_command

    return hydra_command("train", words, _train_task)


def _choose(words: list[str]) -> int:
    if not words:
        from rerankers.stages.choose import questions

        print(questions(), end="")
        return 0
    from rerankers._hydra import hydra_command

    # These are names here; Hydra would take the bare words for options of run.
    named = [re.sub(r"^(collection|retriever)=", r"\1.name=", word) for word in words]
    return hydra_command("choose", named, _choose_task)


def _evaluate(words: list[str]) -> int:
    from rerankers._hydra import hydra_command

    return hydra_command("evaluate", words, _evaluate_task)


def _submit(words: list[str]) -> int:
    from rerankers._hydra import hydra_command

    return hydra_command("submit", words, _submit_task)


def _validate(words: list[str]) -> int:
    from rerankers._hydra import hydra_command

    return hydra_command("validate", words, _validate_task)


def _compare(words: list[str]) -> int:
    from rerankers._hydra import hydra_command

    return hydra_command("compare", _with_folders(words), _compare_task)


def _power(words: list[str]) -> int:
    from rerankers._hydra import hydra_command

    return hydra_command("power", _with_folders(words), _power_task)


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


def _headroom(words: list[str]) -> int:
    from rerankers._hydra import hydra_command

    return hydra_command("headroom", words, _headroom_task)


def _labels(words: list[str]) -> int:
    from rerankers._hydra import hydra_command

    return hydra_command("labels", words, _labels_task)


def _meta(words: list[str]) -> int:
    from rerankers._hydra import hydra_command

    # browsing and target would choose an option, as in run; here they and their like are lists.
    axes = re.compile(r"(browsing|patience|target|unknown|cutoff)=")
    written = [f"grid.{word}" if axes.match(word) else word for word in words]
    return hydra_command("meta", _with_folders(written), _meta_task)


def _reproduce(words: list[str]) -> int:
    from rerankers._hydra import hydra_command

    return hydra_command("reproduce", words, _reproduce_task)


def _ledger(words: list[str]) -> int:
    from rerankers.stages.ledger import ledger_command

    return ledger_command(words)


def _doctor(words: list[str]) -> int:
    from rerankers.doctor import main as doctor

    return doctor(words)


def _run_task(call: Call) -> None:
    from rerankers.stages.from_config import run_from_config

    run_from_config(call.config, call.output, call.words, call.choices.get("method", ""))


def _train_task(call: Call) -> None:
    from rerankers.stages.train_config import train_from_config

    train_from_config(call.config, call.output, call.words)


def _choose_task(call: Call) -> None:
    from rerankers.stages.choose import choose_from_config

    choose_from_config(call.config)


def _evaluate_task(call: Call) -> None:
    from rerankers.stages.from_config import evaluate_from_config

    evaluate_from_config(call.config, call.output, call.words)


def _submit_task(call: Call) -> None:
    from rerankers.stages.submit import submit_from_config

    submit_from_config(call.config)


def _validate_task(call: Call) -> None:
    from rerankers.stages.validate import validate_from_config

    validate_from_config(call.config)


def _compare_task(call: Call) -> None:
    from rerankers.stages.compare import compare_from_config

    compare_from_config(call.config)


def _power_task(call: Call) -> None:
    from rerankers.stages.power import power_from_config

    power_from_config(call.config)


def _headroom_task(call: Call) -> None:
    from rerankers.stages.headroom import headroom_from_config

    headroom_from_config(call.config, call.output, call.words)


def _labels_task(call: Call) -> None:
    from rerankers.stages.label_study import labels_from_config

    labels_from_config(call.config, call.output, call.words)


def _meta_task(call: Call) -> None:
    from rerankers.stages.meta import meta_from_config

    meta_from_config(call.config)


def _reproduce_task(call: Call) -> None:
    from rerankers.stages.reproduce import reproduce_from_config

    reproduce_from_config(call.config)


COMMANDS: dict[str, Callable[[list[str]], int]] = {
    "run": _run,
    "choose": _choose,
    "train": _train,
    "evaluate": _evaluate,
    "submit": _submit,
    "validate": _validate,
    "compare": _compare,
    "power": _power,
    "headroom": _headroom,
    "labels": _labels,
    "meta": _meta,
    "reproduce": _reproduce,
    "ledger": _ledger,
    "doctor": _doctor,
}
