"""``label``: a file of texts becomes a file of labels."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rerankers._base.errors import ConfigError, InputError
from rerankers._base.progress import busy
from rerankers.labels.texts import TextFields, TextReader
from rerankers.labels.writing import Written, write_labels
from rerankers.llm.account import in_words
from rerankers.stages.config_parts import build_part, cache_folder, check_keys, texts

if TYPE_CHECKING:
    from rerankers.labels.base import Labeller
    from rerankers.labels.llm_labeller import LlmLabels

_FILES = ("input", "output", "id_field", "title_field", "text_field")
KEYS = frozenset((*_FILES, "labeller", "paths", "max_unparsed", "allow_targets"))
NO_FAILURE = frozenset({"excluded", "tie"})
"""Reasons for having no label that are nobody's failure."""


def label_from_config(config: Mapping[str, Any]) -> None:
    """Label the texts of a config of ``conf/label.yaml``'s form, write the file and print what became of them.

    Raises
    ------
    InputError
        with all problems of the texts, and then nothing is written; or, with the file written, when more than
        ``max_unparsed`` of the texts have no label.
    FairRerankersError
        with the exit code of the command, for anything else.
    """
    check_keys({key: value for key, value in config.items() if key != "llm"}, KEYS)
    most = _share(config["max_unparsed"])
    paths = [Path(one).expanduser() for one in texts(config["input"])]
    output = Path(str(config["output"])).expanduser()
    if output.is_dir():
        raise ConfigError(f"output: found the folder {output}; expected a file. Type: output=FILE.jsonl")
    if output.resolve() in {path.resolve() for path in paths}:
        raise ConfigError(f"output: found {output}, which is read; expected another file")
    fields = TextFields(_name(config, "id_field"), _text(config, "title_field"), _text(config, "text_field"))
    labeller = build_part(config, "labeller")
    with ExitStack() as stack:
        if hasattr(labeller, "asking"):
            if config.get("llm") is None:
                raise ConfigError(
                    "llm: found none, but this labeller asks a language model; expected one. Type: llm=openai"
                )
            session = stack.enter_context(build_part(config, "llm").session(cache_folder(config)))
            labeller = labeller.asking(session)
            _look_first(labeller, TextReader(paths, fields))
            if session.dry_run:
                for _ in labeller.label(TextReader(paths, fields).texts()):
                    pass  # every request is counted, none is made
                _tell_account(session.account)
                print("dry run: nothing was asked, and no labels are written")
                return
        with busy("labels"):
            done = write_labels(labeller, TextReader(paths, fields), output)
        _tell(labeller, done)
        if hasattr(labeller, "session"):
            _tell_account(labeller.session.account)
    print(f"labels: {output}")
    _refuse_unparsed(done, most, output)


def _look_first(labeller: LlmLabels, reader: TextReader) -> None:
    """Find everything that is wrong with the texts before anybody is paid for an answer."""
    for block in reader.blocks():
        labeller.refuse_examples(block.ids)
    reader.check()


def _tell(labeller: Labeller, done: Written) -> None:
    total = max(done.said.texts, 1)
    print(f"{done.said.texts} texts by {getattr(labeller, 'name', type(labeller).__name__)}")
    names = [*labeller.labels, *(label for label in done.said.labels if label not in labeller.labels)]
    rows = [(label, done.said.labels.get(label, 0)) for label in names]
    rows += [(f"no label: {reason}", number) for reason, number in sorted(done.said.reasons.items())]
    width = max(len(name) for name, _ in rows)
    for name, number in rows:
        print(f"  {name:<{width}}  {number:>8}  {100 * number / total:5.1f} %")
    words = getattr(labeller, "words", None)
    counts = {**({} if words is None else words.counts), **done.counts, **getattr(labeller, "counts", {})}
    if counts:
        print("counts: " + ", ".join(f"{name} {number}" for name, number in counts.items()))


def _tell_account(account: Mapping[str, int | float]) -> None:
    print(f"model: {in_words(account)}")


def _refuse_unparsed(done: Written, most: float, output: Path) -> None:
    asked = done.said.texts - sum(done.said.reasons.get(reason, 0) for reason in NO_FAILURE)
    without = done.said.unlabelled - (done.said.texts - asked)
    if without > most * asked:
        reasons = {key: number for key, number in done.said.reasons.items() if key not in NO_FAILURE}
        found = (
            f"{without} of {asked} texts without a label ({', '.join(f'{k} {n}' for k, n in sorted(reasons.items()))})"
        )
        raise InputError.one(
            str(output), found, f"at most {100 * most:g} %", mend="Allow more with max_unparsed=SHARE."
        )


def _share(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise ConfigError(f"max_unparsed: found {value!r}; expected a share between 0 and 1")
    return float(value)


def _text(config: Mapping[str, Any], key: str) -> str:
    value = config[key]
    if not isinstance(value, str) or not value:
        raise ConfigError(f"{key}: found {value!r}; expected the name of a field")
    return value


def _name(config: Mapping[str, Any], key: str) -> str | None:
    return None if config[key] is None else _text(config, key)
