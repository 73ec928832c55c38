"""Build a Lucene index whose internal order is the order of docnos, in one atomic step."""

from __future__ import annotations

import errno
import os
import shutil
import uuid
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pyarrow as pa

from rerankers._base.errors import ConfigError, FairRerankersError
from rerankers._base.files import unwritable
from rerankers.retrieval import handles as h
from rerankers.retrieval.documents import batches, sorted_unique
from rerankers.retrieval.index_files import (
    CONTENTS,
    DOCNO,
    DOCNO_FILE,
    LUCENE,
    LUCENE_FOLDER,
    STATS_FILE,
    IndexStats,
    count,
    docnos_checksum,
    open_directory,
    read_stats,
    write_docnos,
    write_stats,
)
from rerankers.retrieval.jvm import java_class, java_exception, java_reason, start_jvm

DISK_TROUBLES = ("No space left on device", "File too large", "Disk quota exceeded", "Read-only file system")
"""What the operating system says of a disk that takes no more, as it comes back through Java."""


def build_index(
    documents: Iterable[tuple[str, str]],
    folder: Path,
    *,
    threads: int | None = None,
    memory_mb: int = 256,
    heap: str | None = None,
) -> IndexStats:
    """Index ``(docno, contents)`` pairs under ``folder``; an index that is there already is kept.

    Documents are read once, in any order. Java's memory is bounded by ``memory_mb`` and the batch;
    Python's grows by the docnos only (about 40 bytes a document). While it is built the index takes
    up to three times its final place on disk. A process that is killed leaves a folder named
    ``.NAME.….building`` beside the target, never a part of an index at the target; of two processes
    that build the same index, both return the one that was finished first.

    Parameters
    ----------
    documents : iterable of (str, str)
        docnos, unique and of any form up to 32,766 bytes of UTF-8, and contents, which may be empty.
        In contents, halves of surrogate pairs (which no Unicode text has) count as separators.
    folder : Path
        where the index is to be; its parents are made.
    threads : int, optional
        Java threads (default: the cores of this process, at most 8). The index is the same for any
        number, as far as searches can see.
    memory_mb : int
        size of Lucene's buffer in MB before it writes a part.
    heap : str, optional
        Java's memory if this starts the JVM, see `start_jvm`.

    Raises
    ------
    InputError
        for a docno that is empty, too long, not text or there twice, and for a ``folder`` that is
        something else than an index.
    """
    folder = Path(folder)
    if threads is not None and threads < 1:
        raise ConfigError(f"threads: found {threads}; expected 1 or more")
    if folder.exists():
        return read_stats(folder)
    start_jvm(heap)
    folder.parent.mkdir(parents=True, exist_ok=True)
    partial = folder.with_name(f".{folder.name[:40]}.{uuid.uuid4().hex}.building")
    partial.mkdir()
    try:
        stats = _write(documents, partial, threads or min(8, h.available_threads()), memory_mb)
        try:
            os.rename(partial, folder)
        except OSError:
            if not (folder / STATS_FILE).is_file():
                raise
            # Another process was faster; its index is of the same documents.
            stats = read_stats(folder)
        _to_disk(folder.parent)
        return stats
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def _write(documents: Iterable[tuple[str, str]], folder: Path, threads: int, memory_mb: int) -> IndexStats:
    writer = _open_writer(folder / LUCENE_FOLDER, memory_mb)
    pool = java_class("java.util.concurrent.ForkJoinPool")(threads)
    try:
        docnos = _feed(writer, pool, documents)
        names = sorted_unique(docnos)
        writer.forceMerge(1)
        writer.commit()
        writer.close()
    except BaseException as error:
        pool.shutdownNow()
        writer.rollback()
        if not isinstance(error, java_exception()):
            raise
        reason = java_reason(error)
        for told in DISK_TROUBLES:
            if told in str(error):
                raise unwritable(folder.parent, OSError(errno.EIO, told)) from error
        raise FairRerankersError(f"{folder.parent}: Lucene could not write the index: {reason}") from error
    pool.shutdown()
    write_docnos(folder, names)
    stats = count(folder / LUCENE_FOLDER, len(names), docnos_checksum(folder))
    write_stats(folder, stats)
    for name in (DOCNO_FILE, STATS_FILE, "."):
        _to_disk(folder / name)
    return stats


