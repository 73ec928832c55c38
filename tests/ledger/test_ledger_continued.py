"""What a ledger in a file may be continued with: the same sequences, candidates and entities, or nothing is written."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ledger_worlds import QUERIES, docnos, world

from rerankers._base.errors import InputError
from rerankers._base.streams import query_streams
from rerankers.ledger import Impressions, Memory, SQLite, merge, merge_files, open_ledger
from rerankers.methods.fair_co import FairCo
from rerankers.values import Block, Candidates, Ids

METHOD = FairCo(scope="corpus", entities="authors")
BY_SEQUENCE = replace(METHOD, scope="sequence")


def asked(block: Block, **sequences: str) -> Impressions:
    """Return impressions of sequences, each a text of the last letters of its queries, one after the other."""
    code = np.repeat(np.arange(len(sequences)), [len(text) for text in sequences.values()])
    query = np.array([QUERIES.index(f"q{letter}") for letter in "".join(sequences.values())], dtype=np.int64)
    return Impressions.of(tuple(sequences), code, query, QUERIES, Ids.of(QUERIES), block.candidates)


def check_refused(path: Path, text: str, block: Block, method: Any = METHOD, chunk: int = 2, **sequences: str) -> None:
    """Serving raises an error of this text, and leaves every byte and every balance as it was."""
    before, digest = path.read_bytes(), open_ledger(path).digest
    with pytest.raises(InputError, match=text):
        method.serve(block, asked(block, **sequences), SQLite(str(path), chunk), docnos(block))
    assert path.read_bytes() == before
    assert open_ledger(path).digest == digest


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "ledger.sqlite"


def serve(path: Path, block: Block, method: Any = METHOD, **sequences: str) -> np.ndarray:
    served, _ = method.serve(block, asked(block, **sequences), SQLite(str(path), 2), docnos(block))
    return served.item


def test_another_sequence_of_the_name_is_refused(path: Path) -> None:
    """Its rankings would be answered with those of the first: places in the candidates of another query."""
    over = Candidates(
        np.arange(2),
        np.array([0, 3, 6]),
        np.array([0, 1, 2, 0, 1, 2]),
        {"estimates": np.array([0.9, 0.5, 0.1, 0.1, 0.5, 0.9])},
    )
    block, qids = Block(over, query_streams(["qa", "qb"])), ("qa", "qb")
    method = FairCo(scope="sequence", strength=0.0)

    def served(*query: int) -> list[int]:
        code = np.zeros(len(query), int)
        shown = Impressions.of(("s",), code, np.array(query), qids, Ids.of(qids), over)
        return method.serve(block, shown, SQLite(str(path)))[0].item.tolist()

    assert served(0, 0, 0) == [0, 1, 2] * 3
    kept = path.read_bytes()
    with pytest.raises(
        InputError,
        match=r"a ledger of another sequence: impression 0 of s was of query 'qa' and is now of 'qb'; expected what "
        r"was served, and whatever follows it\. Take a new ledger, give the sequence another name",
    ):
        served(1, 1, 1)
    assert path.read_bytes() == kept
    assert served(0, 0, 0, 1) == [0, 1, 2] * 3 + [2, 1, 0]


def test_the_first_impression_that_differs_is_named(path: Path) -> None:
    block = world()
    serve(path, block, s="abda", t="dddddabadd")
    check_refused(path, "impression 3 of s was of query 'qa' and is now of 'qd'", block, s="abddd")
    check_refused(path, "impression 7 of t was of query 'qa' and is now of 'qb'", block, new="aaaa", t="dddddabbaab")
    check_refused(path, "impression 5 of t was of query 'qa' and is now of 'qd'", block, s="abdaa", t="dddddd")


@settings(max_examples=20)
@given(st.text("abd", max_size=9), st.text("abd", max_size=9), st.integers(0, 9), st.sampled_from([1, 3, 100]))
def test_refused_exactly_where_the_common_part_differs(
    tmp_path_factory: pytest.TempPathFactory, one: str, other: str, same: int, chunk: int
) -> None:
    other = one[:same] + other
    path, block = tmp_path_factory.mktemp("ledgers") / "ledger.sqlite", world()
    METHOD.serve(block, asked(block, s=one), SQLite(str(path), chunk), docnos(block))
    common = min(len(one), len(other))
    if one[:common] != other[:common]:
        check_refused(path, "a ledger of another sequence", block, chunk=chunk, s=other)
        return
    expected, _ = METHOD.serve(block, asked(block, s=max(one, other, key=len)), Memory(), docnos(block))
    found = serve(path, block, s=other)
    np.testing.assert_array_equal(found, expected.item[: len(found)])


def changed(block: Block, **parts: Any) -> Block:
    return replace(block, candidates=replace(block.candidates, **parts))


def test_other_candidates_are_refused_before_anything_is_written(path: Path) -> None:
    block = world()
    serve(path, block, s="aabb")
    over = block.candidates
    doc = over.doc.copy()
    doc[:2] = doc[1::-1]
    text = r"ledger: found other candidates than the ledger was kept with, of 1 queries \(qa\)"
    check_refused(path, text, changed(block, doc=doc), s="aabb")
    check_refused(path, text, changed(block, doc=doc), new="bbbbddda")  # another sequence, and a turn without qa
    fewer = {name: value[1:] for name, value in over.columns.items()}
    shorter = changed(block, indptr=np.maximum(over.indptr - 1, 0), doc=over.doc[1:], columns=fewer)
    check_refused(path, text, shorter, s="aabbb")
    late = over.doc.copy()
    late[5:] = late[:4:-1]
    serve(path, changed(block, doc=late), s="aabb")  # qd was never served
    check_refused(path, "of 2 queries", changed(block, doc=np.where(over.doc > 0, 0, 1)[::-1]), s="aabb", t="aaab")


def test_other_entities_are_refused(path: Path) -> None:
    block = world()
    serve(path, block, s="abd")
    authors = block.groups["authors"]

    def with_authors(**parts: Any) -> Block:
        return replace(block, groups={**block.groups, "authors": replace(authors, **parts)})

    text = r"ledger: found other authors of the candidates than the ledger was kept with, of . queries \(q"
    group = authors.group.copy()
    entry = int(authors.indptr[block.candidates.doc[0]])
    group[entry] = 4 - group[entry] if group[entry] != 2 else 0
    check_refused(path, text, with_authors(group=group), s="abdd")
    check_refused(path, text, with_authors(weight=authors.weight / 2), t="a")
    check_refused(path, text, with_authors(groups=tuple(f"other {name}" for name in authors.groups)), t="d")
    # The same authors under other codes, as a longer list of them has.
    turned = with_authors(groups=authors.groups[::-1], group=4 - authors.group)
    np.testing.assert_array_equal(serve(path, turned, s="abd"), serve(path, block, s="abd"))
    assert len(serve(path, turned, s="abda")) > 11


def test_documents_have_names_or_codes(path: Path) -> None:
    block, method = world(), FairCo(scope="corpus")
    method.serve(block, asked(block, s="ad"), SQLite(str(path)))
    method.serve(block, asked(block, s="ada"), SQLite(str(path)))
    check_refused(path, "other candidates", block, method, s="ada")  # has names


def test_beliefs_may_change(path: Path) -> None:
    """Rankings that were served stay as they are; those that follow heed what is believed now."""
    block = world()
    first = serve(path, block, s="aadd")
    columns = {name: 1.0 - value for name, value in block.candidates.columns.items()}
    found = serve(path, changed(block, columns=columns), s="aadda")
    np.testing.assert_array_equal(found[: len(first)], first)
    assert sorted(found[len(first) :]) == [0, 1, 2, 3]


@pytest.mark.parametrize("what", ["sequence", "candidates"])
def test_what_another_process_has_served_since_is_compared(path: Path, what: str) -> None:
    """Between two turns of a job, another one serves what contradicts it: the job ends there."""
    block, commits = world(), []
    doc = block.candidates.doc.copy()
    doc[:2] = doc[1::-1]

    def meanwhile(number: int) -> None:
        commits.append(number)
        if len(commits) == 2:
            if what == "sequence":
                serve(path, block, t="ab")
            else:
                serve(path, changed(block, doc=doc), other="a")

    text = {"sequence": "impression 1 of t was of query 'qb' and is now of 'qd'", "candidates": r"queries \(qa\)"}
    shown = asked(block, s="bdbdbd", t="ada")
    with pytest.raises(InputError, match=text[what]):
        METHOD.serve(block, shown, SQLite(str(path), 2), docnos(block), meanwhile)
    assert commits == [2, 2]
    assert open_ledger(path).positions == {"s": 4, **({"t": 2} if what == "sequence" else {"other": 1})}


def test_a_gap_between_impressions_that_were_served(tmp_path: Path) -> None:
    """It has no rankings: they would come out as the first candidate at every rank."""
    block, parts = world(), []
    for first, text in ((0, "ab"), (5, "da")):
        parts.append(tmp_path / f"{first}.sqlite")
        shown = asked(block, s=text)
        late = replace(shown, number=shown.number + first)
        BY_SEQUENCE.serve(block, late, SQLite(str(parts[-1])), docnos(block))
    merge_files(parts, tmp_path / "all.sqlite")
    text = "no ranking of impression 2 of sequence s, though later ones have been served"
    check_refused(tmp_path / "all.sqlite", text, block, BY_SEQUENCE, s="abdddda")
    serve(tmp_path / "all.sqlite", block, BY_SEQUENCE, s="ab")


def test_ledgers_of_other_candidates_or_entities_are_not_merged() -> None:
    block = world()
    doc = block.candidates.doc[::-1].copy()
    groups = {**block.groups, "authors": replace(block.groups["authors"], weight=block.groups["authors"].weight / 2)}
    for other, text in (
        (changed(block, doc=doc), "ledgers: found other candidates"),
        (replace(block, groups=groups), "ledgers: found other authors"),
    ):
        parts = [
            BY_SEQUENCE.serve(one, asked(one, **{name: "ab"}), Memory(), docnos(one))[1]
            for name, one in (("s", block), ("t", other))
        ]
        with pytest.raises(InputError, match=text):
            merge(parts)
        assert parts[0].digest != parts[1].digest
