"""``fair-rerank choose``: from answers about fairness to an experiment, with what a reviewer would ask about it."""

from __future__ import annotations

import shlex
import textwrap
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from rerankers._base.errors import ConfigError, choose
from rerankers._base.files import unwritable, write_text
from rerankers._conf import build, conf_folder
from rerankers.stages.choice_answers import QUESTIONS, Answers, of_config
from rerankers.stages.choice_recipes import TRAINED, UNTRAINED, Recipe, recipe_of
from rerankers.stages.definition import TITLES, Definition
from rerankers.stages.definitions import definition_of

DEPTH = (
    100  # candidates of bm25 and of run files: what readers look at, and what optimal policies are found for quickly
)
WIDTH = 112
BEGIN = "# @package _global_\n# Written by fair-rerank choose.\n"  # of every experiment: others are not written over
ROUNDS = 20  # that every query is asked where accounts are of all queries together, unless a sequence is given


def questions() -> str:
    """Return the questions with what can be answered, for the terminal."""
    lines = ["fair-rerank choose KEY=ANSWER... writes a config for fair-rerank run. What is asked:"]
    for key, (question, answers) in QUESTIONS.items():
        lines += ["", f"{key}: {question}"]
        for answer, meaning in answers.items():
            first = f"  {key}={answer}"
            lines.append(f"{first:<29} {meaning}")
    lines += [
        "",
        "collection=NAME retriever=NAME attribute=NAME groups=FILE say what it is about; output=DIR name=NAME where",
        "the config goes, DIR/experiment/NAME.yaml. All answers with their defaults: fair-rerank choose --help",
        "",
        "Example: fair-rerank choose definition=merit unit=groups labels=given utility_floor=0.9 output=mine",
    ]
    return "\n".join(lines) + "\n"


def choose_from_config(config: Mapping[str, Any]) -> None:
    """Write the experiment for a config of the form of ``conf/choose.yaml``, and print what was chosen.

    Raises
    ------
    ConfigError
        for answers that do not fit together, saying what would be possible, and a folder that cannot be written.
    """
    print(write(of_config(config).completed()))


