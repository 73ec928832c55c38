"""Kappa, alpha, and what the command says of labellers."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rerankers._base.errors import InputError
from rerankers.cli import main
from rerankers.labels.agreement import accuracy, codes_of, cohen_kappa, confusion, krippendorff_alpha, shares
from rerankers.labels.kappa_intervals import Bootstrap, kappa_difference, kappa_interval
from rerankers.stats.bootstrap import resample_counts

CODES = st.lists(st.tuples(st.integers(-1, 2), st.integers(-1, 2), st.integers(-1, 2)), max_size=12)


def plain_kappa(pairs: Sequence[tuple[int, int]]) -> float | None:
    """Cohen (1960), in so many words."""
    pairs = [(a, b) for a, b in pairs if a >= 0 and b >= 0]
    if not pairs:
        return None
    number = len(pairs)
    same = sum(a == b for a, b in pairs) / number
    chance = sum((sum(a == c for a, _ in pairs) / number) * (sum(b == c for _, b in pairs) / number) for c in range(4))
    return None if abs(1 - chance) < 1e-12 else (same - chance) / (1 - chance)


def plain_alpha(rows: Sequence[Sequence[int]]) -> float | None:
    """Krippendorff's alpha by every ordered pair of labels of a document, and every ordered pair of all labels."""
    units = [[label for label in row if label >= 0] for row in rows]
    units = [unit for unit in units if len(unit) > 1]
    every = [label for unit in units for label in unit]
    observed = sum(sum(a != b for a, b in permutations(unit, 2)) / (len(unit) - 1) for unit in units)
    expected = sum(a != b for a, b in permutations(every, 2))
    return None if expected == 0 else 1 - (observed / len(every)) / (expected / (len(every) * (len(every) - 1)))


@pytest.mark.shared_data
def test_kappa_equals_the_oracle(shared: Path) -> None:
    for case in json.loads((shared / "oracles/text-bias-and-queries/kappa.json").read_text())["cases"]:
        table = confusion(codes_of(case["a"], "NMF"), codes_of(case["b"], "NMF"), 3)
        assert table.tolist() == case["confusion"]
        right, kappa = accuracy(table).value, cohen_kappa(table).value
        assert right is not None
        assert abs(right - case["accuracy"]) <= 1e-12
        if case["kappa"] is None:
            assert kappa is None
        else:
            assert kappa is not None
            assert abs(kappa - case["kappa"]) <= 1e-12


@given(CODES)
def test_kappa_equals_the_formula(rows: list[tuple[int, int, int]]) -> None:
    codes = np.array(rows, dtype=np.int64).reshape(-1, 3)
    found = cohen_kappa(confusion(codes[:, 0], codes[:, 1], 3)).value
    plain = plain_kappa([(a, b) for a, b, _ in rows])
    assert (found is None) == (plain is None)
    assert found is None or abs(found - plain) < 1e-12  # type: ignore[operator]


@given(CODES)
def test_alpha_equals_all_pairs(rows: list[tuple[int, int, int]]) -> None:
    found = krippendorff_alpha(np.array(rows, dtype=np.int64).reshape(-1, 3)).value
    plain = plain_alpha(rows)
    assert (found is None) == (plain is None)
    assert found is None or abs(found - plain) < 1e-9  # type: ignore[operator]


def test_alpha_of_a_published_example() -> None:
    """Krippendorff (2011, "Computing Krippendorff's alpha-reliability"), the nominal data of part C: .743."""
    rows = [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, 0, 0, 0],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, 0, 3],
        [0, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, 0],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, 0],
    ]
    found = krippendorff_alpha(np.array(rows, dtype=np.int64).T - 1).value
    assert found == pytest.approx(0.743, abs=5e-4)


def test_undefined() -> None:
    assert cohen_kappa([[5, 0], [0, 0]]) == (None, "one_label_only")
    assert cohen_kappa(np.zeros((3, 3))) == (None, "no_documents")
    assert accuracy(np.zeros((3, 3))).value is None
    assert krippendorff_alpha(np.array([[0, 0], [0, -1]])) == (None, "one_label_only")
    assert krippendorff_alpha(np.array([[0, -1], [-1, 1]])) == (None, "no_documents")
    assert shares([[2, 1], [0, 0]], ["a", "b"]) == {"a": (1.0, 2 / 3), "b": (0.0, None)}


def test_wrong_arguments() -> None:
    with pytest.raises(InputError, match="square"):
        cohen_kappa([[1, 2]])
    with pytest.raises(InputError, match="negative"):
        accuracy([[1, -2], [0, 0]])
    with pytest.raises(InputError, match="'x'"):
        codes_of(["x"], ["a", "b"])
    with pytest.raises(InputError, match="each label once"):
        codes_of(["a"], ["a", "a"])
    with pytest.raises(InputError, match="shape"):
        confusion(np.zeros(2, np.int64), np.zeros(3, np.int64), 2)
    with pytest.raises(InputError, match="resample"):
        Bootstrap(resamples=0)


def test_intervals_equal_a_loop_over_resamples() -> None:
    draw = np.random.default_rng(3)
    truth, first, second = (draw.integers(low, 3, 40) for low in (0, -1, -1))
    both = (first >= 0) & (second >= 0)
    pairs = {
        "one": (first >= 0, [first], kappa_interval(truth, first, 3, Bootstrap(5, 50, 0.9))),
        "two": (both, [first, second], kappa_difference(truth, first, second, 3, Bootstrap(5, 50, 0.9))),
    }
    for kept, annotators, found in pairs.values():
        parts = [list(zip(truth[kept].tolist(), one[kept].tolist(), strict=True)) for one in annotators]
        values = []
        for times in next(resample_counts(int(kept.sum()), 5, 50)).astype(int):
            kappas = [
                plain_kappa([pair for pair, n in zip(part, times, strict=True) for _ in range(n)]) for part in parts
            ]
            values.append(kappas[0] - (kappas[1] if len(kappas) > 1 else 0))  # type: ignore[operator]
        low, high = np.quantile(values, [0.05, 0.95])
        assert found.documents == kept.sum()
        assert (found.low, found.high) == (pytest.approx(low, abs=1e-12), pytest.approx(high, abs=1e-12))


