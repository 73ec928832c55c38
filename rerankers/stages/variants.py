"""Sets of query variants: read, written, retrieved, compared; fairness over the wordings of a need; a report."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rerankers._base.errors import ConfigError
from rerankers._base.files import write_text
from rerankers._base.logs import log_to
from rerankers._base.progress import busy
from rerankers.collections import NoGroups
from rerankers.llm.account import in_words
from rerankers.measures.evaluation import Options
from rerankers.queries.generate_variants import as_json_lines
from rerankers.queries.pools import width_of
from rerankers.queries.variant_analysis import analyse
from rerankers.queries.variant_growth import growth_curves
from rerankers.queries.variant_pools import Pooled
from rerankers.report.variants import write_variants_report
from rerankers.stages.aim import ready_target
from rerankers.stages.config_parts import command_line
from rerankers.stages.results import check_max_grade
from rerankers.stages.variants_effect import effectiveness, pool_totals
from rerankers.stages.variants_fairness import Asked, fairness
from rerankers.stages.variants_generated import Written, names_of, write_sets
from rerankers.stages.variants_ground import Judged, by_topic, judgments_of, pool_of
from rerankers.stages.variants_job import VariantsJob, job_of
from rerankers.stages.variants_numbers import Bootstrap
from rerankers.stages.variants_pool import FILE as POOL_FILE
from rerankers.stages.variants_pool import pool_table
from rerankers.stages.variants_retrieval import retrieve_variants
from rerankers.stages.variants_sets import Sets, described, gather
from rerankers.stages.variants_text import markdown, terminal

if TYPE_CHECKING:
    from rerankers.collections import Aligned
    from rerankers.stages.variants_retrieval import Found
    from rerankers.values import Collection

JSON_FILE, TEXT_FILE, SETS = "variants.json", "variants.md", "sets"


def variants_from_config(config: Mapping[str, Any], folder: Path, words: Sequence[str], method: str) -> None:
    """Do the job of a config of ``conf/variants.yaml``'s form, print its tables and write its files.

    Raises
    ------
    FairRerankersError
        with the exit code of the command, for anything that is wrong with config, input or machine.
    """
    if folder.is_file():
        raise ConfigError(f"output: found the file {folder}; expected a folder. Type: output=DIR")
    job = job_of(config, method, command_line("variants", words))
    log_to(folder)
    with busy("variants"):
        found, files = variants(job)
    if found is None:
        return
    if POOL_FILE not in files:  # one of an earlier job would be about other sets
        (folder / POOL_FILE).unlink(missing_ok=True)
    for place, text in files.items():
        write_text(folder / place, text)
    write_text(folder / JSON_FILE, json.dumps(found, ensure_ascii=False, allow_nan=False, indent=1) + "\n")
    write_text(folder / TEXT_FILE, markdown(found))
    write_variants_report(folder, found)
    for line in terminal(found):
        print(line)
    print(f"variants: {folder / 'report.html'}, {folder / TEXT_FILE}, {folder / JSON_FILE}")


def variants(job: VariantsJob) -> tuple[dict[str, Any] | None, dict[str, str]]:
    """Return what ``variants.json`` holds, and the further files of the job: path -> text.

    The first is None for a dry run of the language model: what it would cost is printed.
    """
    collection = None if job.collection is None else job.collection.load()
    expected = names_of(job.settings, job.generation)
    read = gather(job.specs, expected, job.options, job.collection, collection)
    written = _written(job, read, collection)
    if written.dry_run:
        return None, {}
    sets = written.sets
    files = {
        f"{SETS}/{name}.jsonl": as_json_lines(file, made.prompt, made.model)
        for made in written.of.values()
        for name, file in made.sets.items()
    }
    out: dict[str, Any] = {
        "command": job.command,
        "config": dict(job.config),
        "collection": None if collection is None else collection.name,
        "reference": sets.reference,
        "topics": list(sets.topics),
        "sets": {one.name: described(one) for one in sets.variants},
        "topics_excluded": sets.excluded,
        "generated": {
            name: {"model": made.model, "prompt": made.prompt, "account": dict(written.account[name])}
            for name, made in written.of.items()
        },
    }
    counts: dict[str, Mapping[str, int]] = {} if collection is None else {"collection": dict(collection.counts)}
    counts |= {f"set {one.name}": dict(one.counts) for one in sets.variants}
    options = dataclasses.replace(job.analysis, completions=written.completions)
    if collection is None and not job.runs:
        out |= _compared(sets, None, None, options)
        reason = "no collection and no runs were given, so nothing was retrieved"
        return {**out, "fairness": None, "fairness_reason": reason, "counts": counts}, files
    found = retrieve_variants(sets, job.runs, collection, job.retriever, job.depth, job.cache)
    judged = judgments_of(sets, found.docs, collection, job.qrels)
    counts |= {"retrieval": found.counts, "judgments": judged.counts}
    grades = by_topic(judged, sets.topics)
    found = dataclasses.replace(
        found, candidates=found.candidates.recode(found.docs.recoder(judged.docs)), docs=judged.docs
    )
    out |= _compared(sets, found, grades or None, options)
    files[POOL_FILE] = pool_table(sets, found, judged.judgments, job.depth)
    out["pools"] = pool_totals(sets, found, judged.judgments, options.depths)
    out["growth"] = _growth(out["analysis"], sets, found, grades, job.depth)
    by_id = sorted(range(len(sets.topics)), key=sets.topics.__getitem__)
    bootstrap = Bootstrap(options.seed, options.resamples, options.confidence, by_id)
    aligned, why = _aligned(job, judged, collection)
    pool, own = pool_of(found, judged, {} if aligned is None else aligned.alignments)
    out["effectiveness"] = effectiveness(sets, found, pool, bootstrap) if grades else None
    out |= {"fairness": None, "fairness_reason": why, "counts": counts}
    if aligned is not None:
        asked = _asked(job, judged, found)
        out["fairness"], met = fairness(asked, sets, found, pool, own, bootstrap)
        counts |= {"groups": dict(aligned.counts), "fairness": met}
    return out, files


def _written(job: VariantsJob, read: Sets, collection: Collection | None) -> Written:
    written = write_sets(
        read,
        job.settings,
        job.generation,
        job.llm,
        job.options.most,
        job.collection,
        collection,
        job.cache,
    )
    if written.dry_run:
        for name, account in written.account.items():
            print(f"dry run: {name}: {in_words(account)}")
    return written


def _compared(
    sets: Sets, found: Found | None, grades: Mapping[str, Mapping[int, float]] | None, options: Any
) -> dict[str, Any]:
    """Return the analysis, or why there is none."""
    if len(sets.files) < 2:
        return {"analysis": None, "analysis_reason": "there is one set only, and nothing to compare it with"}
    ranked = None if found is None else found.ranked()
    return {"analysis": analyse(sets.variants, sets.reference, ranked, grades, options), "analysis_reason": None}


def _growth(
    analysis: Mapping[str, Any] | None, sets: Sets, found: Found, grades: Mapping[str, Any], depth: int
) -> list[dict[str, Any]]:
    """Return the curves of pools at the full depth; a set alone has them too."""
    if analysis is not None:
        return [curve for curve in analysis["growth"] if curve["depth"] == depth]
    ranked = found.ranked()
    return growth_curves(Pooled.of(sets.topics, ranked, grades, width_of(*ranked.values())), list(ranked), [depth])


def _aligned(job: VariantsJob, judged: Judged, collection: Collection | None) -> tuple[Aligned | None, str | None]:
    """Return the groups of the documents, or None and why there are none."""
    if isinstance(job.groups, NoGroups):
        return None, "no groups were asked for (groups=none)"
    nothing = "there are no groups of documents; name a file of them: groups=file groups.path=FILE"
    if collection is not None:
        aligned: Aligned = job.groups.align(collection.over(judged.docs))
        return (aligned, None) if aligned else (None, nothing)
    align = getattr(job.groups, "align_documents", None)
    return (None, nothing) if align is None else (align(judged.docs), None)


def _asked(job: VariantsJob, judged: Judged, found: Found) -> Asked:
    check_max_grade(job.browsing, judged.judgments)
    top = max(1, int(judged.judgments.grade.max(initial=0)))
    options = Options(browsing=job.browsing, samples=job.samples, seed=job.analysis.seed, max_grade=top)
    target = ready_target(job.target, job.method, job.collection, job.groups, found.topics)
    return Asked(job.method_name, job.method, target, options, job.weights)
