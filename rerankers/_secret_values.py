"""Keys are no options: every option is written into ``config.yaml``, logs and reports."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from omegaconf import DictConfig, OmegaConf

from rerankers._base.errors import ConfigError

_ENVIRONMENT = re.compile(r"\$\{\s*oc\.env\s*:\s*([^,}]*)")
_SECRET = re.compile(r"KEY|TOKEN|SECRET|PASS|_PWD|CREDENTIAL|AUTH(?!OR)|AUTHORI[SZ]|\$\{", re.IGNORECASE)


def refuse_secrets(config: DictConfig) -> None:
    """Refuse options that take a key from the environment, before anything is resolved.

    Parameters
    ----------
    config
        composed, not resolved; its part ``hydra`` is looked at too, since names of jobs and folders are written.

    Raises
    ------
    ConfigError
        naming the option and the variable. Names are told apart by their words (KEY, TOKEN, SECRET, PASS,
        CREDENTIAL, AUTH and the like); a name that is itself looked up is refused too.
    """
    plain = OmegaConf.to_container(config, resolve=False)
    # What Hydra notes of the words is named last: they are among the options too.
    for key, text in sorted(_texts(plain, ""), key=lambda pair: pair[0].startswith("hydra.")):
        if key.startswith("hydra.overrides."):
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
