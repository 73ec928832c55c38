"""The lines that ``fair-rerank label`` writes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from json.encoder import encode_basestring
from typing import TYPE_CHECKING, Any

from rerankers.labels.base import NEUTRALITY, TOKENS

if TYPE_CHECKING:
    from rerankers.labels.base import Labelled
    from rerankers.labels.lexical import Columns


def record_line(said: Labelled) -> str:
    """Return a line of JSON: ``id``, ``label``, ``scores``, ``source``; ``reason`` and ``replies`` where there are any.

    Half a surrogate pair in a reply is written as its escape, for it has no UTF-8.
    """
    record: dict[str, Any] = {
        "id": said.id,
        "label": said.label,
        "scores": dict(said.scores),
        "source": said.source,
    }
    if said.reason:
        record["reason"] = said.reason
    if said.replies:
        record["replies"] = list(said.replies)
    line = json.dumps(record, ensure_ascii=False, allow_nan=False)
    try:
        line.encode()
    except UnicodeEncodeError:
        line = json.dumps(record, allow_nan=False)
    return line + "\n"


def column_lines(ids: Sequence[str], found: Columns, labels: Sequence[str], source: str) -> list[str]:
    """Return what `record_line` gives for what a lexical labeller says of many texts, whose counts decide the rest.

    Parameters
    ----------
    ids
        n of them.
    found
        of n texts.
    labels
        neutral, then the groups.
    source
        name of the labeller.
    """
    names = [json.dumps(label, ensure_ascii=False) for label in labels]
    around: dict[
        tuple[int, ...], tuple[str, str]
    ] = {}  # words of the groups -> what stands before and after the tokens
    lines = []
    rows = zip(*found.counts.T.tolist(), strict=True)
    columns = (found.label.tolist(), found.neutrality.tolist(), found.tokens.tolist())
    for id_, counts, label, neutral, tokens in zip(map(encode_basestring, ids), rows, *columns, strict=True):
        if counts not in around:
            scores = "".join(f"{name}: {count}, " for name, count in zip(names[1:], counts, strict=True))
            around[counts] = (
                f', "label": {names[label]}, "scores": {{{scores}"{TOKENS}": ',
                f', "{NEUTRALITY}": {neutral!r}}}, "source": {json.dumps(source)}}}\n',
            )
        before, after = around[counts]
        lines.append(f'{{"id": {id_}{before}{tokens}{after}')
    return lines
