"""What measures of gender presence are worth: their properties, and how far they agree with people."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rerankers._base.errors import ConfigError, choose
from rerankers._base.files import write_text
from rerankers.measures.presence_axioms import check
from rerankers.stages.config_parts import texts, whole_number
from rerankers.stages.judged_rankings_answers import read_answers
from rerankers.stages.judged_rankings_key import read_key
from rerankers.stages.judged_rankings_results import judged
from rerankers.stages.judged_rankings_template import Template, written
from rerankers.stages.judged_rankings_text import axiom_tables, judged_tables, markdown, printed
from rerankers.stages.validate import known_keys, one_path, whole

OF_TEMPLATE = ("labels", "texts", "runs", "pairs", "depth", "judges", "characters")
OF_JUDGED = ("input", "template", "confidence", "resamples")
KEYS = ("study", "measures", *OF_TEMPLATE, *OF_JUDGED, "seed", "output")
STUDIES = ("axioms", "template", "judged")


def kit_from_config(config: Mapping[str, Any]) -> None:
    """Do the study of a config of ``conf/kit.yaml``'s form.

    Raises
    ------
    FairRerankersError
        with the exit code of the command.
    """
    known_keys(config, KEYS)
    study = choose("study", str(config["study"]), STUDIES)
    if not isinstance(config["measures"], Mapping) or set(config["measures"]) != {"names"}:
        raise ConfigError(f"measures: found {config['measures']!r}; expected measures.names=[A,B]")
    names, output, seed = texts(config["measures"]["names"]), one_path(config, "output"), whole_number(config, "seed")
    if study == "template":
        _template(config, output, seed)
        return
    if output is not None and output.is_file():
        raise ConfigError(f"output: found the file {output}; expected a folder. Type: output=DIR")
    if study == "axioms":
        _axioms(names, seed, output)
    else:
        _judged(config, names, seed, output)


def _axioms(names: Sequence[str], seed: int, output: Path | None) -> None:
    found = check(names, seed)
    title, tables = axiom_tables(found)
    record = {"seed": seed, "measures": list(names), "axioms": [one.record() for one in found]}
    _told("axioms", title, tables, record, output)


def _template(config: Mapping[str, Any], output: Path | None, seed: int) -> None:
    if output is None:
        raise ConfigError("output: found nothing; expected a file for the pairs. Type: output=pairs.csv")
    if output.suffix != ".csv":
        raise ConfigError(f"output: found {output}; expected a file called *.csv")
    numbers = {key: _number(config, key) for key in ("pairs", "depth", "judges", "characters")}
    runs = [Path(one) for one in texts(config["runs"])] if config["runs"] else []
    template = Template(one_path(config, "labels"), one_path(config, "texts"), runs, seed=seed, **numbers)
    pairs, key = written(template, output)
    people = "1 person" if template.judges == 1 else f"{template.judges} people"
    print(f"pairs: {output}: {pairs} pairs for {people} to judge; fill the column answer")
    print(f"key: {key}: what each pair is, not for those who judge")
    print(f"then: fair-rerank kit study=judged input={output}")


def _judged(config: Mapping[str, Any], names: Sequence[str], seed: int, output: Path | None) -> None:
    if config["input"] is None:
        raise ConfigError("input: found nothing; expected the filled file. Type: input=pairs.csv")
    paths = [Path(one) for one in texts(config["input"])]
    template = one_path(config, "template")
    key = read_key(paths[0] if template is None else template)
    answers = read_answers(paths, [pair.name for pair in key.pairs])
    level = config["confidence"]
    if isinstance(level, bool) or not isinstance(level, int | float) or not 0 < level < 1:
        raise ConfigError(f"confidence: found {level!r}; expected a number between 0 and 1")
    found = judged(key.pairs, answers, names, seed=seed, level=float(level), resamples=_number(config, "resamples"))
    title, tables = judged_tables(found)
    record = {"input": [str(path) for path in paths], "template": key.about, **found}
    _told("judged", title, tables, record, output)


def _told(
    name: str,
    title: list[str],
    tables: list[tuple[str, list[list[str]]]],
    record: Mapping[str, Any],
    output: Path | None,
) -> None:
    for line in printed(title, tables):
        print(line)
    if output is not None:
        text, data = output / f"{name}.md", output / f"{name}.json"
        write_text(data, json.dumps(record, ensure_ascii=False, allow_nan=False, indent=1) + "\n")
        write_text(text, markdown(title, tables))
        print(f"{name}: {text}, {data}")


def _number(config: Mapping[str, Any], key: str) -> int:
    found = whole(config, key)
    if found is None:
        raise ConfigError(f"{key}: found null; expected a whole number of at least 1")
    return found
