"""Every config composes and builds, and says what its dataclass says."""

from __future__ import annotations

import dataclasses
import importlib
from pathlib import Path
from typing import Any

import pytest
import yaml
from hydra import compose, initialize_config_dir
from omegaconf import OmegaConf

from rerankers._base.errors import ConfigError
from rerankers._conf import build, conf_folder

CONF = conf_folder()
OPTIONS = sorted(path.relative_to(CONF) for path in CONF.glob("*/*.yaml"))
OF_TRAIN = ("features", "model", "objective", "calibration")
BUILT = (
    "collection",
    "retriever",
    "method",
    "browsing",
    "groups",
    "execution",
    "preset",
    "target",
    "ledger",
    "fit",
    "llm",
    "labeller",
    "generator",
    *OF_TRAIN,
)
ROOTS = {"generator": "recommend", "llm": "label", "labeller": "label"}
"""Commands of the groups that `run` does not have."""
OF_ALL = {"method": ("model",), "objective": ("fairness_weight", "unfairness")}
"""Options of every choice of a group: stages take them out before it is built."""
NEEDED = {
    ("collection", "jsonl"): {"path": "folder"},
    ("collection", "ir_datasets"): {"id": "cranfield"},
    ("collection", "letor"): {"path": "rank.train"},
    ("target", "custom"): {"path": "shares.csv"},
    ("collection", "trec_fair_2019"): {"path": "folder"},
    ("collection", "trec_fair_2020"): {"path": "folder"},
    ("retriever", "run_file"): {"run": "file.run"},
    ("collection", "grep_biasir"): {"path": "folder"},
    ("groups", "labels"): {"path": "labels.jsonl"},
    ("groups", "file"): {"path": "groups.csv"},
    ("groups", "annotations"): {"path": "merged-annotations.json"},
    ("groups", "author_field"): {"attribute": "cited", "field": "h_index", "at_least": 1},
    ("llm", "openai"): {"model": "name"},
    ("generator", "list"): {"path": "queries.tsv"},
    ("generator", "variants"): {"path": "variants.csv"},
    ("llm", "local"): {"model": "folder"},
    ("labeller", "file"): {"path": "labels.csv"},
}


def composed(*overrides: str, root: str = "run") -> dict[str, Any]:
    with initialize_config_dir(str(CONF), version_base="1.3"):
        config = compose(root, overrides=list(overrides))
    return OmegaConf.to_container(config, resolve=False)  # type: ignore[return-value]


def root_of(option: Path) -> str:
    """Return the command that an option is of; an experiment says so by the groups that it chooses from."""
    chosen = {option.parts[0]}
    if option.parts[0] == "experiment":
        defaults = yaml.safe_load((CONF / option).read_text()).get("defaults", [])
        chosen = {key.removeprefix("override /") for entry in defaults if isinstance(entry, dict) for key in entry}
    return "train" if chosen & set(OF_TRAIN) else ROOTS.get(option.parts[0], "run")


@pytest.mark.parametrize("option", OPTIONS, ids=str)
def test_every_option_composes_and_builds(option: Path) -> None:
    group, name = option.parts[0], option.stem
    node = composed(f"{group}={name}", root=root_of(option)).get(group)
    node = node[name] if group == "generator" else node  # several at once, each under its name
    if group in BUILT:
        for key in OF_ALL.get(group, ()):
            node.pop(key)
        built = build({**node, **NEEDED.get((group, name), {})}, where=group)
        assert type(built).__name__ == node["_target_"].rpartition(".")[2]
    else:
        assert group in ("measures", "paths", "experiment")


@pytest.mark.parametrize("option", [o for o in OPTIONS if o.parts[0] in BUILT and o.parts[0] != "preset"], ids=str)
def test_yaml_agrees_with_its_dataclass(option: Path) -> None:
    """The YAML shows every option with its default, so that --help and the file say all there is to set."""
    node = yaml.safe_load((CONF / option).read_text())
    module, _, name = node.pop("_target_").rpartition(".")
    kind = getattr(importlib.import_module(module), name)
    fields = {field.name: field for field in dataclasses.fields(kind) if field.init}
    injected = {"browsing"} if option.parts[0] == "objective" else set()  # the job's own browsing model
    assert set(node) == set(fields) - injected
    if option.stem in ("cacm_P", "cacm_C", "positions", "topk_set", "pl_rank_3", "neighbours_llm", "keywords_llm"):
        return  # named choices of values
    for key, value in node.items():
        factory = fields[key].default_factory
        default = fields[key].default if factory is dataclasses.MISSING else factory()
        if default is dataclasses.MISSING:
            assert value == "???", key
        else:
            assert value == default, key


@pytest.mark.parametrize(
    ("node", "message"),
    [
        ({"_target_": "os.system", "command": "true"}, "expected a class of the packages rerankers"),
        ({"_target_": "rerankers._base.files.os.remove", "path": "x"}, "cannot be imported|not a class"),
        ({"_target_": "rerankers._base.files.Path"}, "not a class of rerankers"),
        ({"_target_": "rerankers._conf.build"}, "not a class"),
        ({"_target_": "rerankers.methods.plackett_luce.PlackettLuce", "temprature": 1}, "Did you mean method.temp"),
        ({"_target_": "rerankers.methods.plackett_luce.PlackettLuce", "temperature": "warm"}, "temperature"),
        ({"_target_": "rerankers.methods.plackett_luce.PlackettLuce", "temperature": -1.0}, "positive"),
        ({}, "expected a class"),
    ],
)
def test_what_may_not_be_built(node: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        build(node, where="method")


def test_own_classes_need_the_allow_list(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mine_for_test.py").write_text(
        "from dataclasses import dataclass\n@dataclass\nclass Mine:\n    strength: float = 2\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    node = {"_target_": "mine_for_test.Mine", "strength": 3}
    with pytest.raises(ConfigError, match="allow_targets"):
        build(node)
    assert build(node, ["mine_for_test"]).strength == 3
