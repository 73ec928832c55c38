"""What a launcher runs: one point of a sweep, in this process, another one, or on another machine."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml
from hydra.core.hydra_config import HydraConfig
from omegaconf import DictConfig, OmegaConf

from rerankers._base.errors import FairRerankersError
from rerankers._hydra import Call
from rerankers._secret_values import refuse_secrets
from rerankers._targets import named_by
from rerankers.stages import sweep_states
from rerankers.stages.sweep_point import Point, perform
from rerankers.stages.sweep_record import Made

if TYPE_CHECKING:
    from rerankers._hydra import Task

NAME = "fair_rerank_point"
"""The key that Hydra sweeps over in place of the grid: the names of the points that are left to run."""


@dataclass(frozen=True, slots=True)
class Sweep:
    """A sweep that runs.

    Attributes
    ----------
    command
        of every point.
    folder
        of the sweep.
    task
        the command's work.
    flags
        Hydra's flags with their values, which belong to what repeats a point.
    typed
        the words of the sweep, which say what its points may use.
    swept
        the keys that are swept.
    process
        the identifier of the process that started it.
    """

    command: str
    folder: Path
    task: Task
    flags: tuple[str, ...]
    typed: tuple[str, ...]
    swept: tuple[str, ...]
    process: int

    def planned(self, name: str) -> None:
        """Run a point that was planned; what goes wrong with it is noted, so that the launcher goes on."""
        with named_by(self.typed):
            self._planned(name)

    def _planned(self, name: str) -> None:
        self._alone()
        plan = json.loads((self.folder / sweep_states.FOLDER / "plan" / f"{name}.json").read_text(encoding="utf-8"))
        made = None if plan["made"] is None else Made(plan["made"]["point"], plan["made"]["inputs"])
        point = Point(self.command, yaml.safe_load(plan["config"]), self.folder / name, self.shown(plan["words"]), made)
        try:
            perform(point, self._runner(point.folder, plan["words"], plan["choices"]), self.folder)
        except FairRerankersError:
            return

    def chosen(self, config: DictConfig) -> float | list[float] | None:
        """Run a point that the sweeper has chosen; return what it optimises.

        Raises
        ------
        FairRerankersError
            after it has been noted: sweepers have to know of failures.
        """
        with named_by(self.typed):
            return self._chosen(config)

    def _chosen(self, config: DictConfig) -> float | list[float] | None:
        self._alone()
        settings = HydraConfig.get()
        refuse_secrets(config)
        plain: Any = OmegaConf.to_container(config, resolve=True, throw_on_missing=True)
        name, words = Path(settings.runtime.output_dir).name, list(settings.overrides.task)
        choices = {str(group): str(option) for group, option in settings.runtime.choices.items()}
        point = Point(self.command, plain, self.folder / name, self.shown(words))
        try:
            return perform(point, self._runner(point.folder, words, choices), self.folder)
        except FairRerankersError as error:
            raise FairRerankersError(str(error)) from None  # errors of users' own classes may not travel

    def _runner(
        self, folder: Path, words: Sequence[str], choices: Mapping[str, str]
    ) -> Callable[[Mapping[str, Any]], None]:
        typed = [*self.flags, *(word for word in words if word.partition("=")[0] not in ("output", "resume"))]
        return lambda config: self.task(Call(dict(config), folder, typed, dict(choices)))

    def shown(self, words: Sequence[str]) -> tuple[str, ...]:
        """Return the overrides in which points may differ."""
        return tuple(word for word in words if word.partition("=")[0] in self.swept)

    def _alone(self) -> None:
        """Leave Ctrl-C to the process that started the sweep: it ends the others."""
        if os.getpid() != self.process:
            try:
                signal.signal(signal.SIGINT, signal.SIG_IGN)
            except ValueError:  # not the main thread of a worker: nothing to leave
                return
