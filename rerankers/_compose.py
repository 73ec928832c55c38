"""A command's config without its command line: what calls from Python compose."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import hydra
import yaml
from hydra.core.global_hydra import GlobalHydra
from hydra.errors import HydraException
from hydra.version import VersionBase
from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException

from rerankers._base.errors import ConfigError
from rerankers._conf import conf_folder
from rerankers._config_files import check_config_files
from rerankers._explain import _null_option, composition_error, version_words
from rerankers._hydra import Call
from rerankers._overrides import check_options, quote_overrides
from rerankers._secret_values import refuse_secrets

_ONE_AT_A_TIME = threading.RLock()


def compose_call(command: str, words: Sequence[str], folders: Sequence[Path] = ()) -> Call:
    """Return what the command line would hand to a command's stage; nothing is started, printed or left behind.

    Hydra composes through a global of its own. It is held for these milliseconds, one thread at a time, and given
    back as it was, so that programs which are Hydra applications themselves do not notice.

    Parameters
    ----------
    command
        also the name of the root config.
    words
        overrides as they are typed on the command line, without flags.
    folders
        with config groups of the user's own, as behind ``--config-dir``.

    Raises
    ------
    ConfigError
        for anything wrong with the words or the configs.
    """
    quoted = quote_overrides(command, list(words))
    check_options(command, quoted)
    for folder in folders:
        if not folder.is_dir():
            raise ConfigError(f"config_dir: found {folder}, no such folder; expected one with config groups")
    check_config_files(folders)
    flags = [f"--config-dir={folder}" for folder in folders]
    search = [f"hydra.searchpath=[{','.join(f'file://{folder.resolve()}' for folder in folders)}]"] if folders else []
    try:
        with _hydra_of_our_own():
            config = hydra.compose(command, overrides=[*quoted, *search], return_hydra_config=True)
            choices = OmegaConf.to_container(config.hydra.runtime.choices)
            OmegaConf.set_struct(config, False)
            del config["hydra"]
            refuse_secrets(config)
            plain: Any = OmegaConf.to_container(config, resolve=True, throw_on_missing=True)
    except (HydraException, OmegaConfBaseException) as error:
        raise composition_error(command, [*quoted, *flags], error) from error
    except RecursionError as error:
        raise ConfigError("found options inside options too deep to read; expected a few levels") from error
    except yaml.YAMLError as error:
        raise ConfigError(f"a config file is no YAML: {error}") from error
    except ValueError as error:
        raise ConfigError(_null_option(quoted) or str(error)) from error
    chosen = {str(group): str(option) for group, option in dict(choices).items()}  # type: ignore[arg-type]
    return Call(plain, Path(str(plain.get("output"))), list(words), chosen)


@contextmanager
def _hydra_of_our_own() -> Iterator[None]:
    """Hold Hydra's globals, and restore them: its instance, and the version whose habits it follows."""
    with _ONE_AT_A_TIME:
        base, instance = VersionBase.instance().getbase(), GlobalHydra.instance()
        held, instance.hydra = instance.hydra, None
        try:
            with hydra.initialize_config_dir(str(conf_folder()), **version_words()):
                yield
        finally:
            VersionBase.instance().version_base = base
            instance.hydra = held
            GlobalHydra.set_instance(instance)
