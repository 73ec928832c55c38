"""``kit``: properties of measures, pairs of rankings for people, and what comes of their answers."""

from __future__ import annotations

import csv
import itertools
import json
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import beta, binomtest, kendalltau

from rerankers.cli import main
from rerankers.measures import cwex
from rerankers.stages.judged_rankings_key import read_key
from tests.cli.kit_files import fill, rows_of, template

__all__ = ["template"]


def test_axioms(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["kit", "study=axioms", "measures=[CWEx(alpha=0.4)@10,RaB@10]", f"output={tmp_path / 'a'}"]) == 0
    assert "MNF and, before, MFN" in capsys.readouterr().out
    found = json.loads((tmp_path / "a" / "axioms.json").read_text())
    assert {one["measure"] for one in found["axioms"]} == {"CWEx(alpha=0.4)@10", "RaB@10"}
    assert (
        "| a neutral document one rank up: not lower | found | none found |"
        in (tmp_path / "a" / "axioms.md").read_text()
    )


def test_a_template_shows_what_its_key_says(template: Path, tmp_path: Path) -> None:
    rows, key = rows_of(template), read_key(template)
    assert len(rows) == 120
    assert {row["judge"] for row in rows} == {"1", "2", "3"}
    orders = [[row["pair"] for row in rows if row["judge"] == judge] for judge in "123"]
    assert sorted(orders[0]) == sorted(orders[1]) != orders[1]
    assert orders[0] != orders[1]
    by_name = {pair.name: pair for pair in key.pairs}
    assert {pair.kind for pair in key.pairs} == {"two orders", "two lists", "mirrored", "neutral or balanced"}
    for row in rows:
        for side, listed in (("a", by_name[row["pair"]].a), ("b", by_name[row["pair"]].b)):
            assert row[side].split("\n") == [f"{rank}. {label}" for rank, label in enumerate(listed.labels, 1)]
    for pair in key.pairs:
        if pair.kind == "two orders":
            assert sorted(map(str, pair.a.labels)) == sorted(map(str, pair.b.labels))
        if pair.kind == "mirrored":
            assert cwex(pair.a.labels)["gap"] == pytest.approx(-cwex(pair.b.labels)["gap"])
    again = tmp_path / "again.csv"
    assert main(["kit", "study=template", f"output={again}", "pairs=40", "judges=3", "depth=6", "seed=4"]) == 0
    assert again.read_bytes() == template.read_bytes()
    assert (tmp_path / "again.key.jsonl").read_bytes() == (tmp_path / "pairs, one.key.jsonl").read_bytes()


