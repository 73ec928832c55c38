"""Keys are no options: every option is written into ``config.yaml``, logs and reports."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from omegaconf import DictConfig, OmegaConf

from rerankers._base.errors import ConfigError

_ENVIRONMENT = re.compile(r"\$\{\s*oc\.env\s*:\s*([^,}]*)")
_SECRET = re.compile(r"KEY|TOKEN|SECRET|PASSW|CREDENTIAL|AUTH|\$\{", re.IGNORECASE)


def refuse_secrets(config: DictConfig) -> None:
    """Refuse options that take a key from the environment, before anything is resolved.

    Parameters
    ----------
    config
        composed, not resolved; its part ``hydra`` is not looked at.

    Raises
    ------
    ConfigError
        naming the option and the variable. Names are told apart by their words (KEY, TOKEN, SECRET, PASSWORD,
        CREDENTIAL, AUTH); a name that is itself looked up is refused too.
    """
    plain = OmegaConf.to_container(config, resolve=False)
    for key, text in _texts(plain, ""):
        if key.partition(".")[0] == "hydra":
            continue
        for name in _ENVIRONMENT.findall(text):
            if _SECRET.search(name):
                raise ConfigError(
                    f"{key}: found a value taken from the environment variable {name.strip()}; expected no key or "
                    "password here, since every option is written into config.yaml. Language models read their key "
                    "from the environment themselves (llm.key_env names the variable)"
                )


def _texts(node: Any, key: str) -> Iterator[tuple[str, str]]:
    if isinstance(node, dict):
        for name, value in node.items():
            yield from _texts(value, f"{key}.{name}" if key else str(name))
    elif isinstance(node, list):
        for value in node:
            yield from _texts(value, key)
    elif isinstance(node, str):
        yield key, node
