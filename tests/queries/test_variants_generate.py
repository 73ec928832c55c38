"""Variants by a language model: prompts, samples, completions, loops, failures; a repeat without asking."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from rerankers._base.errors import ConfigError, InputError, MissingError
from rerankers.llm import Message, Prompt, Scripted
from rerankers.queries.generate_variants import PROMPTS, Generation, as_json_lines, check_example, generate
from rerankers.queries.variant_files import read_variants

TOPICS = {"1": {"query": "red shoe"}, "2": {"query": "blue hat"}}


def session(tmp_path: Path, **script: Any) -> Any:
    return Scripted(**script).session(tmp_path)


@pytest.mark.parametrize("name", sorted(path.stem for path in PROMPTS.glob("variants*.yaml")))
def test_prompts_that_come_with_the_package(name: str) -> None:
    prompt = Generation(prompt=name).read_prompt()
    assert prompt.placeholders <= {"query", "backstory", "number"}
    assert len(prompt.examples) == 1
    text = prompt.request({"query": "red shoe", "backstory": "red shoe", "number": "8"}).messages[-1].content
    assert "red shoe" in text
    assert "8" in text


def test_a_prompt_of_ones_own(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text('name: mine\nmessages:\n  - {role: user, content: "More like {{query}}"}\n')
    assert Generation(prompt=str(path)).read_prompt().name == "mine"
    path.write_text('name: mine\nmessages:\n  - {role: user, content: "Say {{number}} words"}\n')
    with pytest.raises(InputError, match="would ask the same of every topic"):
        Generation(prompt=str(path)).read_prompt()
    path.write_text('name: mine\nmessages:\n  - {role: user, content: "{{story}} {{query}}"}\n')
    with pytest.raises(InputError, match="story"):
        Generation(prompt=str(path)).read_prompt()
    with pytest.raises(MissingError):
        Generation(prompt=str(tmp_path / "none.yaml")).read_prompt()


def test_samples_join_and_loops_are_cut(tmp_path: Path) -> None:
    loop = "shoes, red\n" * 200 + "a red shoe\n"
    replies = {"red shoe": [loop, "1. scarlet shoe\n2. red shoe\n"], "blue hat": "hat that is blue"}
    how = Generation(samples=2, most=3)
    with session(tmp_path, replies=replies) as asked:
        made = generate("mine", TOPICS, how.read_prompt(), asked, how)
    (file,) = made.sets.values()
    assert file.variants.texts["1"] == ("shoes, red", "a red shoe", "scarlet shoe")
    assert file.variants.distinct("2") == ("hat that is blue",)
    counts = file.variants.counts
    assert (counts["replies"], counts["dropped:repeated"], counts["dropped:echo"]) == (4, 199, 1)
    assert counts["repeated"] == 1
    assert made.model == asked.name
    assert made.prompt == how.read_prompt().fingerprint


def test_completions_are_sets_of_their_own(tmp_path: Path) -> None:
    replies = {"red shoe": ["one", "two", "three", "four"], "blue hat": ["five", "six", "seven", "eight"]}
    how = Generation(samples=2, completions=2)
    with session(tmp_path, replies=replies) as asked:
        made = generate("mine", TOPICS, how.read_prompt(), asked, how)
    assert {name: file.variants.texts["1"] for name, file in made.sets.items()} == {
        "mine.1": ("one", "two"),
        "mine.2": ("three", "four"),
    }


def test_failures_are_counted_by_reason(tmp_path: Path) -> None:
    replies = {"red shoe": {"text": "", "error": "http_error"}, "blue hat": "a hat, blue"}
    how = Generation()
    with session(tmp_path, replies=replies) as asked:
        made = generate("mine", TOPICS, how.read_prompt(), asked, how)
    variants = made.sets["mine"].variants
    assert set(variants.texts) == {"2"}
    assert variants.counts["failed:http_error"] == 1
    assert variants.counts["topics_without_variants"] == 1
    with (
        session(tmp_path, otherwise={"text": "", "error": "refusal"}) as asked,
        pytest.raises(InputError, match=r"generate: mine: found no variant in 2 replies \(failed:refusal 2\)"),
    ):
        generate("mine", TOPICS, how.read_prompt(), asked, how)


def test_a_job_repeats_from_its_cache_without_a_model(tmp_path: Path) -> None:
    how, cache = Generation(samples=2), str(tmp_path / "replies.jsonl")
    script: dict[str, Any] = {"replies": {"red": ["one\ntwo", "three"], "blue": "four"}, "cache": cache}
    with session(tmp_path, **script) as asked:
        first = generate("mine", TOPICS, how.read_prompt(), asked, how)
    with session(tmp_path, **script, replay_only=True) as asked:
        again = generate("mine", TOPICS, how.read_prompt(), asked, how)
        assert asked.account["calls"] == 0
    assert again.sets["mine"].variants.texts == first.sets["mine"].variants.texts
    with session(tmp_path, **script, replay_only=True) as asked, pytest.raises(MissingError, match="no reply"):
        generate("mine", {"3": {"query": "red new"}}, how.read_prompt(), asked, how)


def test_a_dry_run_makes_nothing(tmp_path: Path) -> None:
    how = Generation(samples=3)
    with session(tmp_path, otherwise="x", dry_run=True) as asked:
        made = generate("mine", TOPICS, how.read_prompt(), asked, how)
        assert asked.account["would_ask"] == 6
    assert not made.sets["mine"].variants.texts


def test_what_is_written_can_be_read_again(tmp_path: Path) -> None:
    how = Generation()
    with session(tmp_path, otherwise='zwei "Wörter"\nzwei') as asked:
        made = generate("mine", TOPICS, how.read_prompt(), asked, how)
    path = tmp_path / "mine.jsonl"
    path.write_text(as_json_lines(made.sets["mine"], made.prompt, made.model))
    assert read_variants("mine", path).variants.texts == made.sets["mine"].variants.texts


def test_an_example_of_the_prompt_is_no_topic() -> None:
    shown = Prompt.read(PROMPTS / "variants.yaml")
    with pytest.raises(ConfigError, match=r"exclude_topics: .* expected it left out: exclude_topics=\[example\]"):
        check_example(shown, ["1", "example"])
    check_example(Prompt("mine", (Message("user", "x"),)), ["1"])


@pytest.mark.parametrize("name", ["number", "samples", "completions", "most"])
def test_numbers_below_one(name: str) -> None:
    with pytest.raises(ConfigError, match=rf"generation.{name}: found 0; expected at least 1"):
        Generation(**{name: 0})
