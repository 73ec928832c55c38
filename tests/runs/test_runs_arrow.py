"""Runs as Arrow files: what is written comes back, in place, and what is wrong with a file is said."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from run_twins import PLAIN, Plain, check, plain_of, problems_of

from rerankers._base.errors import InputError
from rerankers.measures import evaluate
from rerankers.runs import ARROW_FILE, Run, RunWriter, arrow, read_run, write_run
from rerankers.values import Ids, Ragged, Rankings


def mapping_of(plain: Plain) -> dict[str, list[list[str]]]:
    return {qid: list(samples.values()) for qid, samples in plain.items()}


def written(folder: Path, run: Run) -> Path:
    write_run(folder / ARROW_FILE, run.rankings, run.qids, run.docs)
    return folder / ARROW_FILE


def same(one: Run, other: Run) -> None:
    assert one.qids == other.qids
    assert one.docs.names.equals(other.docs.names)
    for name in ("query_ptr", "item_ptr", "item", "weight", "label"):
        np.testing.assert_array_equal(getattr(one.rankings, name), getattr(other.rankings, name))
        assert getattr(one.rankings, name).dtype == getattr(other.rankings, name).dtype
    for name in ("query", "indptr", "doc"):
        np.testing.assert_array_equal(getattr(one.rankings.over, name), getattr(other.rankings.over, name))
    assert one.counts == other.counts


@given(PLAIN, st.booleans())
def test_round_trip(tmp_path_factory: pytest.TempPathFactory, plain: Plain, empty: bool) -> None:
    folder = tmp_path_factory.mktemp("arrow")
    run = read_run(mapping_of(plain) | ({"none": [[], []]} if empty else {}))
    again = read_run(written(folder, run))
    check(again)
    same(again, run)
    assert again.name == folder.name
    with RunWriter(folder / "blocks.arrow") as file:
        for row in range(len(run.qids)):
            file.write(run.rankings.take(np.array([row])), run.qids, run.docs)
    assert (folder / "blocks.arrow").read_bytes() == (folder / ARROW_FILE).read_bytes()
    assert file.counts == {"empty_rankings_not_written": 0}


def test_only_ranked_documents_and_answered_queries_are_written(tmp_path: Path) -> None:
    docs = Ids.of(["d0", "d1", "d2", "d3"])
    over = Ragged(np.array([1, 0, 2]), np.array([0, 4, 4, 5]), np.array([3, 0, 2, 1, 2]))  # first-stage order
    rankings = Rankings(
        over,
        np.array([0, 2, 2, 3]),
        np.array([0, 2, 3, 4]),
        np.array([0, 1, 1, 0], dtype=np.int32),
        np.array([0.5, 0.5, 1.0]),
        np.array([0, 4, 7], dtype=np.int32),
    )
    write_run(tmp_path / "a.arrow", rankings, ["p", "q", "r"], docs)
    run = read_run(tmp_path / "a.arrow")
    check(run)
    assert plain_of(run) == {"q": {0: ["d3", "d0"], 4: ["d0"]}, "r": {7: ["d2"]}}
    assert run.docs.names.to_pylist() == ["d0", "d2", "d3"]


def test_arrays_lie_in_the_file(tmp_path: Path) -> None:
    path = written(tmp_path, read_run({"q": [["b", "a"], ["a"]], "p": [["c"]]}))
    before = pa.total_allocated_bytes()
    table = arrow.map_file(path)
    assert pa.total_allocated_bytes() - before < 1024  # the dictionary's bookkeeping at most
    assert not read_run(path).rankings.item.flags.writeable
    table.validate(full=True)


def test_others_can_read_it(tmp_path: Path) -> None:
    path = written(tmp_path, read_run({"q": [["b", "a"], ["a"]], "p": [["c"], []]}))
    table = pa.ipc.open_file(str(path)).read_all()
    assert table.to_pydict() == {
        "qid": ["q", "p"],
        "docno": [["a", "b"], ["c"]],
        "label": [[0, 1], [0, 1]],
        "items": [[[1, 0], [0]], [[0], []]],
    }
    facts = json.loads(table.schema.metadata[b"fair_rerankers"])
    assert (facts["kind"], facts["version"]) == ("run", 1)
    assert table["qid"].num_chunks == 1


@pytest.mark.parametrize("name", ["a.arrow", "a.feather", "renamed"])
def test_rows_of_ranked_documents_in_an_arrow_file(tmp_path: Path, name: str) -> None:
    table = pa.table({"qid": ["q"] * 3, "docno": ["b", "a", "a"], "rank": [1, 2, 1], "sample": [0, 0, 1]})
    with pa.ipc.new_file(str(tmp_path / name), table.schema) as file:
        file.write_table(table)
    assert plain_of(read_run(tmp_path / name)) == {"q": {0: ["b", "a"], 1: ["a"]}}
    wrong = table.set_column(2, "rank", pa.array([1, 3, 1]))
    with pa.ipc.new_file(str(tmp_path / name), wrong.schema) as file:
        file.write_table(wrong)
    assert [(p.line, p.found) for p in problems_of(lambda: read_run(tmp_path / name))] == [
        (2, "rank 3 in query 'q', sample 0")
    ]


def test_evaluate_gives_the_same_numbers(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    run = {f"q{q}": [[f"d{d}" for d in rng.permutation(9)[:7]] for _ in range(6)] for q in range(4)}
    qrels = {qid: {f"d{d}": int(rng.integers(0, 3)) for d in range(9)} for qid in run}
    assert evaluate(written(tmp_path, read_run(run)), qrels)["value"].equals(evaluate(run, qrels)["value"])


Columns = dict[str, Any]
GOOD: Columns = {
    "qid": ["q", "p"],
    "docno": [["a", "b"], ["c"]],
    "label": [[0, 3], [0]],
    "items": [[[1, 0], [0]], [[0]]],
}


def write_columns(path: Path, columns: Columns, facts: Any = None, schema: pa.Schema = arrow.SCHEMA) -> None:
    """Write columns that may break any rule."""
    arrays = [pa.array(columns[field.name], pa.large_string()) for field in schema if field.name == "qid"]
    for field in schema:
        if field.name == "docno":
            flat = pa.array(columns["docno"], pa.large_list(pa.large_string()))
            names = flat.flatten().dictionary_encode()
            arrays.append(pa.LargeListArray.from_arrays(flat.offsets, names, type=field.type))
        elif field.name != "qid":
            loose = pa.large_list(pa.int32()) if field.name == "label" else pa.large_list(pa.large_list(pa.int32()))
            arrays.append(pa.Array.from_buffers(field.type, *_parts(pa.array(columns[field.name], loose), field.type)))
    known = {"kind": "run", "version": 1, "package": "9.9"} if facts is None else facts
    table = pa.table(arrays, schema=schema.with_metadata({"fair_rerankers": json.dumps(known)}))
    with pa.ipc.new_file(str(path), table.schema) as file:
        file.write_table(table)


def _parts(array: pa.Array, kind: pa.DataType) -> tuple[Any, ...]:
    """Return length, buffers, nulls, offset and children, to give an array a type that allows no missing values."""
    inner = array.values
    if pa.types.is_large_list(inner.type):
        length, buffers, nulls, offset, children = _parts(inner, kind.value_type)
        inner = pa.Array.from_buffers(kind.value_type, length, buffers, nulls, offset, children)
    return len(array), array.buffers()[:2], array.null_count, array.offset, [inner]


def found(path: Path, columns: Columns) -> list[str]:
    write_columns(path, columns)
    return [problem.found for problem in problems_of(lambda: read_run(path))]


def test_the_columns_of_these_tests_are_good_ones(tmp_path: Path) -> None:
    write_columns(tmp_path / "a.arrow", GOOD)
    run = read_run(tmp_path / "a.arrow")
    check(run)
    assert plain_of(run) == {"q": {0: ["b", "a"], 3: ["a"]}, "p": {0: ["c"]}}


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({"qid": ["q", "q"]}, ["query id 'q' in 2 rows"]),
        ({"qid": ["", "p"]}, ["query id '' in 1 rows"]),
        ({"qid": ["q", None]}, ["1 missing values"]),
        ({"docno": [["b", "a"], ["c"]]}, ["documents of query 'q' that do not ascend"]),
        ({"docno": [["a", "a"], ["c"]]}, ["documents of query 'q' that do not ascend"]),
        ({"docno": [["", "b"], ["c"]]}, ["an empty document id"]),
        ({"docno": [["a", None], ["c"]]}, ["1 missing values"]),
        ({"docno": [["a", "b", "c"], ["c"]]}, ["1 documents of query 'q' in no ranking"]),
        ({"docno": [["a", "b"], []]}, ["positions in query 'p', sample 0, that repeat or are not there"]),
        ({"label": [[3, 0], [0]]}, ["sample numbers of query 'q' that do not ascend"]),
        ({"label": [[0, 0], [0]]}, ["sample numbers of query 'q' that do not ascend"]),
        ({"label": [[-1, 0], [0]]}, ["sample number -1"]),
        ({"label": [[0], [0]]}, ["2 rankings and 1 sample numbers of query 'q'"]),
        ({"label": [[0, 3], []], "items": [[[1, 0], [0]], []]}, ["0 rankings and 0 sample numbers of query 'p'"]),
        ({"label": [[0, None], [0]]}, ["1 missing values"]),
        ({"items": [[[1, 0], [2]], [[0]]]}, ["positions in query 'q', sample 3, that repeat or are not there"]),
        ({"items": [[[1, -1], [0]], [[0]]]}, ["positions in query 'q', sample 0, that repeat or are not there"]),
        ({"items": [[[1, 0, 1], [0]], [[0]]]}, ["positions in query 'q', sample 0, that repeat or are not there"]),
        ({"items": [[[1, 0], None], [[0]]]}, ["1 missing values"]),
        ({"items": [[[1, 0], [None]], [[0]]]}, ["1 missing values"]),
        (
            {"docno": [["b", "a"], ["c", "d"]], "items": [[[1, 1], [0]], [[0]]]},
            [
                "documents of query 'q' that do not ascend",
                "positions in query 'q', sample 0, that repeat or are not there",
                "1 documents of query 'p' in no ranking",
            ],
        ),
    ],
)
def test_every_rule(tmp_path: Path, changed: Columns, expected: list[str]) -> None:
    assert found(tmp_path / "a.arrow", GOOD | changed) == expected


def test_other_files(tmp_path: Path) -> None:
    path = tmp_path / "a.arrow"
    write_columns(path, GOOD, {"kind": "run", "version": 2, "package": "9.9"})
    with pytest.raises(InputError, match=r"found a run of version 2; expected version 1\. Read it with .* 9\.9\."):
        read_run(path)
    write_columns(path, GOOD, {"kind": "policy"})
    assert problems_of(lambda: read_run(path))[0].found == "columns qid, docno, label, items"
    write_columns(path, GOOD, schema=arrow.SCHEMA.remove(3))
    assert problems_of(lambda: read_run(path))[0].found.startswith("columns qid large_string, docno large_list")
    write_columns(path, {name: [] for name in GOOD})
    assert problems_of(lambda: read_run(path))[0].found == "no row"
    for data in (b"", b"ARROW1", b"nothing of the kind"):
        path.write_bytes(data)
        assert problems_of(lambda: read_run(path))[0].found.startswith("no readable Arrow file")
    table = pa.table(GOOD).replace_schema_metadata({"fair_rerankers": "{"})
    with pa.ipc.new_file(str(path), table.schema) as file:
        file.write_table(table)
    assert problems_of(lambda: read_run(path))[0].found.startswith("metadata that cannot be read")


def test_nothing_written_and_failed_jobs(tmp_path: Path) -> None:
    with RunWriter(tmp_path / "a.arrow"):
        pass
    assert problems_of(lambda: read_run(tmp_path / "a.arrow"))[0].found == "no row"
    (tmp_path / "a.arrow").unlink()
    run = read_run({"q": [["a"]]})

    def fail() -> None:
        with RunWriter(tmp_path / "a.arrow") as file:
            file.write(run.rankings, run.qids, run.docs)
            raise RuntimeError("stop")

    with pytest.raises(RuntimeError, match="stop"):
        fail()
    uneven = replace(read_run({"q": [["a"], ["b"]]}).rankings, weight=np.array([0.3, 0.7]))
    with pytest.raises(ValueError, match="different weights"):
        write_run(tmp_path / "a.arrow", uneven, ["q"], run.docs)
    assert list(tmp_path.iterdir()) == []


def test_documents_under_other_ids_join(tmp_path: Path) -> None:
    """Blocks may come under other ids: names count."""
    parts = [read_run({"q": [["b", "a"]]}), read_run({"p": [["c", "a"]]})]
    with RunWriter(tmp_path / "a.arrow") as file:
        for part in parts:
            file.write(part.rankings, part.qids, part.docs)
    run = read_run(tmp_path / "a.arrow")
    check(run)
    assert plain_of(run) == {"q": {0: ["b", "a"]}, "p": {0: ["c", "a"]}}


@settings(max_examples=150)
@given(st.data())
def test_damaged_files(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    path = tmp_path_factory.getbasetemp() / "damaged.arrow"
    run = read_run({"q": [["b", "a"], ["a", "c"]], "p": [["c"], ["c"]]})
    write_run(path, run.rankings, run.qids, run.docs)
    whole = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 3))):
        whole[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    path.write_bytes(bytes(whole[: data.draw(st.integers(len(whole) - 40, len(whole)))]))
    damaged, said = None, ""
    try:
        damaged = read_run(path)
    except InputError as error:
        said = str(error)
    if damaged is None:
        assert str(path) in said
    else:
        check(damaged)
