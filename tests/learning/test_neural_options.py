"""Options of the scorers, their files in conf/, and that torch is loaded only when it is needed."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import asdict, replace
from pathlib import Path

import pytest
from omegaconf import OmegaConf

from rerankers._base.errors import ConfigError
from rerankers.learning.neural import MLP, Attention, Linear, Training
from rerankers.learning.neural.options import ACTIVATIONS

CONF = Path(__file__).resolve().parents[2] / "conf" / "model"


@pytest.mark.parametrize("kind", [Linear, MLP, Attention])
def test_files_hold_the_defaults(kind: type[Training]) -> None:
    values = OmegaConf.to_container(OmegaConf.load(CONF / f"{kind.__name__.lower()}.yaml"))
    assert values.pop("_target_") == f"rerankers.learning.neural.{kind.__name__}"
    assert values == asdict(kind())
    assert OmegaConf.to_container(OmegaConf.structured(kind)) == asdict(kind())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"optimizer": "adm"}, r"model.optimizer: found 'adm'.*Did you mean 'adam'"),
        ({"schedule": "linear"}, r"model.schedule"),
        ({"device": "gpu"}, r"model.device"),
        ({"dtype": "float16"}, r"model.dtype"),
        ({"epochs": 0}, r"model.epochs: found 0; expected at least 1"),
        ({"threads": 0}, r"model.threads"),
        ({"queries_per_batch": 0}, r"model.queries_per_batch"),
        ({"patience": 0}, r"model.patience"),
        ({"checkpoint_every": 0}, r"model.checkpoint_every"),
        ({"learning_rate": 0.0}, r"model.learning_rate: found 0.0; expected a number above 0, or null"),
        ({"learning_rate": float("nan")}, r"model.learning_rate"),
        ({"clip": -1.0}, r"model.clip"),
        ({"weight_decay": -0.1}, r"model.weight_decay"),
        ({"optimizer": "lbfgs"}, r"model.queries_per_batch: found 16; expected null with model.optimizer=lbfgs"),
        ({"optimizer": "lbfgs", "queries_per_batch": None, "clip": 1.0}, r"model.clip"),
        ({"optimizer": "lbfgs", "queries_per_batch": None, "dropout": 0.1}, r"model.dropout"),
        ({"hidden": []}, r"model.hidden: found an empty list"),
        ({"hidden": [4, 0]}, r"model.hidden: found 0"),
        ({"activation": "rely"}, r"model.activation.*Did you mean 'relu'"),
        ({"dropout": 1.0}, r"model.dropout: found 1.0; expected a number from 0 to below 1"),
    ],
)
def test_wrong_options_say_what_is_expected(options: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        MLP(**options)


def test_attention_options() -> None:
    with pytest.raises(ConfigError, match=r"model.width: found 7; expected a multiple of model.heads, 2"):
        Attention(width=7)
    with pytest.raises(ConfigError, match=r"model.blocks"):
        replace(Attention(), blocks=0)


def test_rates_and_activations_are_those_of_the_networks() -> None:
    from rerankers.learning.neural.networks import ACTIVATIONS as BUILT

    assert tuple(BUILT) == ACTIVATIONS
    assert [Linear(optimizer=name).rate for name in ("adam", "sgd")] == [0.01, 0.1]
    assert Linear(learning_rate=3).rate == 3.0
    assert MLP(hidden=[3]).with_iterations(7) == MLP(hidden=[3], epochs=7)


def test_the_scorer_is_found_beside_the_options() -> None:
    from rerankers.learning import neural

    assert neural.NeuralScorer.kind == "neural"
    with pytest.raises(AttributeError, match="no attribute 'Neural'"):
        neural.Neural  # noqa: B018


def test_torch_is_not_loaded_by_options() -> None:
    script = (
        "import sys, rerankers.learning.neural as n; n.MLP(); assert not {'torch', 'safetensors'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", script], check=True)