def test_texts_of_a_label_file(tmp_path: Path) -> None:
    labels = ["neutral", "male", "female"] * 7
    lines = [
        {"id": f"d{n}", "label": label, "scores": {"male": 2.0, "female": 1.0, "tokens": 9, "neutrality": 0.25}}
        for n, label in enumerate([*labels, None])
    ]
    (tmp_path / "labels.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    texts = [{"id": f"d{n}", "title": f"Titel {n}", "text": "מילה | x,\n" * 40} for n in range(22)]
    (tmp_path / "texts.jsonl").write_text("".join(json.dumps(line) + "\n" for line in texts))
    files = [f"labels={tmp_path / 'labels.jsonl'}", f"texts={tmp_path / 'texts.jsonl'}"]
    out = tmp_path / "pairs.csv"
    assert main(["kit", "study=template", *files, f"output={out}", "depth=5", "pairs=8", "characters=30"]) == 0
    records = [json.loads(line) for line in (tmp_path / "pairs.key.jsonl").read_text().splitlines()][1:]
    for row, record in itertools.product(rows_of(out), records):
        if row["pair"] != record["pair"]:
            continue
        for side in "ab":
            ids = record[side]["id"]
            assert len(set(ids)) == 5
            assert record[side]["label"] == [labels[int(one[1:])] for one in ids]
            shown = row[side].split("\n")
            assert [line.split(". ")[1] for line in shown] == [f"Titel {one[1:]}" for one in ids]
            assert all(len(line) <= 33 and line.endswith("…") for line in shown)
        if record["kind"] == "two orders":
            assert sorted(record["a"]["id"]) == sorted(record["b"]["id"])
    assert read_key(out).pairs[0].a.neutrality == [0.25] * 5
    assert main(["kit", "study=template", *files, f"output={out}", "depth=8"]) == 1  # 7 of each label
    assert main(["kit", "study=template", files[1], f"output={out}"]) == 1


def test_numbers_by_hand(template: Path, tmp_path: Path) -> None:
    """People who judge by CWEx at one half, with some noise and gaps: all numbers again, by other means."""
    key, rng = {pair.name: pair for pair in read_key(template).pairs}, np.random.default_rng(0)

    def answer(row: dict[str, str]) -> str:
        pair = key[row["pair"]]
        apart = cwex(pair.a.labels)["cwex"] - cwex(pair.b.labels)["cwex"]
        if rng.random() < 0.25:
            return str(rng.choice(["A", " b ", "=", "?", "", "Cannot  say"]))
        return "equal" if abs(apart) < 1e-12 else "A" if apart > 0 else "B"

    fill(template, answer)
    measures = "measures=[CWEx@10,RaB@10,NFaiRR@10]"
    assert (
        main(["kit", "study=judged", f"input={template}", measures, f"output={tmp_path / 'o'}", "resamples=200"]) == 0
    )
    found = json.loads((tmp_path / "o" / "judged.json").read_text())
    said: dict[str, list[str]] = {}
    words = {"a": "A", "b": "B", "=": "equal", "equal": "equal"}
    for row in rows_of(template):
        word = words.get(row["answer"].strip().lower())
        said.setdefault(row["pair"], []).extend([word] if word else [])
    counts = found["people"]["counts"]
    assert counts["answers"] == sum(map(len, said.values()))
    assert counts["answers"] + counts["cannot_say"] + counts["empty"] == 120
    verdict = {}
    for pair, given in said.items():
        most = max(map(given.count, given), default=0)
        best = {one for one in given if given.count(one) == most}
        verdict[pair] = best.pop() if len(best) == 1 else None
    two = [first == second for given in said.values() for first, second in itertools.combinations(given, 2)]
    assert found["people"]["pairwise"] == pytest.approx(np.mean(two))
    assert 0.3 < found["people"]["krippendorff_alpha"] < 1
    apart, margin = [], []
    agree = number = ties = 0
    for name, pair in key.items():
        value = cwex(pair.a.labels)["cwex"] - cwex(pair.b.labels)["cwex"]
        value = 0.0 if abs(value) < 1e-12 else value
        if said[name]:
            apart.append(value)
            margin.append(np.mean([{"A": 1, "B": -1, "equal": 0}[one] for one in said[name]]))
        if verdict[name] in ("A", "B"):
            number, ties = number + 1, ties + (value == 0)
            agree += ("A" if value > 0 else "B" if value < 0 else "") == verdict[name]
    row = found["measures"][0]
    assert (row["pairs"], row["agree"], row["ties"]) == (number, agree, ties)
    assert row["agreement"] == pytest.approx(agree / number)
    low, high = beta.ppf([0.025, 0.975], [agree, agree + 1], [number - agree + 1, number - agree])
    assert row["interval"] == pytest.approx([low, 1.0 if agree == number else high])
    assert row["tau_b"] == pytest.approx(kendalltau(apart, margin).statistic, abs=1e-9)
    assert row["tau_interval"][0] < row["tau_b"] < row["tau_interval"][1]
    assert row["agreement"] > found["measures"][1]["agreement"]
    test = found["tests"][0]
    assert test["p"] == pytest.approx(binomtest(test["first_only"], test["first_only"] + test["second_only"]).pvalue)
    assert test["p"] <= test["p_holm"]
    assert found["measures"][2]["no_value"] > 0  # lists without a neutral document


def test_several_files_and_one_judge(template: Path, tmp_path: Path) -> None:
    fill(template, lambda row: "A")
    parts = []
    for judge in "12":
        rows = [row for row in rows_of(template) if row["judge"] == judge][: 40 if judge == "1" else 30]
        parts.append(tmp_path / f"{judge}.csv")
        with parts[-1].open("w", newline="") as file:
            writer = csv.writer(file, delimiter=";" if judge == "2" else ",")
            writer.writerow(["answer", "Judge", "pair"])
            writer.writerows([row["answer"], judge, row["pair"]] for row in rows)
    out = tmp_path / "two"
    words = [f"input=[{parts[0]},{parts[1]}]", f"template={template}", "measures=[CWEx@10]", "resamples=50"]
    assert main(["kit", "study=judged", *words, f"output={out}"]) == 0
    found = json.loads((out / "judged.json").read_text())["people"]
    assert (found["judges"], found["counts"]["no_row"], found["ceiling"]) == (["1", "2"], 10, 1.0)
    assert found["krippendorff_alpha"] is None  # all answers are one and the same
    alone = [f"input={parts[0]}", f"template={template}", "measures=[CWEx@10]"]
    assert main(["kit", "study=judged", *alone, f"output={out}", "resamples=50"]) == 0
    found = json.loads((out / "judged.json").read_text())
    assert found["people"]["pairwise"] is found["people"]["ceiling"] is None
    assert found["measures"][0]["tau_b"] is None
    assert found["tests"] == []


def test_wrong_answers_are_told_with_their_lines(template: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = rows_of(template)[:4]
    with template.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["pair", "judge", "a", "answer"])
        writer.writerow([rows[0]["pair"], "1", "two\nlines", "C"])
        writer.writerow(["99", "1", "x", "A"])
        writer.writerow([rows[1]["pair"], "", "x", "A"])
        writer.writerow([rows[2]["pair"], "1", "x", "A"])
        writer.writerow([rows[2]["pair"], "1", "x", "B"])
        writer.writerow([rows[3]["pair"], "1"])
    assert main(["kit", "study=judged", f"input={template}"]) == 1
    told = capsys.readouterr().err
    again = f"pair {rows[2]['pair']} of judge 1 once more"
    expected = ((2, "the answer 'C'"), (4, "the pair '99'"), (5, "no judge"), (7, again), (8, "2 cells"))
    for place, text in expected:
        assert f"{template}:{place}: found {text}" in told


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["study=judge"], 2, "Did you mean 'judged'"),
        (["study=template"], 2, "Type: output=pairs.csv"),
        (["study=template", "output=pairs.txt"], 2, "a file called *.csv"),
        (["study=template", "output=p.csv", "depth=1"], 1, "at least 2 documents a ranking"),
        (["study=template", "output=p.csv", "pairs=0"], 2, "pairs: found 0"),
        (["study=judged"], 2, "Type: input=pairs.csv"),
        (["study=judged", "input=nowhere.csv"], 3, "nowhere.key.jsonl: no such file. The key stands"),
        (["study=axioms", "measures=[nDCG@10]"], 2, "expected one of CWEx"),
        (["study=axioms", "level=3"], 2, "level"),
    ],
)
def test_wrong_words(
    words: list[str], code: int, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    assert main(["kit", *words]) == code
    assert message in capsys.readouterr().err


def test_a_file_that_is_no_key(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "p.csv").write_text("pair,judge,answer\n")
    (tmp_path / "p.key.jsonl").write_text('{"pair": 1}\n')
    assert main(["kit", "study=judged", f"input={tmp_path / 'p.csv'}"]) == 1
    assert "no key of pairs" in capsys.readouterr().err
    (tmp_path / "p.key.jsonl").write_text('{"form": "judged_rankings"}\n[1]\nx\n{"pair": "1", "kind": "x", "a": {}}\n')
    assert main(["kit", "study=judged", f"input={tmp_path / 'p.csv'}"]) == 1
    told = capsys.readouterr().err
    assert all(f"p.key.jsonl:{line}:" in told for line in (2, 3, 4))
    assert main(["kit", "--help"]) == 0


def test_pairs_of_two_runs(tmp_path: Path) -> None:
    labels = [json.dumps({"id": f"d{n}", "label": ["neutral", "male", "female", None][n % 4]}) for n in range(11)]
    (tmp_path / "labels.jsonl").write_text("\n".join(labels) + "\n")
    for name, step in (("a", 1), ("b", 5)):
        rows = [(query, rank, (query + rank * step) % 12) for query in range(6) for rank in range(8)]
        if name == "b":
            rows = [(q, rank, doc if q else (q + rank) % 12) for q, rank, doc in rows if q < 5]  # q0 as in a, no q5
        lines = [f"q{query} Q0 d{doc} {rank + 1} {9 - rank} x" for query, rank, doc in rows]
        (tmp_path / f"{name}.run").write_text("\n".join(lines) + "\n")
    words = [f"runs=[{tmp_path / 'a.run'},{tmp_path / 'b.run'}]", "depth=4", f"output={tmp_path / 'p.csv'}"]
    assert main(["kit", "study=template", *words]) == 1  # no labels
    assert main(["kit", "study=template", *words, f"labels={tmp_path / 'labels.jsonl'}"]) == 0
    records = [json.loads(line) for line in (tmp_path / "p.key.jsonl").read_text().splitlines()][1:]
    assert sorted(record["kind"].split(":")[0] for record in records) == [f"query q{n}" for n in range(1, 5)]
    for record in records:
        query, systems = int(record["kind"].split()[1][1:-1]), record["kind"].split(": ")[1].split(" and ")
        for side, system in zip("ab", systems, strict=True):
            step = 1 if system == "a" else 5
            docs = [(query + rank * step) % 12 for rank in range(4)]
            assert record[side]["id"] == [f"d{doc}" for doc in docs]
            known = [(["neutral", "male", "female", None] * 3)[doc] if doc < 11 else None for doc in docs]
            assert record[side]["label"] == known
    pair = read_key(tmp_path / "p.csv").pairs[0]
    assert pair.a.words is None  # nobody counted words
    assert [value is None for value in pair.a.neutrality] == [label is None for label in pair.a.labels]
    fill(tmp_path / "p.csv", lambda row: "B")
    judged = [f"input={tmp_path / 'p.csv'}", "measures=[CWEx@4,NFaiRR@4,RaB@4]", "resamples=20"]
    assert main(["kit", "study=judged", *judged, f"output={tmp_path / 'o'}"]) == 0
    found = json.loads((tmp_path / "o" / "judged.json").read_text())["measures"]
    assert found[0]["pairs"] + found[0]["no_value"] == 4
    assert (found[2]["pairs"], found[2]["no_value"], found[2]["agreement"]) == (0, 4, None)
    one = [f"runs={tmp_path / 'a.run'}", *words[1:], f"labels={tmp_path / 'labels.jsonl'}"]
    assert main(["kit", "study=template", *one]) == 1


def test_no_answer_at_all_is_one_error(template: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["kit", "study=judged", f"input={template}"]) == 1
    assert "found no answer in 120 rows; expected A, B or equal" in capsys.readouterr().err


def test_no_pair_shows_a_list_twice(tmp_path: Path) -> None:
    path = tmp_path / "short.csv"
    assert main(["kit", "study=template", f"output={path}", "pairs=200", "depth=2"]) == 0
    assert not [row for row in rows_of(path) if row["a"] == row["b"]]
