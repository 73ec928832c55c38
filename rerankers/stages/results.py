"""From the blocks' results to the files of a job: measures, report, config, metadata."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from rerankers._base.errors import ConfigError, choose
from rerankers._base.files import write_text
from rerankers.measures.evidence import together
from rerankers.measures.group_exposure import GroupRows, group_table
from rerankers.measures.names import Measure, parse_many
from rerankers.measures.own_names import KNOWN
from rerankers.measures.plan import PLACEBOS, chosen_measures
from rerankers.measures.summary import summarise, write_results
from rerankers.measures.table import concat
from rerankers.report import write_report
from rerankers.report.keys import learn
from rerankers.stages.block import add_counts
from rerankers.stages.front_effort import AUTO, check_fronts
from rerankers.stages.job_report import Account as Account
from rerankers.stages.job_report import report_of
from rerankers.stages.metadata import Stopwatch, write_metadata
from rerankers.stages.report_shares import Shares, share_curves
from rerankers.stages.sweep_value import tuning

if TYPE_CHECKING:
    import pyarrow as pa

    from rerankers.exposure.browsing import BrowsingModel
    from rerankers.measures.evaluation import Options
    from rerankers.measures.evidence import Evidence
    from rerankers.report import ReportData
    from rerankers.report.extras import ShareCurve
    from rerankers.stages.block import BlockResult
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


@dataclass(slots=True)
class Results:
    """Collects blocks in their order."""

    tables: list[Mapping[str, pa.Table]] = field(default_factory=list)
    groups: list[Mapping[str, Mapping[str, GroupRows]]] = field(default_factory=list)
    block_counts: list[Mapping[str, int]] = field(default_factory=list)
    estimated: set[str] = field(default_factory=set)
    of_method: list[Mapping[str, int]] = field(default_factory=list)
    block_evidence: list[Mapping[str, Evidence]] = field(default_factory=list)
    block_shares: list[Shares] = field(default_factory=list)

    def add_counts(self, counts: Mapping[str, int]) -> None:
        """Take in what the method counted in a block."""
        self.of_method.append(counts)

    @property
    def method_counts(self) -> dict[str, int]:
        """What the method counted, added up over the blocks."""
        return add_counts(self.of_method)

    def add(self, block: BlockResult) -> None:
        """Take a block in."""
        self.tables.append(block.measures)
        self.groups.append(block.groups)
        self.block_counts.append(block.counts)
        self.estimated.update(block.estimated)
        self.block_evidence.append(block.evidence)
        self.block_shares.append(block.shares)

    @property
    def counts(self) -> dict[str, int]:
        """Counts added up over the blocks."""
        return add_counts(self.block_counts)

    @property
    def measures(self) -> pa.Table:
        """The result table, system by system, units in block order."""
        systems = dict.fromkeys(name for block in self.tables for name in block)
        return concat(block[name] for name in systems for block in self.tables if name in block)

    @property
    def evidence(self) -> dict[str, Evidence]:
        """System -> what stands behind its measures of groups."""
        return together(self.block_evidence)

    @property
    def share_curves(self) -> dict[str, list[ShareCurve]]:
        """Lorenz curves, means over the judged queries; see `rerankers.stages.report_shares`."""
        return share_curves(self.block_shares)

    @property
    def group_exposure(self) -> pa.Table:
        """Exposure and target of every group, means over the judged queries."""
        return group_table(self.groups)


def publish(
    folder: Path,
    results: Results,
    account: Account,
    measures: MeasureOptions,
    options: Options,
    watch: Stopwatch,
) -> ReportData:
    """Write every file but the runs into ``folder`` and return what the report shows."""
    table = results.measures
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
    summary = summarise(
        table,
        options=stated,
        tier=account.tier,
        counts=account.counts,
        seed=options.seed,
        resamples=measures.resamples,
        level=measures.confidence,
        evidence=results.evidence,
    )
    write_results(folder, table, summary)
    watch.lap("summary")
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
