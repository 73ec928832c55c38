"""Published numbers beside ours: the table is sound, verdicts are honest, and what the data allows comes out."""

from __future__ import annotations

import math
import shutil
from collections import Counter
from pathlib import Path

import pytest

from rerankers._base.errors import InputError
from rerankers.tracks import reproduce as module
from rerankers.tracks import reproduce2020, reproduce_teams2020
from rerankers.tracks.reproduce import (
    COLUMNS,
    KINDS,
    MISSED,
    PARTS,
    REPRODUCED,
    SECTIONS,
    Published,
    judged,
    published_rows,
    reproduce,
    tally,
)


def test_the_table_of_published_numbers() -> None:
    rows = published_rows()
    assert len(rows) == 184
    assert Counter(row.section for row in rows)["evidence"] == 38
    for row in rows:
        assert row.what
        assert row.source
        assert row.kind in KINDS
        assert row.section in SECTIONS
        if not row.needs:
            assert row.part in PARTS
            assert row.low is not None
            assert row.high is not None
            assert row.tolerance is not None
            assert row.low <= row.high
            # a tolerance hides nothing: small beside the number, or beside what separates policies
            assert row.tolerance <= max(0.1 * abs(row.high), 0.005) or " seed" in row.what or "one " in row.what
    assert len({(row.what, row.printed) for row in rows}) > 160
    assert {row.part for row in rows if not row.needs} == set(PARTS)
    computed = [(row.part, row.key, row.low, row.tolerance) for row in rows if not row.needs]
    assert len(set(computed)) == len(computed)


def row(**changes: object) -> Published:
    given: dict[str, object] = {
        **dict.fromkeys(("section", "part", "key", "what", "source", "needs"), ""),
        "low": 0.4,
        "high": 0.5,
        "tolerance": 0.01,
        "kind": "published",
    }
    return Published(**{**given, **changes})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("ours", "verdict"),
    [
        (0.4, REPRODUCED),
        (0.45, REPRODUCED),
        (0.391, REPRODUCED),
        (0.509, REPRODUCED),
        (0.389, MISSED),
        (0.511, MISSED),
        (math.nan, MISSED),
        (math.inf, MISSED),
        (-0.45, MISSED),
    ],
)
def test_verdicts(ours: float, verdict: str) -> None:
    found = judged(row(), ours)
    assert found.verdict == verdict
    if math.isfinite(ours):
        assert found.distance == pytest.approx(ours - min(max(ours, 0.4), 0.5))
    with pytest.raises(ValueError, match="no number to compare"):
        judged(row(low=None), ours)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("2020,tables,2020/groups,w,0,0,0.1,published,s,wish: x", ""),
        ("2020,tables,2020/groups,w,0,0,0.1,rumour,s,", "a part that computes it"),
        ("1999,tables,2020/groups,w,0,0,0.1,published,s,", "a known section"),
        ("2020,nowhere,k,w,0,0,0.1,published,s,", "a part that computes it"),
        ("2020,tables,,w,0,0,0.1,published,s,", "a part that computes it"),
        ("2020,tables,2020/groups,w,0,,0.1,published,s,", "a part that computes it"),
        ("2020,tables,2020/groups,w,x,0,0.1,published,s,", "could not convert"),
        ("2020,tables,2020/groups,w,0,0,0.1,published,s", "10 fields"),
        ("2020,nowhere,,w,,,,published,s,a friend", "its need"),
    ],
)
def test_damaged_tables(tmp_path: Path, line: str, message: str) -> None:
    path = tmp_path / "published.csv"
    path.write_text(",".join(COLUMNS) + "\n" + line + "\n")
    if not message:
        assert module._rows(path)[0].needs == "wish: x"
        return
    with pytest.raises(InputError, match=message):
        module._rows(path)
    path.write_text("a,b\n")
    with pytest.raises(InputError, match="another header"):
        module._rows(path)


@pytest.mark.slow
@pytest.mark.shared_data
def test_a_part_without_its_file_is_absent_the_others_are_not(
    shared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Estimates and judgments only: no submission, no 2019, no CACM; few seeds, since this is about the files."""
    monkeypatch.setattr(reproduce2020, "SEEDS", 3)
    folder = tmp_path / "trec-fair-2020"
    folder.mkdir()
    for name in (
        "TREC-Fair-Ranking-eval-sample.json",
        "merged-annotations.json",
        "nle_Evaluation_rel_scores_model_A.csv",
    ):
        shutil.copy(shared / "data/trec-fair-2020" / name, folder)
    found = list(reproduce(tmp_path, seed=5))
    assert tally(found)[MISSED] == 0, [row for row in found if row.verdict == MISSED]
    by_part = {row.row.part: row for row in found}
    assert by_part["2020 META"].verdict == by_part["2020 anchors"].verdict == REPRODUCED
    assert by_part["2020 TEXT"].reason == "data: trec-fair-2020/nle_Evaluation_rel_scores_model_B.csv"
    assert by_part["2020 UW_bm25"].reason == "data: trec-fair-2020/rerank_submissions/UW_bm25.jsonl.gz"
    assert by_part["2020 controllers META"].reason.endswith("/corpus-subset-for-queries.paper_authors.csv")
    assert by_part["2019 level"].reason.startswith("data: trec-fair-2019/")


@pytest.mark.shared_data
def test_controllers_of_a_team(shared: Path) -> None:
    """Accounts of the authors in the tables: the reference computation with all authors comes out within .001."""
    found = reproduce_teams2020.parts(shared / "data")["2020 controllers META"](seed=0)
    assert found["theta .9, k .5/group_EEL"] == pytest.approx(0.4182, abs=0.001)
    assert found["theta .9, k .7/group_EEL"] == pytest.approx(0.4289, abs=0.001)
    assert found["theta .99, k .7/group_EEL"] == pytest.approx(0.4300, abs=0.001)