def test_interval_of_few() -> None:
    nothing = kappa_interval(np.array([0, 1]), np.array([-1, -1]), 2)
    assert (nothing.value, nothing.reason) == (None, "no_documents")
    constant = kappa_interval(np.array([0, 0]), np.array([0, 0]), 2)
    assert (constant.value, constant.reason) == (None, "one_label_only")
    one = kappa_interval(np.array([0]), np.array([1]), 2)
    assert (one.value, one.low, one.reason) == (0.0, None, "fewer_than_two_documents")
    two = kappa_interval(np.array([0, 1]), np.array([0, 1]), 2, Bootstrap(0, 100))
    assert (two.value, two.low, two.high) == (1.0, 1.0, 1.0)
    assert 0 < two.undefined < 100


def compared(folder: Path, *words: str) -> dict[str, Any]:
    truth, output = folder / "truth.csv", folder / "out"
    truth.write_text("d,gold\n1,N\n2,M\n3,F\n4,M\n5,both\n6,\n7,F\n")
    (folder / "a.csv").write_text("id,label\n1,N\n2,M\n3,M\n4,\n5,M\n7,F\n99,F\n")
    (folder / "b.jsonl").write_text(
        "".join(f'{{"id":"{i}","label":{label}}}\n' for i, label in ((1, '"neutral"'), (2, '"male"'), (3, '"female"')))
    )
    named = f"labels=[a:{folder / 'a.csv'},b:{folder / 'b.jsonl'}]"
    code = main(["agreement", f"truth={truth}", "truth_id=d", "truth_label=gold", named, f"output={output}", *words])
    assert code == 0
    return json.loads((output / "agreement.json").read_text())  # type: ignore[no-any-return]


def test_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = compared(tmp_path)
    assert found["labels"] == ["neutral", "male", "female", "both"]
    assert found["counts"]["truth"] == {"documents": 7, "without_label": 1, "odd_labels": 1, "dropped": 0}
    assert found["counts"]["labels.a"] == {"documents": 7, "not_in_truth": 1, "missing": 0}
    assert found["counts"]["labels.b"] == {"documents": 3, "not_in_truth": 0, "missing": 3}
    one = found["labellers"]["a"]
    assert (one["documents"], one["labelled"], one["unlabelled"]) == (6, 5, {"no_label": 1})
    assert one["labelled_part"]["accuracy"] == 3 / 5
    assert one["unlabelled_as_disagreement"]["accuracy"] == 3 / 6
    pairs = [(0, 0), (1, 1), (2, 1), (3, 1), (2, 2)]
    assert one["labelled_part"]["kappa"]["value"] == pytest.approx(plain_kappa(pairs), abs=1e-12)
    with_none = [*pairs, (1, 4)]
    chance = sum(sum(a == c for a, _ in with_none) * sum(b == c for _, b in with_none) for c in range(5)) / 36
    assert one["unlabelled_as_disagreement"]["kappa"]["value"] == pytest.approx((0.5 - chance) / (1 - chance))
    assert one["unlabelled_as_disagreement"]["confusion"]["counts"][1] == [0, 1, 0, 0, 1]
    assert found["differences"][0]["difference_of_kappas"]["documents"] == 3
    assert found["alpha"]["labellers"]["value"] == pytest.approx(plain_alpha([(0, 0), (1, 1), (1, 2)]))
    printed = capsys.readouterr().out
    assert "difference of kappas, a - b" in printed
    text = (tmp_path / "out/agreement.md").read_text()
    assert "| both | 0 | 1 | 0 | 0 | 0 |" in text
    assert "Without a label: no_label 1" in text


def test_rules_of_the_command(tmp_path: Path) -> None:
    dropped = compared(tmp_path, "odd=drop")
    assert dropped["documents"] == 5
    assert dropped["labels"] == ["neutral", "male", "female"]
    renamed = compared(tmp_path, "rename=[both:neutral]")
    assert renamed["counts"]["truth"]["odd_labels"] == 0
    lacking = compared(tmp_path, "missing=disagree")
    assert lacking["labellers"]["b"]["documents"] == 6
    assert lacking["labellers"]["b"]["unlabelled_as_disagreement"]["accuracy"] == 3 / 6
    assert compared(tmp_path)["labellers"]["b"]["unlabelled_as_disagreement"]["accuracy"] == 1


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["labels=a.csv"], 2, "NAME:FILE"),
        (["labels=[a:a.csv,a:b.csv]"], 2, "twice"),
        (["labels=[]"], 2, "found none"),
        (["rename=[x]"], 2, "OLD:NEW"),
        (["odd=keep"], 2, "odd"),
        (["missing=keep"], 2, "missing"),
        (["classes=[neutral]"], 2, "classes"),
        (["confidence=2"], 2, "confidence"),
        (["classes=[x,y]", "odd=drop"], 1, "no document with a label"),
    ],
)
def test_what_is_refused(
    tmp_path: Path, words: list[str], code: int, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "t.csv").write_text("id,label\n1,N\n2,M\n")
    usual = [f"truth={tmp_path / 't.csv'}", f"labels=[a:{tmp_path / 't.csv'}]", f"output={tmp_path / 'o'}"]
    assert main(["agreement", *usual, *words]) == code
    assert message in capsys.readouterr().err
