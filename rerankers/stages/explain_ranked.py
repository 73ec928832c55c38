"""Given rankings as `explain` takes them: the folder of an ``evaluate``, or run files with judgments."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from rerankers._base.errors import ConfigError, InputError
from rerankers._conf import build
from rerankers.measures.evaluation import Options
from rerankers.policies import Mixture
from rerankers.stages.config_parts import file_groups, measure_options, texts
from rerankers.stages.evaluate import EvaluateJob, Judged, bind_runs, read_runs
from rerankers.stages.explain_rebuild import CONFIG, read_config
from rerankers.stages.explain_sides import Side, unknown_query
from rerankers.stages.results import MeasureOptions, check_max_grade


@dataclass(frozen=True, eq=False)
class RankedSource:
    """Run files with judgments: those of an ``evaluate``, or given ones. Only rankings are known of them.

    Attributes
    ----------
    job
        the parts of an ``evaluate``.
    names
        name of a run -> what tells it apart.
    """

    job: EvaluateJob
    names: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def judged(self) -> Judged:
        """Runs, judgments and groups under one coding."""
        judged, _ = bind_runs(self.job, read_runs(self.job.runs))
        check_max_grade(self.job.browsing, judged.judgments)
        return judged

    @property
    def queries(self) -> list[str]:
        """The ids of its queries."""
        codes = np.unique(np.concatenate([runs.over.query for runs in self.judged.runs.values()]))
        return self.judged.queries.take(codes)

    def sides(self, qid: str) -> list[Side]:
        """Return each run on a query; those that do not rank it are left out."""
        judged = self.judged
        code = int(judged.queries.codes([qid])[0])
        options = Options(
            browsing=self.job.browsing,
            universe=self.job.universe,
            cutoff=self.job.measures.cutoff,
            samples=self.job.samples,
            seed=self.job.seed,
            max_grade=max(1, int(judged.judgments.grade.max(initial=0))),
        )
        found = []
        for name, rankings in judged.runs.items():
            row = np.flatnonzero(rankings.over.query == code)
            if code < 0 or not len(row) or not rankings.counts[row[0]]:
                continue
            own = rankings.take(row)
            mine = judged.judgments.take(np.flatnonzero(judged.judgments.query == code))
            stream = np.zeros((1, 2), dtype=np.uint64)  # nothing is drawn from given rankings
            found.append(
                Side(
                    *(self.names.get(name, name), "given rankings", qid, "", Mixture(own, stream), mine, judged.docs),
                    *(judged.groups, options, None, None, _given(int(own.counts[0]))),
                )
            )
        if not found:
            raise unknown_query(qid, self.queries, ", ".join(judged.runs))
        return found


def _given(rankings: int) -> str:
    return "1 given ranking" if rankings == 1 else f"{rankings:,} given rankings"


def evaluated_job(folder: Path) -> EvaluateJob:
    """Return the job of a folder that ``evaluate`` left."""
    config = read_config(folder)
    if "run" not in config or config.get("qrels") is None:
        raise InputError.one(str(folder / CONFIG), "neither a policy nor runs with qrels", "results of run or evaluate")
    if config.get("preset") is not None:
        raise ConfigError(
            f"{folder}: found results of a preset; expected those of fair-rerank run or of evaluate without a preset"
        )
    return EvaluateJob(
        runs=[Path(one) for one in texts(config["run"])],
        qrels=Path(str(config["qrels"])),
        groups=file_groups(config["groups"]),
        missing_query="skip",
        universe=str(config["universe"]),
        browsing=build(config["browsing"], where="browsing"),
        measures=measure_options(config),
        samples=int(config["samples"]),
        seed=int(config["seed"]),
        config=config,
        command="",
    )


def given_job(qrels: Path | None, groups: Any, browsing: Any, universe: str) -> EvaluateJob | None:
    """Return how run files are judged, None without judgments."""
    if qrels is None:
        return None
    return EvaluateJob([], qrels, groups, "skip", universe, browsing, MeasureOptions(), 1, 0, {}, "")
