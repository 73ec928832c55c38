"""Word lists: which groups a word speaks of."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from rerankers._base.errors import InputError, MissingError, Problems, choose
from rerankers._base.files import collect_lines
from rerankers.labels.base import NEUTRAL, NEUTRALITY, TOKENS
from rerankers.labels.tokens import tokens_named

if TYPE_CHECKING:
    from rerankers.labels.tokens import Tokens

SHIPPED = Path(__file__).parent / "lexicons"
CODES = {"m": "male", "f": "female"}
"""Short names of groups in published word lists."""
RESERVED = frozenset({NEUTRAL, NEUTRALITY, TOKENS})
NAMES, OVERLAPS = ("keep", "drop"), ("error", "both", "drop")


@dataclass(frozen=True, slots=True)
class Lexicon:
    """Words of groups.

    Attributes
    ----------
    name
        of the list.
    groups
        in the order in which the file names them first.
    words
        word as it is written (NFC) -> numbers of its groups, ascending.
    counts
        what was met while reading: ``entries``, ``words``, ``duplicates``, ``words_in_two_groups``, ``names_dropped``.
    """

    name: str
    groups: tuple[str, ...]
    words: Mapping[str, tuple[int, ...]]
    counts: Mapping[str, int] = field(default_factory=dict)

    def table(self, tokens: Tokens) -> dict[str, tuple[int, ...]]:
        """Return folded word -> groups, for one way of cutting texts."""
        found: dict[str, tuple[int, ...]] = {}
        for word, groups in self.words.items():
            key = tokens.fold(word)
            found[key] = tuple(sorted({*found.get(key, ()), *groups}))
        return found


@dataclass(frozen=True, slots=True)
class _Entry:
    line: int
    word: str
    group: str


def shipped_lexicons() -> list[str]:
    """Return the names of the word lists that come with the package."""
    return sorted(path.stem for path in SHIPPED.glob("*.csv"))


def load_lexicon(source: str, names: str = "keep", overlap: str = "error", tokens: str = "regex") -> Lexicon:
    """Read a word list, one of the package by its name or a file.

    A line holds ``word,group`` or ``word<TAB>group``; ``m`` and ``f`` stand for ``male`` and ``female``. A first line
    ``word,group`` is a heading; empty lines and lines that begin with ``#`` are skipped.

    Parameters
    ----------
    source
        ``gender_32`` (32 words a gender), ``gender_163`` (the same and 131 first names a gender), or a path.
    names
        ``keep`` or ``drop`` the words that the file writes with a capital letter, as the published list writes first
        names. Kept, they are folded like all others, and some become ordinary words (joy, hunter, frank). Not for
        languages that capitalise nouns.
    overlap
        for a word in two groups: ``error``, ``both`` (it counts for each of them) or ``drop`` (for none).
    tokens
        how texts are cut: a word that it cuts in two could never be found, which is an error.

    Raises
    ------
    InputError
        with everything that is wrong and its lines.
    MissingError
        when there is no such file.
    ConfigError
        for an unknown option.
    """
    choose("names", names, NAMES)
    choose("overlap", overlap, OVERLAPS)
    path = SHIPPED / f"{source}.csv" if source in shipped_lexicons() else Path(source).expanduser()
    if not path.exists():
        raise MissingError(f"{path}: no such file; expected a file, or one of {', '.join(shipped_lexicons())}")
    problems = Problems(str(path))
    entries = list(_entries(path, problems))
    kept = [entry for entry in entries if names == "keep" or not entry.word[0].isupper()]
    cut = tokens_named(tokens)
    _check_words(kept, cut, problems)
    groups = tuple(dict.fromkeys(entry.group for entry in kept))
    if not problems and len(groups) < 2:
        found = f"words of {len(groups)} groups" + (f" ({groups[0]})" if groups else "")
        problems.add(None, found, "words of at least two groups", "A line holds word,group.")
    placed, duplicates = _placed(kept, groups, cut)
    twice = {key for key, entry in placed.items() if len(entry[1]) > 1}
    if overlap == "error":
        for key in sorted(twice):
            word, of_word, line = placed[key]
            named = " and ".join(groups[number] for number in sorted(of_word))
            mend = "Count it for both with overlap=both, for none with overlap=drop."
            problems.add(line, f"{word!r} in the groups {named}", "each word in one group", mend)
    problems.kept.sort(key=lambda problem: problem.line or 0)
    problems.raise_if_any()
    left_out = twice if overlap == "drop" else set[str]()
    words = {word: tuple(sorted(of_word)) for key, (word, of_word, _) in placed.items() if key not in left_out}
    counts = {
        "entries": len(entries),
        "words": len(words),
        "duplicates": duplicates,
        "words_in_two_groups": len(twice),
        "names_dropped": len(entries) - len(kept),
    }
    return Lexicon(source, groups, words, counts)


def lexicon_of(words: Mapping[str, Sequence[str]], name: str = "given") -> Lexicon:
    """Return a lexicon of group -> its words; a word may be in several groups.

    Raises
    ------
    InputError
        for fewer than two groups, or a name that means something else in scores.
    """
    wrong = RESERVED & set(words)
    if wrong or len(words) < 2:
        found = f"the group {min(wrong)!r}" if wrong else f"{len(words)} groups"
        raise InputError.one("words", found, f"at least two groups, none called {', '.join(sorted(RESERVED))}")
    placed: dict[str, set[int]] = {}
    for number, of_group in enumerate(words.values()):
        for word in of_group:
            placed.setdefault(unicodedata.normalize("NFC", word), set()).add(number)
    return Lexicon(name, tuple(words), {word: tuple(sorted(of_word)) for word, of_word in placed.items()})


def _entries(path: Path, problems: Problems) -> Iterator[_Entry]:
    first = True
    for number, _, line in collect_lines(path, problems):
        text = unicodedata.normalize("NFC", line.strip())
        if not text or text.startswith("#"):
            continue
        word, cut, group = text.rpartition("\t" if "\t" in text else ",")
        word, group = word.strip(), group.strip()
        if first and (word.lower(), group.lower()) == ("word", "group"):
            first = False
            continue
        first = False
        group = CODES.get(group.lower(), group)
        if not cut or not word or not group:
            problems.add(number, f"{_short(line)!r}", "word,group")
        elif group in RESERVED:
            problems.add(number, f"the group {group!r}", f"another name than {', '.join(sorted(RESERVED))}")
        else:
            yield _Entry(number, word, group)


def _check_words(entries: Sequence[_Entry], tokens: Tokens, problems: Problems) -> None:
    for entry in entries:
        parts = tokens.words(entry.word)
        if parts != [tokens.fold(entry.word)]:
            what = f"which texts never hold, since they are cut into {parts}" if parts else "which has no letters"
            problems.add(
                entry.line, f"{entry.word!r}, {what}", "a single word", f"Texts are cut by tokens={tokens.name}."
            )


def _placed(
    entries: Sequence[_Entry], groups: Sequence[str], tokens: Tokens
) -> tuple[dict[str, tuple[str, set[int], int]], int]:
    """Return folded word -> (word, groups, line where it got its last group), and how many entries say nothing new."""
    placed: dict[str, tuple[str, set[int], int]] = {}
    numbers = {group: number for number, group in enumerate(groups)}
    duplicates = 0
    for entry in entries:
        key, number = tokens.fold(entry.word), numbers[entry.group]
        word, of_word, line = placed.get(key, (entry.word, set(), entry.line))
        duplicates += number in of_word
        placed[key] = (word, of_word | {number}, line if number in of_word else entry.line)
    return placed, duplicates


def _short(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:57]}..."
