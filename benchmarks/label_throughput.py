"""Counting the words of groups: ours against a plain loop over the same regular expression, in memory and file to file.

    python benchmarks/label_throughput.py [passages]

The plain loop is what one would write: ``re.findall`` over the lower-cased text, a dictionary of words, ``json`` for
the lines. Both give the same bytes, which is checked. Times are those of the processor, of all threads together; the
ratio is the median over rounds in which both take their turn. Passages are drawn from a seed: 20 to 100 words, quotes
and apostrophes as on the web (``“ ” ’ —``), some with accents, some in other scripts.
"""

from __future__ import annotations

import json
import re
import statistics
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

import numpy as np
from _machine import facts
from _timing import interleaved

from rerankers.labels.lexical import LexicalMajority
from rerankers.labels.texts import TextReader
from rerankers.labels.tokens import letter_runs
from rerankers.labels.writing import write_labels

REPETITIONS, DEMANDED = 7, 5.0
SHARE_NOT_ASCII = 0.3
SIGNS = ["“{}”", "{}’s", "{} —", "é{}", "{}ü", "мир {}", "שלום {}"]


def passages(number: int, seed: int = 0) -> list[dict[str, str]]:
    """Return records of id, title and text; every tenth word or so is of the word list."""
    draw = np.random.default_rng(seed)
    letters = np.array(list("etaoinshrdlucmfwypvbgk"))
    weights = 1.0 / np.arange(1, len(letters) + 1)
    sizes = draw.integers(2, 11, 4000)
    words = ["".join(draw.choice(letters, size, p=weights / weights.sum())) for size in sizes]
    words += ["he", "she", "his", "her", "man", "woman", "He", "She", "Mary", "John"] * 40
    found = []
    for row in range(number):
        text = [words[at] for at in draw.integers(0, len(words), draw.integers(20, 101))]
        if draw.random() < SHARE_NOT_ASCII:
            at = int(draw.integers(0, len(text)))
            text[at] = SIGNS[int(draw.integers(0, len(SIGNS)))].format(text[at])
        found.append({"id": f"d{row}", "title": " ".join(text[:6]), "text": " ".join(text) + "."})
    return found


def plain_counts(texts: list[str], pattern: re.Pattern[str], group_of: dict[str, int]) -> list[list[int]]:
    """Return the words of both groups in each text."""
    found = []
    for text in texts:
        counts = [0, 0]
        for word in pattern.findall(text.lower()):
            if word in group_of:
                counts[group_of[word]] += 1
        found.append(counts)
    return found


def plain_file(source: Path, target: Path, pattern: re.Pattern[str], group_of: dict[str, int]) -> None:
    """Label a file line by line."""
    with source.open(encoding="utf-8") as lines, target.open("w", encoding="utf-8") as out:
        for line in lines:
            record = json.loads(line)
            counts, tokens = [0, 0], 0
            for text in (record["title"], record["text"]):
                for word in pattern.findall(text.lower()):
                    tokens += 1
                    if word in group_of:
                        counts[group_of[word]] += 1
            male, female = counts
            label = "neutral" if male == female else "male" if male > female else "female"
            total = male + female
            even = 1.0 if total <= 1 else 1 - (abs(male / total - 0.5) + abs(female / total - 0.5))
            scores = {"male": male, "female": female, "tokens": tokens, "neutrality": even}
            said = {"id": record["id"], "label": label, "scores": scores, "source": "lexical_majority"}
            out.write(json.dumps(said, ensure_ascii=False) + "\n")


def main() -> int:
    """Print the medians, the ratios and their range; return 1 where one is below what is demanded."""
    number = int(sys.argv[1]) if len(sys.argv) > 1 else 20_000
    for name, value in facts().items():
        print(f"{name}: {value}")
    records = passages(number)
    texts = [record["text"] for record in records]
    size = sum(len(text.encode()) for text in texts)
    labeller = LexicalMajority()
    group_of = {word.lower(): groups[0] for word, groups in labeller.words.words.items()}
    patterns = {
        "letter runs as ours": letter_runs(),
        r"[^\W\d_]+": re.compile(r"[^\W\d_]+"),
        "[a-z]+": re.compile("[a-z]+"),
    }
    print(f"{number} passages of {size / number:.0f} bytes, {SHARE_NOT_ASCII:.0%} not ASCII")
    missed = False
    with tempfile.TemporaryDirectory() as folder:
        source, ours, plain = (Path(folder) / name for name in ("in.jsonl", "ours.jsonl", "plain.jsonl"))
        lines = [json.dumps(record, ensure_ascii=False) + "\n" for record in records]
        source.write_text("".join(lines), encoding="utf-8")
        count = labeller.counter.count
        assert count(texts).counts.tolist() == plain_counts(texts, letter_runs(), group_of)
        label = partial(_label, labeller, source, ours)
        for name, pattern in patterns.items():
            contests = {
                "counting": (partial(count, texts), partial(plain_counts, texts, pattern, group_of)),
                "file to file": (label, partial(plain_file, source, plain, pattern, group_of)),
            }
            for what, works in contests.items():
                fast, slow = interleaved(list(works), REPETITIONS, time.process_time)
                rounds = sorted(theirs / own for own, theirs in zip(fast.all, slow.all, strict=True))
                ratio = statistics.median(rounds)
                missed |= ratio < DEMANDED
                each = [f"{1e6 * one.median / number:.2f} µs" for one in (fast, slow)]
                print(
                    f"{what}, plain loop over {name}: {each[0]} a passage, plain {each[1]}, ratio {ratio:.1f} "
                    f"({rounds[0]:.1f} to {rounds[-1]:.1f})"
                )
            if name == "letter runs as ours":
                assert ours.read_bytes() == plain.read_bytes()
    return int(missed)


def _label(labeller: LexicalMajority, source: Path, target: Path) -> None:
    write_labels(labeller, TextReader([source]), target)


if __name__ == "__main__":
    sys.exit(main())
