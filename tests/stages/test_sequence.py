"""Sequences of queries: files, what stands for them, contradictions, and serving in shards or in one piece."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from sequence_worlds import QIDS, TOPICS, asked_by, pool

from rerankers._base.errors import ConfigError, InputError, MissingError
from rerankers._conf import conf_folder
from rerankers.ledger import Memory, SQLite
from rerankers.methods.deterministic import Deterministic
from rerankers.methods.fair_co import FairCo
from rerankers.stages.sequence import (
    SAMPLES,
    Asked,
    asked_of,
    check_asked,
    check_numbers,
    check_sequence,
    read_asked,
    topics_apart,
    topics_in_turn,
)


def written(folder: Path, *lines: str) -> Path:
    path = folder / "sequence.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_a_file_is_read_in_its_order(tmp_path: Path) -> None:
    asked = read_asked(written(tmp_path, "0.1,12", "", " 0.0 , q b ", "1.0,007", "1.1,12", "5,40"), TOPICS)
    assert asked.names == ("0", "1")
    assert asked.sequence.tolist() == [0, 0, 1, 1, 0]
    assert [asked.qids[code] for code in asked.query] == ["12", "q b", "7", "12", "40"]
    assert asked.counts.tolist() == [2, 1, 1, 1]
    shown = asked.impressions(TOPICS, pool().candidates)
    assert shown.row.tolist() == [2, 1, 0, 2, 3]
    assert shown.number.tolist() == [0, 1, 0, 1, 2]


def test_rounds_go_on_where_a_sequence_ended(tmp_path: Path) -> None:
    asked = read_asked(written(tmp_path, "0.0,12", "1.0,40", "0.1,7"), TOPICS).repeated(2)
    shown = asked.impressions(TOPICS, pool().candidates)
    assert shown.sequence.tolist() == [0, 1, 0, 0, 1, 0]
    assert shown.number.tolist() == [0, 0, 1, 2, 1, 3]


def test_everything_wrong_with_a_file_is_told_at_once(tmp_path: Path) -> None:
    lines = [
        "0.0,12",
        "0.1;7",
        "0.0,7",
        "0.2,99",
        "0.3,zebra",
        "0.4,99",
        "x.1,7",
        *[f"1.{n},u{n}" for n in range(1200)],
    ]
    with pytest.raises(InputError) as caught:
        read_asked(written(tmp_path, *lines), TOPICS)
    text = str(caught.value)
    assert len(caught.value.problems) == 3 + 2 + 1200
    assert "sequence.csv:2: found '0.1;7'; expected a line of the form" in text
    assert "sequence.csv:3: found '0.0' again, first on line 1" in text
    assert "sequence.csv:4: found query '99' (2 impressions); expected a query of the collection" in text
    assert "query 'zebra' (1 impressions)" in text
    assert "query 'u1199'" in text


def test_an_empty_file_and_none(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no entry"):
        read_asked(written(tmp_path, "", " "), TOPICS)
    with pytest.raises(MissingError):
        read_asked(tmp_path / "none.csv", TOPICS)


def test_what_stands_for_a_file() -> None:
    def asked(method: Any, ledger: Any = None, rounds: int = 1) -> Asked | None:
        return asked_of(method, TOPICS, None, rounds, Memory() if ledger is None else ledger, SAMPLES)

    assert asked(Deterministic()) is None
    assert asked(FairCo()) is None, "queries with accounts of their own make policies"
    turn = asked(FairCo(scope="corpus"))
    assert turn is not None
    assert (turn.names, turn.qids, turn.query.tolist()) == (("topics",), QIDS, [0, 1, 2, 3])
    assert len(asked(FairCo(scope="sequence"), rounds=3) or ()) == 12
    apart = asked(FairCo(impressions=3), SQLite("file"))
    assert apart is not None
    assert apart.names == QIDS
    assert apart.query.tolist() == apart.sequence.tolist() == [0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3]
    assert len(topics_in_turn(())) == len(topics_apart((), 5)) == 0


def test_options_without_effect_are_refused() -> None:
    for key, options in (
        ("sequence", (Path("s.csv"), 1, Memory())),
        ("rounds", (None, 2, Memory())),
        ("ledger", (None, 1, SQLite("l"))),
    ):
        with pytest.raises(ConfigError, match=f"^{key}: found .* has no effect: Deterministic keeps no ledger"):
            check_sequence(Deterministic(), *options)
        if key != "rounds":
            check_sequence(FairCo(), *options)
    with pytest.raises(ConfigError, match=r"rounds: found 2; expected 1, since method\.impressions"):
        check_sequence(FairCo(), None, 2, Memory())
    with pytest.raises(ConfigError, match="rounds: found 0"):
        check_sequence(FairCo(scope="corpus"), None, 0, Memory())
    check_sequence(FairCo(scope="corpus"), None, 2, Memory())


def test_a_sequence_wins_over_numbers_that_nobody_asked_for() -> None:
    assert yaml.safe_load((conf_folder() / "run.yaml").read_text())["samples"] == SAMPLES
    twice, uneven = topics_apart(QIDS, 2), asked_by([(0, 0), (0, 1), (0, 1), (0, 2), (0, 3)])
    check_numbers(FairCo(), twice, SAMPLES)
    check_numbers(FairCo(impressions=2), twice, 2)
    check_numbers(FairCo(), uneven, SAMPLES)
    check_numbers(FairCo(impressions=9), topics_in_turn(()), 9)
    for method, samples, name in ((FairCo(), 2, "samples"), (FairCo(impressions=2), SAMPLES, "method.impressions")):
        with pytest.raises(ConfigError, match=rf"^{name}: found 2; expected nothing, .* \(1 to 2 times; test\)"):
            check_numbers(method, uneven, samples)
    with pytest.raises(ConfigError, match=r"samples: found 7; .* \(2 times;"):
        check_numbers(FairCo(), twice, 7)
    with pytest.raises(InputError, match="8 impressions with 11 documents; expected at most 10"):
        check_asked(twice, 11, 10)
    check_asked(twice, 10, 10)
