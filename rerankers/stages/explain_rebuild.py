"""From the folder of a job back to its parts: the job of its config, and the stored policy of one query."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import fields, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rerankers._base.errors import ConfigError, InputError, MissingError
from rerankers._base.own_files import own_mapping
from rerankers._base.yaml_values import parse_yaml
from rerankers.ledger import Memory
from rerankers.policies import Mixture
from rerankers.policies.rows import take_rows
from rerankers.runs.policy import StoredPolicy, count_policy_blocks, read_policy
from rerankers.stages.config_parts import build_part, cache_folder, measure_options, need_parts, texts, whole_number
from rerankers.stages.estimates import model_folder
from rerankers.stages.fit import FILE as FIT_FILE
from rerankers.stages.metadata import test_collection
from rerankers.stages.run import RunJob

if TYPE_CHECKING:
    from rerankers.values import Ragged

CONFIG, POLICY, METADATA = "config.yaml", "policy.parquet", "metadata.yaml"
PARTS = ("collection", "retriever", "method", "target", "browsing", "groups", "measures", "execution")


def read_config(folder: Path) -> dict[str, Any]:
    """Read the resolved config of a job.

    Raises
    ------
    MissingError
        where there is none.
    InputError
        for one that cannot be read.
    """
    path = folder / CONFIG
    if not path.is_file():
        raise MissingError(
            f"{path}: no such file; expected the folder of fair-rerank run or evaluate. Type: fair-rerank run "
            f"output={folder}"
        )
    return own_mapping(path, "the config of a job, as it was written")


def job_of(folder: Path, config: Mapping[str, Any]) -> RunJob:
    """Return the job that a config of ``run`` describes; options that a fit chose are filled in from its file.

    Raises
    ------
    InputError
        for a config without the parts of a job.
    FairRerankersError
        where a part cannot be built.
    """
    need_parts(config, folder / CONFIG, PARTS, ("samples", "seed", "universe", "paths"))
    node = config["method"]
    own = {key: value for key, value in node.items() if key != "model"}
    given = {"allow_targets": [], "predicted": None, **config, "method": own}
    part = partial(build_part, given)
    predicted = given["predicted"]
    method = _fitted(part("method"), folder / FIT_FILE)
    return RunJob(
        name=str(own.get("_target_", "")).rpartition(".")[2] or "method",
        collection=part("collection"),
        retriever=part("retriever"),
        method=method,
        target=part("target"),
        browsing=part("browsing"),
        groups=part("groups"),
        measures=measure_options(given),
        execution=part("execution"),
        cache=cache_folder(given),
        samples=whole_number(given, "samples"),
        seed=whole_number(given, "seed"),
        universe=str(given["universe"]),
        config=config,
        command="",
        model=model_folder(node),
        allowed=tuple(texts(given["allow_targets"])),
        ledger=Memory(),
        predicted=None if predicted is None else Path(str(predicted)),
    )


def _fitted(method: Any, path: Path) -> Any:
    """Return a method with the options that the trial which was kept has; as it is where nothing was fitted."""
    if not path.is_file():
        return method
    try:
        with path.open(encoding="utf-8", newline="") as lines:
            kept = next(row for row in csv.DictReader(lines, strict=True) if row.get("kept") == "1")
        own = {field.name for field in fields(method)}
        return replace(method, **{name: parse_yaml(value) for name, value in kept.items() if name in own})
    except (OSError, StopIteration, TypeError, ValueError, csv.Error) as error:
        found = f"no trial that is kept, or damaged options of it ({error or type(error).__name__})"
        raise InputError.one(str(path), found, "the trials of a fit, as they were written") from error


def fingerprint_of(folder: Path) -> str | None:
    """Return the fingerprint of the collection that a job was run on, None where its metadata has none."""
    return test_collection(folder).get("fingerprint")


def stored_row(folder: Path, qid: str) -> tuple[StoredPolicy, int] | None:
    """Return the block of a stored policy that holds a query, and its row there; None where no block does."""
    path = folder / POLICY
    for block in range(count_policy_blocks(path)):
        stored = read_policy(path, block)
        if qid in stored.qids:
            return stored, stored.qids.index(qid)
    return None


def row_policy(stored: StoredPolicy, row: int, over: Ragged, names: list[str], folder: Path) -> Any:
    """Return the stored policy of one query over the candidates of today.

    Parameters
    ----------
    stored, row
        as `stored_row` found them.
    over
        the query's candidates, one row.
    names
        their docnos.

    Raises
    ------
    ConfigError
        where they are not the ones that the policy ranks.
    """
    policy: Any = take_rows(stored.policy, np.array([row]))
    then = stored.docs.take(policy.over.doc)
    if then != names:
        raise ConfigError(
            f"{folder}: the candidates of this query are {len(names)} other documents, or in another order, than the "
            f"{len(then)} that {POLICY} ranks: collection or first stage have changed. Run the job again"
        )
    if isinstance(policy, Mixture):
        return Mixture(replace(policy.rankings, over=over), policy.stream)
    return replace(policy, over=over)
