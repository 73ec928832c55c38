"""Sweeps: the points of a grid are planned here, run by Hydra's launchers, and told of in one table at the end.

What is planned and what became of it goes through small files in the sweep's folder, since launchers may run points
in other processes and on other machines. A point that is done is not handed to the launcher at all.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml
from omegaconf import DictConfig, OmegaConf

from rerankers._base.errors import ConfigError, FairRerankersError
from rerankers._base.files import write_text
from rerankers._explain import _is_override
from rerankers._hydra import hydra_main, relative
from rerankers._overrides import quote
from rerankers._sweep_job import NAME, Sweep
from rerankers._sweep_plan import Grid, Planned, composing, grid_of, planned, sweep_folder
from rerankers._sweep_words import is_multirun
from rerankers.stages import sweep_states
from rerankers.stages.sweep_places import EARLIER, arrange, sweep_lock
from rerankers.stages.sweep_point import RESUMED, resumes, without
from rerankers.stages.sweep_record import Made, made_from
from rerankers.stages.sweep_states import THERE, State
from rerankers.stages.sweep_table import CSV_FILE, finish
from rerankers.stages.sweep_value import objectives, value_of

if TYPE_CHECKING:
    from rerankers._hydra import Task


def run_sweep(command: str, words: list[str], task: Task) -> int | None:
    """Run every point of a sweep that is not done, print one table, and return the highest exit code.

    Parameters
    ----------
    command, task
        as in `rerankers._hydra.hydra_command`.
    words
        Hydra's flags, then overrides in its grammar.

    Returns
    -------
    int or None
        None for commands whose points have no folders of their own.

    Raises
    ------
    FairRerankersError
        for everything that is wrong with the points, before any runs.
    """
    with composing(command, words) as compose:
        grid = grid_of(command, words, compose)
        folder = Path(relative(str(sweep_folder(grid.base))))
        points = planned(command, words, grid, compose) if grid.points else []
    if _of_no_folder(command, grid, points):
        return None
    for point in points if command in RESUMED else []:  # what is wrong with these is known before any point runs
        resumes(point.config, sweep=True)
        objectives(point.config)
    flags = tuple(word for word in words if not _is_override(word) and not is_multirun([word]))
    sweep = Sweep(command, folder, task, flags, tuple(words), grid.swept, os.getpid())
    with sweep_lock(folder.absolute()):
        sweep_states.clear(folder)
        try:
            return _planned(sweep, grid, words, points) if points else _chosen(sweep, grid, words)
        except KeyboardInterrupt:
            _told(sweep, points)
            raise
        finally:
            sweep_states.remove(folder)


def _of_no_folder(command: str, grid: Grid, points: Sequence[Planned]) -> bool:
    written = str(grid.base.hydra.sweep._get_node("subdir"))
    if written == ".":
        _check_outputs(command, points)
        return True
    names = [point.name for point in points] or [re.sub(r"\$\{[^}]*\}", "N", written)]
    for name in names:
        if "/" in name or name.startswith(".") or not name.strip() or name in (EARLIER, CSV_FILE):
            raise ConfigError(
                f"hydra.sweep.subdir: found {name!r}; expected the name of one folder within that of the sweep, "
                f"without slashes or a dot in front, and not {EARLIER}"
            )
    twice = [name for name in dict.fromkeys(names) if names.count(name) > 1]
    if twice:
        raise ConfigError(f"hydra.sweep.subdir: found {twice[0]} for several points; expected a folder for each")
    return False


def _check_outputs(command: str, points: Sequence[Planned]) -> None:
    """Raise where points have no folders of their own and one would write over what another has written."""
    places = [(str(point.config["output"]), point.config.get("name")) for point in points if point.config.get("output")]
    for (place, _), number in Counter(places).items():
        if number > 1:
            raise ConfigError(
                f"output: found {place} for several points of a sweep; expected another for each, since {command} "
                f"writes to this place alone. Type: output='{place}-${{hydra:job.num}}'"
            )


def _planned(sweep: Sweep, grid: Grid, words: Sequence[str], points: Sequence[Planned]) -> int:
    """Run a grid."""
    left = _left(sweep, points)
    fixed = [word for word in grid.fixed if word.partition("=")[0] not in ("hydra.sweep.dir", "hydra.sweep.subdir")]
    names = ",".join(quote(point.name) for point in left)
    argv = [
        *_flags(words),
        *fixed,
        *_quiet(words),
        f"hydra.sweep.dir={quote(str(sweep.folder))}",
        f"hydra.sweep.subdir=${{{NAME}}}",
        *(["hydra.sweeper.params=null"] if grid.base.hydra.sweeper.get("params") else []),
        f"+{NAME}={names}",
    ]
    stopped = _launched(sweep, argv, lambda config: sweep.planned(str(config[NAME]))) if left else None
    (sweep.folder / "multirun.yaml").unlink(missing_ok=True)  # it is of the first point
    keys = objectives(points[0].config) if sweep.command in RESUMED else []
    return _told(sweep, points, stopped, keys)


def _told(sweep: Sweep, points: Sequence[Planned], stopped: str | None = None, keys: Sequence[str] = ()) -> int:
    """Print the table of a sweep's points, those that a sweeper has chosen where none were planned."""
    words = {point.name: sweep.shown(point.overrides) for point in points}
    if not points:
        states = sweep_states.read(sweep.folder)
        words = {name: states[name].words for name in sorted(states, key=lambda name: (len(name), name))}
    return finish(sweep.folder, sweep.command, list(words), list(words.values()), stopped, keys)


