"""What lies in the folder of an index: Lucene's files, the docnos, and what was counted.

``lucene/`` is the index itself, ``docnos.arrow`` the docnos (row i is the document with Lucene's
internal number i), ``index.json`` the `IndexStats`.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Final

import pyarrow as pa

from rerankers._base.errors import FairRerankersError, InputError, MissingError
from rerankers._base.own_files import own_mapping
from rerankers.retrieval import handles as h
from rerankers.retrieval.jvm import find_jar, java_class

LUCENE: Final = "org/apache/lucene/"
CONTENTS: Final = "contents"
DOCNO: Final = "id"
LUCENE_FOLDER: Final = "lucene"
DOCNO_FILE: Final = "docnos.arrow"
STATS_FILE: Final = "index.json"

_FORMAT: Final = 2
_AGAIN: Final = "Delete the folder: the index is built again"


@dataclass(frozen=True, slots=True)
class IndexStats:
    """What is in an index: counts, and what built it.

    ``empty`` counts the documents whose contents have no term after analysis, ``terms`` the
    distinct terms, ``tokens`` all of them. ``docnos`` is the SHA-256 of the file of the docnos.
    """

    documents: int
    empty: int
    terms: int
    tokens: int
    anserini: str
    lucene: str
    docnos: str
    analysis: str = "DefaultEnglishAnalyzer: Porter stemmer, Lucene's English stop words"
    format: int = _FORMAT


def read_stats(folder: Path) -> IndexStats:
    """Read the counts of the index in ``folder``.

    Raises
    ------
    InputError
        when ``folder`` is not an index of this package or of a later form of it.
    """
    path = Path(folder) / STATS_FILE
    mend = "Delete the folder, or name another one"
    try:
        found = own_mapping(path, "the counts of an index", mend)
        if found["format"] != _FORMAT:
            raise InputError.one(str(path), f"format {found['format']}", f"format {_FORMAT}", mend=mend)
        return IndexStats(**{field.name: found[field.name] for field in fields(IndexStats)})
    except MissingError as error:
        raise InputError.one(str(path), "no such file", "the counts of an index", mend=mend) from error
    except (TypeError, KeyError) as error:
        raise InputError.one(str(path), f"{error!r}", "the counts of an index", mend=mend) from error


def write_stats(folder: Path, stats: IndexStats) -> None:
    """Write the counts into the folder of an index."""
    (folder / STATS_FILE).write_text(json.dumps(asdict(stats), indent=1) + "\n", encoding="utf-8")


def write_docnos(folder: Path, docnos: pa.LargeStringArray) -> None:
    """Write the docnos, in the order of the internal numbers, into the folder of an index."""
    table = pa.table({"docno": docnos})
    with pa.OSFile(str(folder / DOCNO_FILE), "wb") as sink, pa.ipc.new_file(sink, table.schema) as file:
        file.write_table(table)


def read_docnos(folder: Path, stats: IndexStats) -> pa.LargeStringArray:
    """Map the docnos of an index into memory; row i is the document with internal number i.

    Raises
    ------
    InputError
        when they are not the bytes that ``stats`` tells of: Arrow would follow damaged offsets out of its memory.
    """
    path = folder / DOCNO_FILE
    try:
        whole = docnos_checksum(folder) == stats.docnos
    except OSError as error:
        raise InputError.one(str(path), error.strerror or str(error), "the docnos of an index", mend=_AGAIN) from error
    if not whole:
        found = "docnos that were changed or damaged"
        raise InputError.one(str(path), found, f"those of {STATS_FILE}", mend=_AGAIN)
    with pa.memory_map(str(path)) as source:
        column = pa.ipc.open_file(source).read_all().column("docno")
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def docnos_checksum(folder: Path) -> str:
    """Return the SHA-256 of the file of the docnos of an index."""
    with (folder / DOCNO_FILE).open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def open_directory(folder: Path) -> Any:
    """Return Lucene's ``Directory`` of a folder."""
    path = java_class("java.io.File")(str(folder)).toPath()
    return h.call(
        h.static(LUCENE + "store/FSDirectory", "open", f"(Ljava/nio/file/Path;)L{LUCENE}store/FSDirectory;"), path
    )


def count(folder: Path, documents: int, docnos: str) -> IndexStats:
    """Count what is in Lucene's ``folder``, and check that it holds ``documents`` in one segment.

    ``docnos`` is the checksum of their names.
    """
    reader = java_class("org.apache.lucene.index.DirectoryReader").open(open_directory(folder))
    try:
        if reader.maxDoc() != documents or reader.leaves().size() > 1:
            raise FairRerankersError(
                f"{folder}: {reader.maxDoc()} documents in {reader.leaves().size()} segments; "
                f"expected {documents} in one"
            )
        terms = h.call(
            h.static(
                LUCENE + "index/MultiTerms", "getTerms", f"(L{LUCENE}index/IndexReader;{h.STRING})L{LUCENE}index/Terms;"
            ),
            reader,
            CONTENTS,
        )
        return IndexStats(
            documents=documents,
            empty=documents - reader.getDocCount(CONTENTS),
            terms=0 if terms is None else terms.size(),
            tokens=reader.getSumTotalTermFreq(CONTENTS),
            anserini=find_jar().name.removeprefix("anserini-").removesuffix("-fatjar.jar"),
            lucene=java_class("org.apache.lucene.util.Version").LATEST.toString(),
            docnos=docnos,
        )
    finally:
        reader.close()