def _open_writer(folder: Path, memory_mb: int) -> Any:
    analyzer = java_class("io.anserini.analysis.DefaultEnglishAnalyzer").newDefaultInstance()
    config = java_class("org.apache.lucene.index.IndexWriterConfig")(analyzer)
    kind = java_class("org.apache.lucene.search.SortField$Type").STRING
    by_docno = java_class("org.apache.lucene.search.SortField")(DOCNO, kind)
    config.setIndexSort(java_class("org.apache.lucene.search.Sort")(by_docno))
    config.setRAMBufferSizeMB(float(memory_mb))
    config.setUseCompoundFile(False)
    return java_class("org.apache.lucene.index.IndexWriter")(open_directory(folder), config)


def _feed(writer: Any, pool: Any, documents: Iterable[tuple[str, str]]) -> list[pa.LargeStringArray]:
    """Add all documents, Java indexing one batch while Python reads the next; return the docnos."""
    add = _adder(writer)
    docnos = []
    pending = None
    for names, contents in batches(documents):
        docnos.append(pa.array(names, pa.large_string()))
        batch = _over_batch(add, names, contents)
        if pending is not None:
            pending.get()
        pending = h.submit(pool, batch)
    if pending is not None:
        pending.get()
    return docnos


def _adder(writer: Any) -> h.Handle:
    """Return the handle (docno, contents) -> long that adds one document to the index."""
    kind = java_class("org.apache.lucene.document.FieldType")()
    kind.setTokenized(True)
    kind.setIndexOptions(java_class("org.apache.lucene.index.IndexOptions").DOCS_AND_FREQS)
    kind.freeze()
    docno = h.feed(
        h.bind(
            h.constructor(LUCENE + "document/SortedDocValuesField", f"({h.STRING}L{LUCENE}util/BytesRef;)V"), 0, DOCNO
        ),
        0,
        h.constructor(LUCENE + "util/BytesRef", "(Ljava/lang/CharSequence;)V"),
    )
    text = h.constructor(
        LUCENE + "document/Field", f"({h.STRING}Ljava/lang/CharSequence;L{LUCENE}index/IndexableFieldType;)V"
    )
    text = h.bind(h.bind(text, 2, kind), 0, CONTENTS)
    document = h.feed(h.static("java/util/List", "of", f"({h.OBJECT}{h.OBJECT}){h.LIST}"), 0, docno, text)
    add = h.bind(h.method(LUCENE + "index/IndexWriter", "addDocument", "(Ljava/lang/Iterable;)J"), 0, writer)
    return h.then(document, add)


def _over_batch(add: h.Handle, names: list[str], contents: list[str]) -> h.Handle:
    get = h.method("java/util/List", "get", f"(I){h.OBJECT}")
    one = h.feed(add, 0, h.bind(get, 0, h.strings(names)), h.bind(get, 0, h.strings(contents)))
    numbers = h.bind(h.static("java/util/stream/IntStream", "range", f"(II){h.INT_STREAM}"), 0, 0, len(names))
    to_long = h.method(
        "java/util/stream/IntStream", "mapToLong", f"(L{h.FUNCTION}IntToLongFunction;)Ljava/util/stream/LongStream;"
    )
    return h.then(
        numbers,
        h.method("java/util/stream/IntStream", "parallel", f"(){h.INT_STREAM}"),
        h.with_function(to_long, 1, h.FUNCTION + "IntToLongFunction", h.share(one, "(I)J", 0, 0)),
        h.method("java/util/stream/LongStream", "sum", "()J"),
    )


def _to_disk(path: Path) -> None:
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except OSError:  # Windows opens no folders
        return
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