def _left(sweep: Sweep, points: Sequence[Planned]) -> list[Planned]:
    """Bring the folders in order, note the points that are done, and return the others with their plans written."""
    made: dict[str, Made] = {}
    done: set[str] = set()
    if sweep.command in RESUMED:
        for point in points:
            made[point.name] = made_from(sweep.command, without(point.config), sweep.folder)
        done, aside = arrange(sweep.folder, made)
        if aside:
            print(
                f"put aside in {sweep.folder / EARLIER}, since their points, inputs or versions are others: "
                f"{', '.join(aside)}"
            )
    left = []
    for point in points:
        keys = objectives(point.config) if sweep.command in RESUMED else []
        if point.name in done and resumes(point.config, sweep=True) and _has_value(sweep.folder / point.name, keys):
            value = value_of(sweep.folder / point.name, keys)
            state = State(point.name, sweep.shown(point.overrides), THERE, value=value)
            sweep_states.write(sweep.folder, state)
            print(f"{sweep_states.told(state)}: was there already")
        else:
            _write_plan(sweep, point, made.get(point.name))
            left.append(point)
    return left


def _has_value(folder: Path, keys: Sequence[str]) -> bool:
    """Whether results have what is optimised; where they have not, the point is started to say so as a failure."""
    try:
        value_of(folder, keys)
    except FairRerankersError:
        return False
    return True


def _write_plan(sweep: Sweep, point: Planned, made: Made | None) -> None:
    plan = {
        "config": yaml.safe_dump(point.config, sort_keys=False, allow_unicode=True),
        "words": list(point.overrides),
        "choices": point.choices,
        "made": None if made is None else asdict(made),
    }
    folder = sweep.folder / sweep_states.FOLDER / "plan"
    folder.mkdir(exist_ok=True)
    write_text(folder / f"{point.name}.json", json.dumps(plan, ensure_ascii=False))


def _chosen(sweep: Sweep, grid: Grid, words: Sequence[str]) -> int:
    """Let a sweeper choose the points."""
    from rerankers._sweep_optuna import more_words

    config: Any = OmegaConf.to_container(grid.base, resolve=False)
    keys, more = more_words(config, grid.sweeper, words)
    argv = [*words, *_quiet(words), *more, f"hydra.sweep.dir={quote(str(sweep.folder))}"]
    stopped = _launched(sweep, argv, sweep.chosen)
    failed = any(state.code for state in sweep_states.read(sweep.folder).values())
    return _told(sweep, (), None if failed else stopped, keys)


def _launched(sweep: Sweep, argv: Sequence[str], run: Callable[[DictConfig], Any]) -> str | None:
    """Let Hydra launch points; return what stopped it, None where it came to its end."""

    def job(config: DictConfig) -> Any:
        return run(config)

    try:
        hydra_main(sweep.command, list(argv), job, [sweep.command])
    except FairRerankersError as error:
        return str(error)
    except Exception as error:  # of a launcher, or of what it starts: what has been done is told all the same
        return " ".join(f"{type(error).__name__}: {error}".split()) or type(error).__name__
    finally:
        sys.stdout.flush()
    return None


def _flags(words: Sequence[str]) -> list[str]:
    return [word for word in words if not _is_override(word)]


def _quiet(words: Sequence[str]) -> list[str]:
    """Return what keeps Hydra from telling of points, which are told here."""
    typed = any(word.startswith("hydra/hydra_logging=") for word in words)
    return [] if typed else ["hydra/hydra_logging=disabled"]
