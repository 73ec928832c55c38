"""The whole road: collection, first stage, method, drawn or served rankings, measures, report."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rerankers._base.errors import ConfigError, choose
from rerankers._base.files import write_text
from rerankers._base.progress import busy
from rerankers.ledger import Memory, SQLite
from rerankers.measures.universe import UNIVERSES
from rerankers.methods import check_method
from rerankers.stages.aim import ready_target, takes_groups
from rerankers.stages.block_store import BlockPlace, forget_blocks
from rerankers.stages.fit import FILE as FIT_FILE
from rerankers.stages.fit import fit_method, fit_words
from rerankers.stages.fit_spec import NoFit
from rerankers.stages.ground import judging, prepare
from rerankers.stages.metadata import Stopwatch
from rerankers.stages.output import claimed
from rerankers.stages.report_run import told_of_run
from rerankers.stages.rerank import AUTO, MOST_ITEMS, check_drawn_runs, rerank
from rerankers.stages.results import Account, MeasureOptions, Results, publish
from rerankers.stages.run_account import (
    quality_of,
    summary_of,
    tier_of,
    warnings_about,
    warnings_about_serving,
    warnings_about_target,
    warnings_about_targets_missed,
)
from rerankers.stages.sequence import Asked, asked_of, check_asked, check_sequence
from rerankers.stages.serve import Outcome, serve

if TYPE_CHECKING:
    from rerankers.execution import Executor
    from rerankers.exposure.browsing import BrowsingModel
    from rerankers.methods import Method
    from rerankers.methods.targets import Target
    from rerankers.report import ReportData
    from rerankers.retrieval import Retriever
    from rerankers.stages.pool import Pool
    from rerankers.values import Collection


MOST_SAMPLES = 10_000_000


@dataclass(frozen=True, slots=True)
class RunJob:
    """The parts of a ``run``, already built from the config; see ``conf/run.yaml`` for what each is.

    ``collection`` and ``groups`` are the config dataclasses of `rerankers.collections` (``load`` and ``align``),
    ``name`` is the method's name in results, ``config`` the resolved config and ``command`` what repeats the job.
    ``model`` is the folder of a trained model whose estimates the method takes, ``allowed`` the packages whose
    functions that model's features may call. ``sequence`` (a file), ``rounds`` and ``ledger`` are for methods with a
    ledger. ``fit`` chooses options of the method on training queries (`rerankers.stages.fit_spec`).
    ``predicted`` is a file of group labels that methods see in place of the evaluated ones. ``drawn_runs`` says whether
    the drawn rankings are written besides their policy: true, false, or ``auto`` while they are not too many.
    """

    name: str
    collection: Any
    retriever: Retriever
    method: Method
    target: Target
    browsing: BrowsingModel
    groups: Any
    measures: MeasureOptions
    execution: Executor
    cache: Path
    samples: int
    seed: int
    universe: str
    config: Mapping[str, Any]
    command: str
    model: Path | None = None
    allowed: tuple[str, ...] = ()
    sequence: Path | None = None
    rounds: int = 1
    ledger: Memory | SQLite = field(default_factory=Memory)
    fit: Any = field(default_factory=NoFit)
    predicted: Path | None = None
    drawn_runs: bool | str = AUTO

    def __post_init__(self) -> None:
        choose("universe", self.universe, UNIVERSES)
        check_method(self.method)
        if not 1 <= self.samples <= MOST_SAMPLES:
            raise ConfigError(f"samples: found {self.samples}; expected 1 to {MOST_SAMPLES:,} rankings per query")
        check_drawn_runs(self.drawn_runs)
        check_sequence(self.method, self.sequence, self.rounds, self.ledger)
        if self.predicted is not None and not takes_groups(self.method, self.target):
            raise ConfigError(f"predicted: found {self.predicted}, which has no effect: {self.name} sees no groups")


def run(job: RunJob, folder: Path) -> ReportData:
    """Run a job and leave its results in ``folder``; the README lists the files.

    Raises
    ------
    FairRerankersError
        with the exit code of the command, for anything that is wrong with config, input or machine.
    """
    watch = Stopwatch()
    with claimed(folder) as staging:
        fitted = fit_method(job, watch)
        if fitted is not None:
            write_text(staging / FIT_FILE, fitted.csv)
            job = replace(job, method=fitted.method)
        with busy("collection"):
            collection: Collection = job.collection.load()
        asked = asked_of(job.method, collection.topics, job.sequence, job.rounds, job.ledger, job.samples)
        watch.lap("collection")
        ground = prepare(job, collection, watch)
        known, retrieved, estimates, pool = ground.known, ground.retrieved, ground.estimates, ground.pool
        target = ready_target(job.target, job.method, job.collection, job.groups, known.topics)
        outcome = _serve(job, asked, pool, watch)
        results = Results(staging)
        answered = pool if outcome is None else pool.with_served(outcome.served.rankings())
        single = rerank(job, target, answered, staging, results, BlockPlace(folder, collection.fingerprint), watch)
        watch.add("retrieval", retrieved.seconds)
        quality = quality_of(job, pool)
        if quality is not None:
            write_text(staging / "relevance.json", quality.json)
        told = told_of_run(job, ground, collection, outcome, staging)
        watch.lap("fronts")
        account = Account(
            title=f"{job.name} on {collection.name}",
            summary=summary_of(job, collection, pool, estimates, asked, outcome) | fit_words(job.fit, fitted),
            tier=tier_of(job, target, estimates),
            counts={
                "collection": collection.counts,
                "retrieval": retrieved.counts,
                "groups": ground.groups,
                **({} if estimates is None else {"estimates": estimates.counts}),
                **({} if outcome is None else {"served": outcome.counts}),
                "method": results.method_counts,
                "measures": results.counts,
            },
            warnings=[
                *warnings_about(collection, pool, retrieved.counts, ground.groups),
                *warnings_about_serving(outcome, pool),
                *warnings_about_target(job, target),
                *warnings_about_targets_missed(job.name, results.method_counts),
            ],
            single=[job.name] if single else [],
            config=job.config,
            command=job.command,
            data={
                "test collection": {"name": collection.name, "fingerprint": collection.fingerprint},
                "documents": len(collection.docs),
                "topics": len(collection.topics),
                "judged pairs": collection.judgments.nnz,
                "candidate pairs": pool.candidates.nnz,
            },
            tables=() if quality is None else quality.tables,
            pictures=() if quality is None else quality.pictures,
            told=told,
        )
        with busy("intervals and report"):
            report = publish(staging, results, account, job.measures, judging(job, pool), watch)
        forget_blocks(folder)
        return report


def _serve(job: RunJob, asked: Asked | None, pool: Pool, watch: Stopwatch) -> Outcome | None:
    """Serve what is asked; None where the method makes policies, which say nothing of a sequence."""
    if asked is None:
        return None
    impressions = asked.impressions(pool.topics, pool.candidates)
    check_asked(asked, int(pool.candidates.lengths[impressions.row].sum()), MOST_ITEMS)
    method: Any = job.method
    outcome = serve(method, pool, impressions, job.ledger, judging(job, pool).model, job.seed, job.execution)
    watch.lap("serving")
    return outcome
