"""Labels by counting words, neutrality of documents."""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rerankers._base.errors import ConfigError, InputError
from rerankers.labels.base import Text
from rerankers.labels.counting import WordCounter
from rerankers.labels.lexical import LexicalMajority, LexicalNeutrality, leading_group
from rerankers.labels.lexicon import lexicon_of
from rerankers.labels.neutrality import neutrality
from rerankers.labels.records import column_lines, record_line
from rerankers.labels.texts import TextReader
from rerankers.labels.tokens import tokens_named


def labels(labeller: LexicalMajority | LexicalNeutrality, *texts: str) -> list[str | None]:
    return [said.label for said in labeller.label(Text(str(i), "", text) for i, text in enumerate(texts))]


@pytest.mark.shared_data
def test_neutrality_equals_the_oracle(shared: Path) -> None:
    oracle = json.loads((shared / "oracles/text-bias-and-queries/neutrality.json").read_text())
    lexicon = lexicon_of(oracle["meta"]["words"])
    counter = WordCounter.of(lexicon, tokens_named("whitespace"))
    for case in oracle["cases"]:
        counted = counter.count([case["text"]])
        assert counted.tokens[0] == len(case["tokens"])
        assert dict(zip(lexicon.groups, counted.counts[0].tolist(), strict=True)) == case["magnitude"]
        target = [case["target"][group] for group in lexicon.groups]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = neutrality(counted.counts, case["tau"], target)[0]
        assert abs(found - case["neutrality"]) <= 1e-12


COUNTS = st.lists(st.integers(0, 9), min_size=3, max_size=3)


@given(st.lists(COUNTS, min_size=1, max_size=6), st.integers(0, 4))
def test_neutrality_equals_a_loop(counts: list[list[int]], tau: int) -> None:
    target = [0.5, 0.3, 0.2]
    found = neutrality(counts, tau, target, clip=True)
    for value, row in zip(found, counts, strict=True):
        total = sum(row)
        plain = 1 - sum(abs(m / total - j) for m, j in zip(row, target, strict=True)) if total > tau else 1
        assert abs(value - max(plain, 0)) <= 1e-12


def test_neutrality_below_zero_is_told_and_kept() -> None:
    with pytest.warns(UserWarning, match="1 neutralities are below 0"):
        assert abs(neutrality([[0, 5], [5, 0]], 1, [0.7, 0.3])[0] + 0.4) < 1e-12
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert neutrality([[0, 5]], 1, [0.7, 0.3], clip=True)[0] == 0
        assert neutrality([[0, 5], [5, 5], [1, 0]]).tolist() == [0, 1, 1]
    assert neutrality(np.zeros((0, 2))).shape == (0,)


@pytest.mark.parametrize(
    ("counts", "target", "message"),
    [
        ([1, 2], None, "shape"),
        ([[1, -1]], None, "at least 0"),
        ([[1, 1]], [0.5, 0.6], "sum to 1"),
        ([[1, 1]], [1.0], "each of 2 groups"),
    ],
)
def test_neutrality_refuses(counts: list[object], target: list[float] | None, message: str) -> None:
    with pytest.raises(InputError, match=message):
        neutrality(counts, 1, target)


def test_majority() -> None:
    found = labels(LexicalMajority(), "He is his king", "she and he", "it rains", "", "Joy met the man")
    assert found == ["male", "neutral", "neutral", "neutral", "neutral"]
    assert labels(LexicalMajority(names="drop"), "Joy met the man") == ["male"]
    assert labels(LexicalMajority(margin=2), "he he she", "he he she he") == ["neutral", "male"]
    assert labels(LexicalMajority(least=3), "he he", "he he he") == ["neutral", "male"]


def test_neutrality_labels() -> None:
    found = labels(LexicalNeutrality(), "he", "he he", "he he she", "he she")
    assert found == ["neutral", "male", "male", "neutral"]
    assert labels(LexicalNeutrality(tau=0), "he") == ["male"]
    odd = LexicalNeutrality(target={"female": 0.75, "male": 0.25}, clip=True)
    assert labels(odd, "he she she she", "he he she she") == ["neutral", "neutral"]  # on target; a tie
    said = next(iter(odd.label([Text("a", "", "he he she she")])))
    assert abs(said.scores["neutrality"] - 0.5) < 1e-12


def test_scores_and_fields() -> None:
    text = Text("a", "The woman", "He's a man.")
    said = next(iter(LexicalMajority().label([text])))
    assert said.scores == pytest.approx({"male": 2, "female": 1, "tokens": 6, "neutrality": 2 / 3}, abs=1e-12)
    assert said.source == "lexical_majority"
    assert next(iter(LexicalMajority(fields=["title"]).label([text]))).label == "female"
    assert next(iter(LexicalMajority(fields=["text"], tokens="whitespace").label([text]))).scores["tokens"] == 3


