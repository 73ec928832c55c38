"""A preset on one run, from files or from Python mappings."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rerankers._base.errors import ConfigError, Problems
from rerankers.measures.inputs import qrels_table
from rerankers.tracks.preset import Inputs, preset
from rerankers.tracks.trec2020 import Trec2020

if TYPE_CHECKING:
    import pyarrow as pa

    from rerankers.tracks.judged2020 import Judged


def evaluate(
    run: Any,
    qrels: Any,
    groups: Any = None,
    name: str = "trec2020_corrected",
    *,
    sequence: str | Path | None = None,
    targets: str | Path | None = None,
    **options: Any,
) -> pa.Table:
    """Judge one run by a preset.

    Parameters
    ----------
    run
        a path; under the presets of 2020 also a frame or ``{qid: [[docno, …], …]}``, as `read_run` takes them.
    qrels
        a path; under the presets of 2020 also ``{qid: {docno: grade}}``.
    groups
        a path; under the presets of 2020 also ``{docno: group | [groups] | {group: weight} | None}``.
    name
        of the preset.
    sequence, targets
        further files of those presets that need them.
    **options
        of the preset.

    Returns
    -------
    Table (system, seed, unit, measure, value, reason)
        of the run; anchors are left out.

    Raises
    ------
    InputError
        with every problem of the input.
    ConfigError
        for an unknown preset, other options, mappings where the preset needs files, or a file it does not use.
    """
    chosen = preset(name, **options)
    if isinstance(chosen, Trec2020):
        Inputs((), sequence=_path(sequence), targets=_path(targets)).refuse(name, "sequence", "targets")
        return _evaluate2020(run, qrels, groups, chosen)
    for word, value in (("run", run), ("qrels", qrels), ("groups", groups)):
        if not isinstance(value, str | Path) and (value is not None or word != "groups"):
            raise ConfigError(f"{word}: found a {type(value).__name__}; expected the path of a file under {name}")
    inputs = Inputs((Path(run),), Path(qrels), _path(groups), _path(sequence), _path(targets))
    outcome = chosen.evaluate(inputs)
    return next(iter(outcome.tables.values()))


def _path(value: str | Path | None) -> Path | None:
    return None if value is None else Path(value)


def _evaluate2020(run: Any, qrels: Any, groups: Any, chosen: Trec2020) -> pa.Table:
    from rerankers.tracks.evaluate2020 import judge
    from rerankers.tracks.lists import read_lists

    system = read_lists(run, chosen.duplicates, chosen.empty_ranking)
    given = groups if groups is None or isinstance(groups, Mapping) else Path(groups)
    return judge(chosen, _judged(qrels, chosen), {system.name: system}, given).tables[system.name]


def _judged(qrels: Any, chosen: Trec2020) -> Judged:
    from rerankers.tracks.expeval_files import JudgedRows
    from rerankers.tracks.judged2020 import bind_rows, read_judged

    if isinstance(qrels, str | Path):
        return read_judged(Path(qrels), chosen.pair_rules)
    table = qrels_table(qrels)
    rows = JudgedRows(counts=dict(table.counts))
    for qid, docno, grade in zip(table.qid.to_pylist(), table.docno.to_pylist(), table.grade.tolist(), strict=True):
        rows.add(qid, "", docno, grade)
    return bind_rows(rows, chosen.pair_rules, Problems("qrels"))
