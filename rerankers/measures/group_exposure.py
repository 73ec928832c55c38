"""What each group gets and is due: the table behind the group pictures of the report."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.measures.evaluation import Evaluation

SCHEMA = pa.schema(
    [
        pa.field("system", pa.string(), nullable=False),
        pa.field("attribute", pa.string(), nullable=False),
        pa.field("group", pa.string(), nullable=False),
        pa.field("exposure", pa.float64()),
        pa.field("target", pa.float64()),
        pa.field("queries", pa.int64(), nullable=False),
        pa.field("documents", pa.int64(), nullable=False),
        pa.field("relevant_documents", pa.int64(), nullable=False),
    ]
)


@dataclass(frozen=True, slots=True, eq=False)
class GroupRows:
    """What the groups of one attribute get in one block, by judged query.

    Attributes
    ----------
    groups
        the G names.
    exposure, target
        float64 (judged queries, G), under the default browsing model.
    documents, relevant
        float64 (judged queries, G): documents of the universe in the group, and relevant ones; a document of
        several groups counts once in each.
    """

    groups: tuple[str, ...]
    exposure: NDArray[np.float64]
    target: NDArray[np.float64]
    documents: NDArray[np.float64]
    relevant: NDArray[np.float64]


def group_rows(evaluation: Evaluation, attribute: str) -> GroupRows:
    """Return exposure, target and sizes of the groups by judged query of a block."""
    model = evaluation.options.model
    judged = evaluation.query_judged
    return GroupRows(
        evaluation.groups[attribute].groups,
        evaluation.by_group(attribute, evaluation.exposure(model))[judged],
        evaluation.by_group(attribute, evaluation.target(model))[judged],
        evaluation.members(attribute, np.ones(evaluation.over.nnz, dtype=np.bool_))[judged],
        evaluation.members(attribute, evaluation.grade > 0)[judged],
    )


def group_table(blocks: Sequence[Mapping[str, Mapping[str, GroupRows]]]) -> pa.Table:
    """Return exposure and target of every group, averaged over the judged queries of all blocks.

    Parameters
    ----------
    blocks
        of a job, in their order: system -> attribute -> `group_rows`.

    Returns
    -------
    Table (system, attribute, group, exposure, target, queries, documents, relevant_documents)
        means are null without a judged query; the last two count (query, document) pairs.
    """
    found: dict[tuple[str, str], list[GroupRows]] = {}
    for block in blocks:
        for system, attributes in block.items():
            for attribute, rows in attributes.items():
                found.setdefault((system, attribute), []).append(rows)
    lines = [line for (system, attribute), parts in found.items() for line in _rows(system, attribute, parts)]
    return pa.Table.from_pylist(lines, schema=SCHEMA)


def _rows(system: str, attribute: str, parts: Sequence[GroupRows]) -> list[dict[str, object]]:
    exposure = np.concatenate([part.exposure for part in parts])
    target = np.concatenate([part.target for part in parts])
    documents = sum(part.documents.sum(axis=0) for part in parts)
    relevant = sum(part.relevant.sum(axis=0) for part in parts)
    return [
        {
            "system": system,
            "attribute": attribute,
            "group": group,
            "exposure": _mean(exposure[:, g]),
            "target": _mean(target[:, g]),
            "queries": len(exposure),
            "documents": int(documents[g]),
            "relevant_documents": int(relevant[g]),
        }
        for g, group in enumerate(parts[0].groups)
    ]


def _mean(values: NDArray[np.float64]) -> float | None:
    return math.fsum(values.tolist()) / len(values) if len(values) else None
