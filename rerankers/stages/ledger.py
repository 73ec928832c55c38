"""The command ``ledger``: look at ledgers that jobs have left, and add up those that were kept apart."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from rerankers._base.errors import ConfigError, choose

USAGE = """\
fair-rerank ledger show PATH [top=10]
fair-rerank ledger merge A B [...] into=FILE

  show    who is owed most, who is ahead most, and where the sequences stand; the ledger is only read, while other
          jobs may write to it
  merge   add up ledgers of one configuration that served different sequences, rankings included, in a new file

Ledgers are what fair-rerank run leaves with ledger=sqlite ledger.path=FILE.
"""
_OPTION = re.compile(r"([A-Za-z_][A-Za-z_.]*)=(.*)", re.DOTALL)


def ledger_command(words: Sequence[str]) -> int:
    """Run ``show`` or ``merge`` and return the exit code.

    Raises
    ------
    FairRerankersError
        with the exit code of the command.
    """
    if not words or any(word in ("-h", "--help") for word in words):
        print(USAGE, end="")
        return 0 if words else ConfigError.exit_code
    action = choose("ledger", words[0], ("show", "merge"))
    if action == "show":
        _show(words[1:])
    else:
        _merge(words[1:])
    return 0


def _show(words: Sequence[str]) -> None:
    paths, options = _parsed(words, ("top",))
    if len(paths) != 1:
        raise ConfigError(f"ledger show: found {len(paths)} paths; expected one. Type: fair-rerank ledger show PATH")
    text = options.get("top", "10")
    if not re.fullmatch(r"[0-9]{1,9}", text) or int(text) < 1:
        raise ConfigError(f"top: found {text!r}; expected a whole number of at least 1")
    from rerankers.ledger import show

    print(show(paths[0], int(text)), end="")


def _merge(words: Sequence[str]) -> None:
    paths, options = _parsed(words, ("into",))
    if len(paths) < 2:
        raise ConfigError(f"ledger merge: found {len(paths)} ledgers; expected two or more")
    if not options.get("into"):
        raise ConfigError("into: found nothing; expected the name of a new file. Type: into=FILE")
    from rerankers.ledger import merge_files

    into = Path(options["into"]).expanduser()
    whole = merge_files(paths, into)
    print(
        f"{into}: {len(paths)} ledgers, {int(whole.impressions.sum()):,} impressions of {len(whole.spans):,} sequences "
        f"in {len(whole.accounts):,} accounts"
    )


def _parsed(words: Sequence[str], known: Sequence[str]) -> tuple[list[Path], dict[str, str]]:
    """Tell paths from options; a path may hold an equals sign where there is such a file."""
    paths: list[Path] = []
    options: dict[str, str] = {}
    for word in words:
        match = _OPTION.fullmatch(word)
        if word.startswith("-"):
            raise ConfigError(f"{word}: no such option; expected one of {', '.join(f'{name}=' for name in known)}")
        if match is None or (match[1] not in known and Path(word).exists()):
            paths.append(Path(word).expanduser())
        elif choose("option", match[1], known) in options:
            raise ConfigError(f"{match[1]}: found twice; expected once")
        else:
            options[match[1]] = match[2]
    return paths, options
