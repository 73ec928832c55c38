"""Labels that somebody gave already, from files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from rerankers._base.errors import ConfigError, Problems
from rerankers.collections.delimited import Table
from rerankers.collections.folder import format_of
from rerankers.collections.json_records import fit_id
from rerankers.labels.base import NEUTRAL, Labelled
from rerankers.labels.label_records import label_records

if TYPE_CHECKING:
    from rerankers.labels.base import Text

CODES = {"n": NEUTRAL, "m": "male", "f": "female"}
"""Short labels of published files."""
NOT_IN_FILE = "not_in_file"


def written_out(label: str | None) -> str | None:
    """Return a label with ``N``, ``M`` and ``F`` (in either case) written out, and neutral in lower case."""
    if label is None:
        return None
    folded = label.strip().lower()
    return NEUTRAL if folded == NEUTRAL else CODES.get(folded, label.strip()) or None


@dataclass(frozen=True, slots=True)
class LabelFields:
    """Names of the columns of a table of labels; None takes the usual ones (`label_records`)."""

    id: str | None = None
    label: str | None = None

    def __bool__(self) -> bool:
        return self.id is not None or self.label is not None


def read_labels(paths: Path | Sequence[Path], fields: LabelFields | None = None) -> dict[str, Labelled]:
    """Return id -> what is said of it, in the order of the files.

    Parameters
    ----------
    paths
        one file or several that are read as one: JSON lines of ``fair-rerank label``, or CSV or TSV.
    fields
        of tables whose columns have other names.

    Raises
    ------
    InputError
        with everything that is wrong in all files, and its lines: also ids that are given twice, whatever they say.
    MissingError
        when there is no such file.
    """
    found: dict[str, Labelled] = {}
    every: list[Problems] = []
    for path in [paths] if isinstance(paths, Path) else paths:
        problems = Problems(str(path))
        every.append(problems)
        rows = _of_columns(path, fields, problems) if fields else label_records(path, problems)
        for line, said in rows:
            if said.id in found:
                problems.add(line, f"id {said.id!r} again", "each one once")
            found[said.id] = replace(said, label=written_out(said.label), source=said.source or path.name)
    together = Problems("labels", kept=[problem for problems in every for problem in problems.kept])
    together.beyond = sum(problems.beyond for problems in every)
    together.raise_if_any()
    return found


def _of_columns(path: Path, fields: LabelFields, problems: Problems) -> Iterator[tuple[int, Labelled]]:
    if format_of(path) not in (".csv", ".tsv"):
        problems.add(None, f"a file called {path.name}", "a .csv or .tsv, for columns are named")
        return
    table = Table(path, problems)
    ids = ("docno", "doc_id", "id") if fields.id is None else (fields.id,)
    labels = ("label",) if fields.label is None else (fields.label,)
    place, label = table.column(*ids), table.column(*labels)
    if place is None or label is None:
        if not problems:
            found = f"the header {', '.join(table.header)}"
            problems.add(1, found, f"a column {' or '.join(ids)} and a column {' or '.join(labels)}")
        return
    for number, row in table:
        name = fit_id(row[place].strip(), table.header[place], number, problems)
        if name is not None:
            yield number, Labelled(name, row[label].strip() or None, {}, path.name)


@dataclass(frozen=True)
class FileLabels:
    """The labels of a file, for the texts that are asked about; a text that the file lacks has none (``not_in_file``).

    Attributes
    ----------
    path
        JSON lines of ``fair-rerank label``, or CSV or TSV with ``doc_id`` (``docno``, ``id``) and ``label``.
    id_column, label_column
        of a table whose columns have other names; null takes the usual ones.
    of
        the labels that may be given, neutral first; null takes neutral and those that occur.
    """

    path: str
    id_column: str | None = None
    label_column: str | None = None
    of: list[str] | None = None

    @property
    def name(self) -> str:
        """The source of labels whose file names none."""
        return f"file:{Path(self.path).name}"

    @cached_property
    def known(self) -> Mapping[str, Labelled]:
        """What the file says, read when it is first asked for.

        Raises as `read_labels`, and `ConfigError` for a label that is not in ``of``.
        """
        found = read_labels(Path(self.path).expanduser(), LabelFields(self.id_column, self.label_column))
        strange = {said.label for said in found.values() if said.label is not None} - set(self.of or ())
        if self.of is not None and strange:
            raise ConfigError(f"of: found the label {min(strange)!r} in {self.path}; expected {', '.join(self.of)}")
        return found

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels that it may give, neutral first."""
        if self.of is not None:
            return tuple(self.of)
        return label_order(said.label for said in self.known.values())

    def label(self, texts: Iterable[Text]) -> Iterator[Labelled]:
        """Yield what the file says of each text, in their order."""
        known = self.known
        for text in texts:
            yield known.get(text.id) or Labelled(text.id, None, {}, self.name, NOT_IN_FILE)


def label_order(labels: Iterable[str | None]) -> tuple[str, ...]:
    """Return the different labels, the fixed order first (neutral, male, female), then the others by name."""
    found = {label for label in labels if label is not None}
    first = [label for label in CODES.values() if label in found or label == NEUTRAL]
    return (*first, *sorted(found - set(first)))


@dataclass(slots=True)
class LabelCounts:
    """What was said of texts, counted.

    Attributes
    ----------
    labels
        label -> texts.
    reasons
        reason -> texts without a label.
    """

    labels: dict[str, int] = field(default_factory=dict)
    reasons: dict[str, int] = field(default_factory=dict)

    def add(self, said: Labelled) -> None:
        """Count one text."""
        if said.label is None:
            reason = said.reason or "no_label"
            self.reasons[reason] = self.reasons.get(reason, 0) + 1
        else:
            self.labels[said.label] = self.labels.get(said.label, 0) + 1

    @property
    def texts(self) -> int:
        """All texts."""
        return sum(self.labels.values()) + self.unlabelled

    @property
    def unlabelled(self) -> int:
        """Texts without a label."""
        return sum(self.reasons.values())
