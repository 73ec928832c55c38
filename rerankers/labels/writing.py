"""Labelling a file of texts: what ``fair-rerank label`` does between two files."""

from __future__ import annotations

import gzip
import io
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, cast

import numpy as np

from rerankers._base.files import atomic_path
from rerankers.labels.base import NEUTRALITY, TOKENS
from rerankers.labels.file_labels import LabelCounts
from rerankers.labels.neutrality import NeutralityWarning
from rerankers.labels.records import column_lines, record_line

if TYPE_CHECKING:
    from rerankers.labels.base import Labeller
    from rerankers.labels.lexical import Columns, LexicalMajority, LexicalNeutrality
    from rerankers.labels.texts import TextReader

_RATE = 4  # of gzip: beyond it the file becomes hardly smaller, and the compression takes longer than the labels


@dataclass(slots=True)
class Written:
    """What became of the texts.

    Attributes
    ----------
    said
        labels and reasons, counted.
    counts
        what was odd: ``texts_without_tokens``, ``neutrality_below_0``, ``not_unanimous``.
    """

    said: LabelCounts = field(default_factory=LabelCounts)
    counts: dict[str, int] = field(default_factory=dict)

    def note(self, what: str, number: int) -> None:
        """Count something odd; what never happens is not listed."""
        if number:
            self.counts[what] = self.counts.get(what, 0) + number


def write_labels(labeller: Labeller, reader: TextReader, output: Path) -> Written:
    """Label the texts of files and write one line each; return the counts.

    The file appears when all is written, so that a job that fails leaves none behind. Texts and labels are held a block
    at a time.

    Raises
    ------
    InputError
        with everything that is wrong with the texts; then nothing is written.
    ConfigError
        when the file cannot be written.
    """
    done = Written()
    columns = getattr(labeller, "columns", None)
    with atomic_path(output) as temporary, warnings.catch_warnings():
        warnings.simplefilter("ignore", NeutralityWarning)  # they are counted
        with _opened(temporary) as stream:
            if columns is None:
                for said in labeller.label(reader.texts()):
                    stream.write(record_line(said))
                    done.said.add(said)
                    done.note("texts_without_tokens", said.scores.get(TOKENS) == 0)
                    done.note("neutrality_below_0", said.scores.get(NEUTRALITY, 0) < 0)
                    done.note("not_unanimous", said.scores.get("agreement", 1) < 1)
            else:
                _write_columns(cast("LexicalMajority | LexicalNeutrality", labeller), reader, stream, done)
        reader.check()
    return done


def _write_columns(
    labeller: LexicalMajority | LexicalNeutrality, reader: TextReader, stream: IO[str], done: Written
) -> None:
    labels, source = labeller.labels, labeller.name
    number = np.zeros(len(labels), np.int64)
    for block in reader.blocks():
        found: Columns = labeller.columns(block.fields)
        stream.write("".join(column_lines(block.ids, found, labels, source)))
        number += np.bincount(found.label, minlength=len(labels))
        done.note("texts_without_tokens", int(np.sum(found.tokens == 0)))
        done.note("neutrality_below_0", int(np.sum(found.neutrality < 0)))
    done.said.labels.update({label: count for label, count in zip(labels, number.tolist(), strict=True) if count})


@contextmanager
def _opened(path: Path) -> Iterator[IO[str]]:
    """Open a file for text, compressing ``.gz`` and ``.zst``; equal texts give equal bytes."""
    with ExitStack() as stack:
        if path.suffix == ".gz":
            plain = stack.enter_context(path.open("wb"))
            packed: Any = stack.enter_context(gzip.GzipFile("", "wb", _RATE, plain, mtime=0))
        elif path.suffix == ".zst":
            import pyarrow as pa

            packed = stack.enter_context(pa.output_stream(str(path), compression="zstd"))
        else:
            packed = stack.enter_context(path.open("wb"))
        yield stack.enter_context(io.TextIOWrapper(packed, encoding="utf-8", newline=""))
