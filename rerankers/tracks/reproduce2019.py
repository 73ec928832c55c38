"""Ours of the numbers of 2019: candidates as they stand in the query file, through the first sequence."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from rerankers._base.errors import MissingError
from rerankers.collections.trec_samples import read_sample
from rerankers.tracks.preset import Inputs, preset
from rerankers.tracks.sequences import read_sequence

if TYPE_CHECKING:
    from rerankers.tracks.reproduce import Compute

FOLDER = "trec-fair-2019"
SAMPLE = "TREC-Competition-eval-sample-with-rel.json"
SEQUENCE = "fair-TREC-evaluation-sequences.csv"
GROUPS = {"2019 level": "article-level.csv", "2019 h-index": "article-h_index_4.csv"}
FIRST = "0"


def parts(data: Path) -> Mapping[str, Compute]:
    """Return the parts ``2019 level`` and ``2019 h-index``."""
    return {part: partial(_file_order, data, groups) for part, groups in GROUPS.items()}


def _file_order(data: Path, groups: str, seed: int) -> Mapping[str, float]:
    """Return utility and unfairness of the official form, and with all documents ending searches (``updated``)."""
    folder = data / FOLDER
    for name in (SAMPLE, SEQUENCE, groups):
        if not (folder / name).is_file():
            raise MissingError(f"{FOLDER}/{name}")
    sample = read_sample(folder / SAMPLE)
    docno, indptr = sample.docno.to_pylist(), sample.indptr.tolist()
    lists = {qid: docno[indptr[row] : indptr[row + 1]] for row, qid in enumerate(sample.topics.ids.names.to_pylist())}
    entries = read_sequence(folder / SEQUENCE)
    found: dict[str, float] = {}
    with TemporaryDirectory() as place:
        run, sequence = Path(place) / "file_order.jsonl", Path(place) / "sequence.csv"
        with run.open("w", encoding="utf-8") as lines, sequence.open("w", encoding="utf-8") as rows:
            for q_num, code in zip(entries.q_num, entries.query.tolist(), strict=True):
                if q_num.partition(".")[0] != FIRST:
                    continue
                qid = entries.qids[code]
                rows.write(f"{q_num},{qid}\n")
                lines.write(json.dumps({"q_num": q_num, "qid": int(qid), "ranking": lists[qid]}) + "\n")
        inputs = Inputs((run,), folder / SAMPLE, folder / groups, sequence, seed=seed)
        for name, options in (("official", {}), ("updated", {"unannotated_continuation": "update"})):
            outcome = preset("trec2019_official", **options).evaluate(inputs)
            for row in outcome.tables["file_order"].to_pylist():
                found[f"{name}/{row['measure']}"] = row["value"]
    return found
