"""Groups of documents from labels of their texts: of a label file, or of a labeller that reads the collection."""

from __future__ import annotations

import warnings
from array import array
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import yaml

from rerankers._base.errors import ConfigError, Problems, choose
from rerankers.collections.json_records import note_duplicates
from rerankers.labels.base import Text
from rerankers.labels.label_alignment import LabelRows
from rerankers.labels.label_records import label_records
from rerankers.labels.neutrality import NeutralityWarning
from rerankers.values.groups import UNKNOWN_POLICIES

if TYPE_CHECKING:
    from rerankers.collections.aligned import Aligned
    from rerankers.labels.base import Labeller
    from rerankers.values.collection import Collection
    from rerankers.values.ids import Ids

TITLE = "title"


@dataclass(frozen=True, slots=True)
class LabelFileGroups:
    """The groups that a label file says (`label_records`), with what it says of words and neutrality.

    Parameters
    ----------
    path
        the file: what ``fair-rerank label`` writes, or a table ``doc_id,label``.
    attribute
        what the labels are about.
    unknown
        what becomes of documents without a label: ``count``, ``drop``, ``spread`` (`GroupAlignment.resolve`).
    groups
        the groups, neutral first; None takes neutral, male and female, or neutral and those that occur.

    Raises
    ------
    ConfigError
        for another word for ``unknown``.
    """

    path: str
    attribute: str = "gender"
    unknown: str = "count"
    groups: list[str] | None = None

    def __post_init__(self) -> None:
        choose("groups.unknown", self.unknown, UNKNOWN_POLICIES)

    def align(self, collection: Collection) -> Aligned:
        """Return the resolved alignment and its companions; raises as `align_documents`."""
        return self.align_documents(collection.docs)

    def align_documents(self, docs: Ids) -> Aligned:
        """Return the resolved alignment over documents and its companions (`LabelRows.aligned`).

        Raises
        ------
        InputError
            with every problem of the file and its line; a document twice is one.
        MissingError
            when there is no such file.
        ConfigError
            for groups that do not do.
        """
        problems = Problems(self.path)
        rows, line = LabelRows(), array("q")
        for number, record in label_records(self.path, problems):
            rows.add(record)
            line.append(number)
        if not len(rows) and not problems:
            problems.add(None, "no label", "at least one")
        note_duplicates(pa.array(rows.names, pa.large_string()), np.array(line, np.int64), "document", problems)
        problems.raise_if_any()
        return rows.aligned(docs, self.attribute, self.groups, self.unknown)


@dataclass(frozen=True, slots=True)
class LabellerGroups:
    """The groups that a labeller gives to the texts of the collection, at the start of a job.

    Parameters
    ----------
    labeller
        its name in ``conf/labeller``, or a mapping of ``name`` (there) and options, or of ``_target_`` and options.
    attribute
        what the labels are about.
    unknown
        as of `LabelFileGroups`.
    fields
        text fields that the labeller reads, ``title`` as the title; None takes all of the collection.

    Raises
    ------
    ConfigError
        for another word for ``unknown``.
    """

    labeller: Any = "lexical_majority"
    attribute: str = "gender"
    unknown: str = "count"
    fields: list[str] | None = None

    def __post_init__(self) -> None:
        choose("groups.unknown", self.unknown, UNKNOWN_POLICIES)

    def align(self, collection: Collection) -> Aligned:
        """Return the resolved alignment and its companions (`LabelRows.aligned`).

        Raises
        ------
        ConfigError
            for a collection without texts, fields that it does not have, or a labeller that does not do.
        """
        labeller = labeller_of(self.labeller)
        rows = LabelRows()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NeutralityWarning)  # they are counted
            for record in labeller.label(texts_of(collection, self.fields)):
                rows.add(record)
        return rows.aligned(collection.docs, self.attribute, labeller.labels, self.unknown)

    def align_documents(self, docs: Ids) -> Aligned:
        """Raise `ConfigError`: a labeller needs texts, and these documents have none."""
        raise ConfigError(
            "groups: found a labeller, but documents without texts; expected a label file. Label the texts first: "
            "fair-rerank label input=FILE.jsonl output=LABELS.jsonl, then groups=LABELS.jsonl"
        )


def texts_of(collection: Collection, fields: list[str] | None = None) -> Iterator[Text]:
    """Yield the texts of a collection as a labeller takes them, documents ascending, one in memory at a time.

    Parameters
    ----------
    fields
        those that count, ``title`` as the title and the others joined by blanks; None takes all.

    Raises
    ------
    ConfigError
        for a collection without texts, or a field that it does not have.
    """
    store = collection.documents
    if store is None:
        raise ConfigError(
            f"groups: found a labeller, but the collection {collection.name!r} brings no texts; expected one with "
            "texts, or a label file: groups=labels groups.path=FILE"
        )
    names = list(store.fields) if fields is None else [choose("groups.fields", name, store.fields) for name in fields]
    if not names:
        raise ConfigError("groups.fields: found no field; expected names of text fields, or null for all")
    titles = store.texts([TITLE]) if TITLE in names else None
    body = [name for name in names if name != TITLE]
    if titles is None or not body:
        for docno, text in store.texts(names):
            yield Text(docno, text, "") if titles is not None else Text(docno, "", text)
        return
    for (docno, title), (_, text) in zip(titles, store.texts(body), strict=True):
        yield Text(docno, title, text)


def labeller_of(node: Any) -> Labeller:
    """Return the labeller that a config value names.

    Parameters
    ----------
    node
        a name in ``conf/labeller``, or a mapping with ``name`` or ``_target_`` and options.

    Raises
    ------
    ConfigError
        for a name that there is not, options that do not do, or an object that does not label.
    """
    from rerankers._conf import ALLOWED, build, conf_folder

    options = {"name": node} if isinstance(node, str) else node
    if not isinstance(options, Mapping) or not ("name" in options or "_target_" in options):
        raise ConfigError(f"groups.labeller: found {node!r}; expected the name of a labeller, or a mapping with name")
    rest = {str(key): value for key, value in options.items() if key != "name"}
    if "_target_" not in rest:
        folder = conf_folder() / "labeller"
        known = sorted(path.stem for path in folder.glob("*.yaml"))
        name = choose("groups.labeller", str(options["name"]), known)
        rest = {**yaml.safe_load((folder / f"{name}.yaml").read_text(encoding="utf-8")), **rest}
    labeller = build(rest, ALLOWED.get(), "groups.labeller")
    if hasattr(labeller, "asking"):
        raise ConfigError(
            f"groups.labeller: found {options.get('name', type(labeller).__name__)}, which asks a language model; "
            "expected its label file. Type: fair-rerank label labeller=llm llm=NAME input=FILE output=LABELS.jsonl, "
            "then groups=labels groups.path=LABELS.jsonl"
        )
    if not callable(getattr(labeller, "label", None)):
        raise ConfigError(f"groups.labeller: found {type(labeller).__name__}, which has no label; expected a labeller")
    found: Labeller = labeller
    return found