def write(answers: Answers) -> str:
    """Write the experiment for answers that fit together; return what is said about it.

    Raises
    ------
    ConfigError
        for a collection or retriever that there is not, a name that is taken, and a folder that cannot be written.
    """
    choose("collection", answers.collection, _options("collection"))
    choose("retriever", str(answers.retriever), _options("retriever"))
    recipe = recipe_of(answers)
    definition, tier = _described(answers, recipe)
    path = Path(answers.output).expanduser() / "experiment" / f"{answers.name}.yaml"
    _check_free(answers.name, path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_text(path, experiment(answers, recipe, definition, tier))
    except OSError as error:
        raise unwritable(path, error) from error
    lines = [f"fairness: {definition}", f"method: {recipe.method}; information tier: {tier}"]
    lines += [f"a reviewer would say: {objection}" for objection in objections(answers, recipe)]
    return "\n".join([*lines, f"written: {path}", f"use: {command(answers)}"])


def _check_free(name: str, path: Path) -> None:
    """Raise `ConfigError` for the name of an experiment of the package, or of a file that `choose` has not written."""
    if name in _options("experiment"):
        raise ConfigError(f"name: found {name}, an experiment of the package, which would be taken; choose another")
    if path.is_file() and not path.read_text(encoding="utf-8", errors="replace").startswith(BEGIN):
        raise ConfigError(f"name: found {name}, but {path} is there and not of fair-rerank choose; choose another")


def experiment(answers: Answers, recipe: Recipe, definition: Definition, tier: str) -> str:
    """Return the text of the experiment."""
    said = {
        "Fairness": f"{TITLES[definition.name]}. {definition.sentence}",
        "To be kept in mind": definition.caveat,
        "Needs": needs(answers),
        "Information tier": tier,
    }
    comments = [f"{title}: {text}" for title, text in said.items() if text]
    comments += [f"A reviewer would say: {text}" for text in recipe_objections(recipe, answers)]
    lines = BEGIN.splitlines()
    for comment in comments:
        lines += textwrap.wrap(comment, WIDTH, initial_indent="# ", subsequent_indent="#   ", break_on_hyphens=False)
    lines.append(f"#   {command(answers)}")
    defaults, values = parts(answers, recipe)
    lines += ["defaults:", *(f"  - override /{group}: {option}" for group, option in defaults.items()), ""]
    body = yaml.safe_dump(values, sort_keys=False, allow_unicode=True, default_flow_style=None, width=1000)
    return "\n".join(lines) + "\n" + (body if values else "")


def parts(answers: Answers, recipe: Recipe) -> tuple[dict[str, str], dict[str, Any]]:
    """Return the chosen options by group, and the values that are set in them."""
    groups = "none" if answers.labels == "none" else ("collection" if answers.groups is None else "file")
    defaults = {
        "collection": answers.collection,
        "retriever": str(answers.retriever),
        "groups": groups,
        "method": recipe.method,
        **({} if recipe.target is None else {"target": recipe.target}),
        **({} if recipe.fit is None else {"fit": recipe.fit}),
    }
    of_groups = {"path": None if answers.groups is None else _absolute(answers.groups), "attribute": answers.attribute}
    values: dict[str, Any] = {
        "predicted": of_groups["path"] if _sees_predictions(answers) else None,
        "collection": {"split": "eval"} if answers.judgments == "train" else {},
        "retriever": _of_retriever(answers),
        "groups": {} if groups == "none" else {key: value for key, value in of_groups.items() if value is not None},
        "method": dict(recipe.options),
        "target": dict(recipe.of_target),
        "fit": dict(recipe.of_fit),
    }
    return defaults, {group: found for group, found in values.items() if found}


def _sees_predictions(answers: Answers) -> bool:
    """Whether the method looks at labels, and they are predicted: then the tier is that of predicted groups."""
    return answers.labels == "predicted" and answers.unit == "groups"


def _of_retriever(answers: Answers) -> dict[str, Any]:
    if answers.retriever != "candidates":
        return {"k": DEPTH}
    return {"by": "none"} if answers.collection == "trec_fair_2019" else {}  # which has no texts to search in


def command(answers: Answers) -> str:
    """Return what runs the experiment; what it still has to be told stands in capitals."""
    words = ["fair-rerank", "run", "--config-dir", answers.output, f"experiment={answers.name}", *_missing(answers)]
    words += [f"rounds={ROUNDS}"] if answers.sequence and answers.unit == "groups" else []
    return shlex.join(words)


def needs(answers: Answers) -> str:
    """Return what has to be there, in words."""
    found = {
        "none": "",
        "given": "group labels of "
        + (answers.groups or f"the collection ({answers.attribute or 'its only attribute'})"),
        "predicted": f"predicted group labels of {answers.groups}",
    }[str(answers.labels)]
    kept = "judged training queries" if answers.judgments == "train" else ""
    return ", ".join(word for word in ("relevance believed of candidates", found, kept) if word) + "."


def objections(answers: Answers, recipe: Recipe) -> list[str]:
    """Return what a reviewer would say about the choice, a sentence each."""
    found = recipe_objections(recipe, answers)
    if answers.labels == "none":
        found.append("Groups are not measured: labels=given adds how they fare, without showing them to the method.")
    return found


def recipe_objections(recipe: Recipe, answers: Answers) -> list[str]:
    """Return what belongs into the experiment as well."""
    found = [note.format(model=_model(answers)) for note in recipe.notes]
    if answers.labels == "predicted":
        found.append(
            "Labels are predicted, and the measures believe them too: put the true labels into groups.path where there "
            "are any, and see fair-rerank labels."
        )
    if answers.utility_floor is None and not answers.sequence:
        found.append("No utility is kept: report it beside every loss.")
    return found


def _described(answers: Answers, recipe: Recipe) -> tuple[Definition, str]:
    """Build method, target and fit as the experiment has them: what is written is known to be right."""
    method = _built("method", recipe.method, recipe.options)
    target = None if recipe.target is None else _built("target", recipe.target, recipe.of_target)
    fit = None if recipe.fit is None else _built("fit", recipe.fit, recipe.of_fit)
    groups = [] if answers.attribute is None else [answers.attribute]
    tier: str = "predicted_groups" if _sees_predictions(answers) else method.tier
    return definition_of(method, target, fit, groups, _built("browsing", "gerr", {})), tier


def _built(group: str, option: str, values: Mapping[str, Any]) -> Any:
    node = yaml.safe_load((conf_folder() / group / f"{option}.yaml").read_text(encoding="utf-8"))
    return build({**node, **values}, where=group)


def _options(group: str) -> list[str]:
    return sorted(path.stem for path in (conf_folder() / group).glob("*.yaml"))


def _missing(answers: Answers) -> list[str]:
    """Return words for what options cannot do without."""
    out = []
    for group, option in (("collection", answers.collection), ("retriever", str(answers.retriever))):
        node = yaml.safe_load((conf_folder() / group / f"{option}.yaml").read_text(encoding="utf-8"))
        out += [f"{group}.{key}={key.upper()}" for key, value in node.items() if value == "???"]
    return out


def _model(answers: Answers) -> str:
    """Return the sentence about a model; it is never trained on the queries that are evaluated."""
    if answers.judgments == "none":
        return UNTRAINED
    words = [f"collection={answers.collection}", *_missing(answers), "collection.split=train"]
    return TRAINED.format(words=" ".join(words))


def _absolute(path: str) -> str:
    found = Path(path).expanduser()
    if not found.is_file():
        raise ConfigError(f"groups: found {path}, which is no file; expected a CSV docno,group")
    return str(found.absolute())
