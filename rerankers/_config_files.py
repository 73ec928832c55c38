"""Config files of the user's own, looked at before Hydra reads them: it would follow every alias of every alias."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import yaml

from rerankers._base.errors import ConfigError
from rerankers._base.own_files import LARGEST_YAML
from rerankers._base.yaml_values import TooMuchError, check_size

_PLACES = ("*.yaml", "*/*.yaml", "*/*/*.yaml")
"""Root configs, options of groups, and options of groups within groups, as ``hydra/launcher``."""


def check_config_files(folders: Iterable[Path]) -> None:
    """Raise `ConfigError` for files that are no text or mean too much; what is no YAML is left to Hydra to tell."""
    for path in (path for folder in folders for place in _PLACES for path in folder.glob(place) if path.is_file()):
        try:
            if path.stat().st_size > LARGEST_YAML:
                raise ConfigError(f"{path}: found more than {LARGEST_YAML >> 20} MiB; expected a config file")
            check_size(path.read_text(encoding="utf-8"))
        except UnicodeDecodeError as error:
            raise ConfigError(f"{path}: found bytes that are no UTF-8 ({error.reason}); expected a text") from error
        except TooMuchError as error:
            raise ConfigError(f"{path}: found {error}; expected a config file") from error
        except (OSError, yaml.YAMLError, RecursionError):
            continue
