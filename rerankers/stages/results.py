"""From the blocks' results to the files of a job: measures, report, config, metadata."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from rerankers._base.errors import ConfigError, choose
from rerankers._base.files import write_text
from rerankers.measures.names import Measure, parse_many
from rerankers.measures.own_names import KNOWN
from rerankers.measures.plan import PLACEBOS, chosen_measures
from rerankers.measures.summary import PER_QUERY_LIMIT, summarise_scores, write_scores
from rerankers.measures.table import concat
from rerankers.report import write_report
from rerankers.report.keys import learn
from rerankers.stages.block_sums import Results as Results
from rerankers.stages.front_effort import AUTO, check_fronts
from rerankers.stages.job_report import Account as Account
from rerankers.stages.job_report import report_of
from rerankers.stages.metadata import Stopwatch, write_metadata
from rerankers.stages.sweep_value import tuning

if TYPE_CHECKING:
    from rerankers.exposure.browsing import BrowsingModel
    from rerankers.measures.evaluation import Options
    from rerankers.report import ReportData
    from rerankers.values import Judgments

EXPOSURES = ("auto", "draws")
logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class MeasureOptions:
    """What is measured; the options of ``conf/measures``.

    Attributes
    ----------
    names
        measures, see `rerankers.measures.names`; None takes the usual ones.
    cutoff
        ranks that carry exposure, in every exposure measure and its target; None for all.
    exposure
        ``auto``: exact where the policy has a closed form, else from draws; ``draws``: always from draws.
    fronts
        whether the best trade-offs are computed as well, see `rerankers.stages.fronts`: true, false, or ``auto``: where
        that takes no more than some seconds (`rerankers.stages.front_effort`).
    confidence, resamples
        of the bootstrap intervals over queries.
    placebo, permutations
        which measures of groups bring placebo and excess along (`with_placebos`); draws of shuffled labels, 0 or more.
    own
        name -> ``_target_`` and options of measures of the user's own, which the job has made known
        (`rerankers.measures.own_names.know`); without ``names`` they are measured besides the usual ones.
    """

    names: list[str] | None = None
    cutoff: int | None = None
    exposure: str = "auto"
    fronts: bool | str = AUTO
    confidence: float = 0.95
    resamples: int = 2000
    placebo: str = "all"
    permutations: int = 200
    own: dict[str, Any] | None = None

    def __post_init__(self) -> None:
        if self.names is not None and not self.names:
            raise ConfigError("measures.names: found an empty list; expected measures, or null for the usual ones")
        parse_many(self.names or [])  # wrong names are known before any work is done
        choose("measures.exposure", self.exposure, EXPOSURES)
        choose("measures.placebo", self.placebo, PLACEBOS)
        check_fronts(self.fronts)
        if self.permutations < 0:
            raise ConfigError(f"measures.permutations: found {self.permutations}; expected 0 or more")
        if self.cutoff is not None and self.cutoff < 1:
            raise ConfigError(f"measures.cutoff: found {self.cutoff}; expected at least 1, or null for all ranks")
        if not 0 < self.confidence < 1:
            raise ConfigError(f"measures.confidence: found {self.confidence}; expected a number between 0 and 1")
        if self.resamples < 1:
            raise ConfigError(f"measures.resamples: found {self.resamples}; expected at least 1")

    def chosen(self, attributes: Sequence[str]) -> tuple[Measure, ...]:
        """Return the measures; by default those of groups only where there are attributes."""
        chosen = chosen_measures(self.names, attributes, self.placebo)
        if self.names is not None or not self.own:
            return chosen
        own = chosen_measures(list(self.own), attributes, self.placebo)
        return (*chosen, *(one for one in own if attributes or not one.depends_on_groups))


def check_max_grade(browsing: BrowsingModel, judgments: Judgments) -> None:
    """Raise `ConfigError` when a browsing model states a highest grade that is not the highest."""
    stated, highest = getattr(browsing, "max_grade", None), int(judgments.grade.max(initial=0))
    if stated is not None and stated < highest:
        raise ConfigError(f"browsing.max_grade: found {stated}; expected at least {highest}, the highest judged grade")


def publish(
    folder: Path,
    results: Results,
    account: Account,
    measures: MeasureOptions,
    options: Options,
    watch: Stopwatch,
) -> ReportData:
    """Write every file but the runs into ``folder`` and return what the report shows."""
    scores = results.scores
    stated = {
        "browsing": str(options.model),
        "universe": options.universe,
        "cutoff": measures.cutoff,
        "exposure": "draws" if results.estimated else "exact",
        "exposure_from_draws": sorted(results.estimated),
        "samples": options.samples,
        "seed": options.seed,
        "confidence": measures.confidence,
        "resamples": measures.resamples,
        "permutations": options.permutations,
        "groups": account.config.get("groups"),
    }
    if measures.own:
        from rerankers.measures.own import told

        own = told(KNOWN)
        stated |= {"own_measures": own}
        learn(own)
    summary = summarise_scores(
        scores,
        options=stated,
        tier=account.tier,
        counts=account.counts,
        seed=options.seed,
        resamples=measures.resamples,
        level=measures.confidence,
        evidence=results.evidence,
    )
    write_scores(folder, scores, summary)
    watch.lap("summary")
    table = concat(one.first(PER_QUERY_LIMIT).table(system) for system, one in scores.items())
    report = report_of(results, account, measures, options, watch, table, summary)
    for warning in report.warnings:
        logger.warning("%s", warning)
    write_report(folder, report)
    watch.lap("report")
    write_text(folder / "config.yaml", yaml.safe_dump(dict(account.config), sort_keys=False, allow_unicode=True))
    write_metadata(
        folder,
        command=account.command,
        method={"name": account.title, "tier": account.tier, "options": stated}
        | {key: words for key, words in account.summary.items() if key == "fairness"}
        | tuning(account.config),
        data=account.data,
        goal={"evaluation": {"reported measures": list(report.keys), "interval": "studentized bootstrap over queries"}},
        seconds=watch.seconds,
    )
    return report
