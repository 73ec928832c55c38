"""Options of two groups compose together, whichever are chosen: what a grid over both asks for."""

from __future__ import annotations

from pathlib import Path

import pytest
from hydra import compose, initialize_config_dir
from omegaconf import OmegaConf

from rerankers._conf import conf_folder

CONF = conf_folder()
PAIRS = (
    ("run", "method", "target"),
    ("run", "browsing", "measures"),
    ("run", "groups", "target"),
    ("run", "fit", "ledger"),
    ("run", "retriever", "collection"),
    ("run", "execution", "groups"),
    ("train", "model", "objective"),
    ("train", "calibration", "features"),
)


def options(group: str) -> list[str]:
    found = sorted(path.stem for path in (CONF / group).glob("*.yaml"))
    assert found, group
    return found


def node(command: str, *words: str) -> dict[str, object]:
    config = compose(command, overrides=list(words))
    return dict(OmegaConf.to_container(config, resolve=False))  # type: ignore[arg-type]


@pytest.mark.slow
@pytest.mark.parametrize(("command", "first", "second"), PAIRS)
def test_two_groups_do_not_disturb_each_other(command: str, first: str, second: str) -> None:
    """Every option of one beside every of the other gives the node that each gives alone."""
    with initialize_config_dir(str(CONF), version_base="1.3"):
        alone = {
            (group, option): node(command, f"{group}={option}")[group]
            for group in (first, second)
            for option in options(group)
        }
        longer, shorter = sorted((options(first), options(second)), key=len, reverse=True)
        ours = (first, second) if longer == options(first) else (second, first)
        for place, option in enumerate(longer):
            other = shorter[place % len(shorter)]
            both = node(command, f"{ours[0]}={option}", f"{ours[1]}={other}")
            assert both[ours[0]] == alone[ours[0], option]
            assert both[ours[1]] == alone[ours[1], other]


def test_every_method_beside_every_target_composes() -> None:
    methods, targets = options("method"), options("target")
    with initialize_config_dir(str(CONF), version_base="1.3"):
        for place, target in enumerate(targets):
            method = methods[(place * 3) % len(methods)]
            both = node("run", f"method={method}", f"target={target}")
            written = OmegaConf.load(Path(CONF / "target" / f"{target}.yaml"))
            assert both["target"] == OmegaConf.to_container(written, resolve=False)  # type: ignore[arg-type]