def test_any_groups(tmp_path: Path) -> None:
    (tmp_path / "w.tsv").write_text("kraken\tsea\nelf\twood\ngnom\thill\n")
    labeller = LexicalMajority(lexicon=str(tmp_path / "w.tsv"))
    assert labeller.labels == ("neutral", "sea", "wood", "hill")
    assert labels(labeller, "Elf elf Kraken", "elf gnom") == ["wood", "neutral"]


@given(st.lists(st.lists(st.integers(0, 4), min_size=3, max_size=3), min_size=1), st.integers(1, 3), st.integers(1, 3))
def test_leading_group_equals_a_loop(counts: list[list[int]], margin: int, least: int) -> None:
    for row, found in zip(counts, leading_group(np.array(counts), margin, least), strict=True):
        ahead = [g for g in range(3) if all(row[g] - row[h] >= margin for h in range(3) if h != g) and row[g] >= least]
        assert found == (ahead[0] + 1 if ahead else 0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"tokens": "words"}, "tokens"),
        ({"fields": []}, "fields"),
        ({"fields": ["body"]}, "fields"),
        ({"margin": 0}, "margin"),
        ({"least": 0}, "least"),
    ],
)
def test_wrong_options(options: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        LexicalMajority(**options)  # type: ignore[arg-type]


def test_wrong_target() -> None:
    with pytest.raises(ConfigError, match="male, female"):
        labels(LexicalNeutrality(target={"male": 1.0}), "he")
    with pytest.raises(InputError, match="sum to 1"):
        labels(LexicalNeutrality(target={"male": 1.0, "female": 1.0}), "he")
    with pytest.raises(ConfigError, match="tau"):
        LexicalNeutrality(tau=-1)


@given(st.lists(st.tuples(st.text(), st.text()), max_size=5))
def test_lines_of_columns_equal_records(pairs: list[tuple[str, str]]) -> None:
    labeller = LexicalMajority()
    texts = [Text(f"d{i}%“{i}\\", title, text + " he") for i, (title, text) in enumerate(pairs)]
    said = list(labeller.label(texts))
    from rerankers.labels.counting import utf8

    fields = {"title": utf8([t.title for t in texts]), "text": utf8([t.text for t in texts])}
    lines = column_lines([t.id for t in texts], labeller.columns(fields), labeller.labels, labeller.name)
    assert lines == [record_line(one) for one in said]


KAPPAS = [  # tokens, rule, fields, list, accuracy, kappa
    ("whitespace", "neutrality", ["text"], "gender_163", 0.446, 0.171),
    ("whitespace", "neutrality", ["title", "text"], "gender_163", 0.605, 0.410),
    ("regex", "neutrality", ["title", "text"], "gender_163", 0.692, 0.540),
    ("whitespace", "majority", ["title", "text"], "gender_163", 0.806, 0.710),
    ("regex", "majority", ["title", "text"], "gender_163", 0.876, 0.815),
    ("regex", "majority", ["title", "text"], "gender_32", 0.879, 0.819),
    ("regex", "majority", ["text"], "gender_163", 0.691, 0.538),
]


@pytest.mark.shared_data
@pytest.mark.parametrize(("tokens", "rule", "fields", "lexicon", "right", "kappa"), KAPPAS)
def test_measured_on_grep_biasir(
    shared: Path, tokens: str, rule: str, fields: list[str], lexicon: str, right: float, kappa: float
) -> None:
    from rerankers.labels.agreement import accuracy, codes_of, cohen_kappa, confusion
    from rerankers.labels.file_labels import LabelFields, label_order, read_labels
    from rerankers.labels.texts import TextFields

    paths = sorted((shared / "data/grep-biasir").glob("queries-documents_*.csv"))
    truth = read_labels(paths, LabelFields("d_id", "content_gender"))
    kind = LexicalMajority if rule == "majority" else LexicalNeutrality
    labeller = kind(lexicon=lexicon, tokens=tokens, fields=fields)
    reader = TextReader(paths, TextFields("d_id", "doc_title", "document"))
    said = {one.id: one.label for one in labeller.label(reader.texts())}
    reader.check()
    assert len(said) == len(truth) == 702

    order = label_order(one.label for one in truth.values())
    assert order == ("neutral", "male", "female", "both", "botrh")
    codes = [codes_of([label[id_] for id_ in truth], order) for label in ({k: v.label for k, v in truth.items()}, said)]
    table = confusion(codes[0], codes[1], len(order))
    assert abs(accuracy(table).value - right) < 5e-4  # type: ignore[operator]
    assert abs(cohen_kappa(table).value - kappa) < 5e-4  # type: ignore[operator]
    if (tokens, rule, lexicon, len(fields)) == ("regex", "majority", "gender_163", 2):
        assert cohen_kappa(table).value >= 0.814  # type: ignore[operator]
        assert abs(cohen_kappa(table[:3, :3]).value - 0.8235) < 5e-5  # type: ignore[operator]
