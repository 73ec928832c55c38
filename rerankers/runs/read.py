"""One door for runs of every form."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rerankers._base.byte_blocks import read_blocks
from rerankers._base.errors import InputError, Problems
from rerankers._base.files import COMPRESSED, decoded, open_bytes
from rerankers.runs import arrow, jsonl, mapping, parquet, table, trec
from rerankers.runs.draft import Draft, build
from rerankers.runs.policy import is_policy, read_policy
from rerankers.runs.run import ARROW_FILE, PARQUET_FILE, POLICY_FILE, TREC_FILE, Run, run_name
from rerankers.values import Ragged

_ARCHIVES = {b"\x1f\x8b": ".gz", b"\x28\xb5\x2f\xfd": ".zst"}


def read_run(source: Any) -> Run:
    """Read a run.

    Parameters
    ----------
    source
        a path: a text run (`qid Q0 docno rank score tag`, a sample number in place of ``Q0`` where a query has several
        rankings), ``run.parquet``, ``run.arrow``, CSV or TSV with a header, JSON lines of TREC Fair Ranking 2019 and
        2020; text forms also as ``.gz`` and ``.zst``; ``policy.parquet``, whose rankings are drawn again; a folder with
        ``run.parquet``, ``run.trec.gz`` or, where there is neither, ``policy.parquet``.
        The content decides, not the suffix.
        A mapping ``{qid: [[docno, …], …]}``, ``{qid: [docno, …]}`` or ``{qid: {docno: score}}``.
        An Arrow table or any frame that offers Arrow data (pandas from 2.2, polars), with the columns ``qid``
        (``query_id``, ``q_id``), ``docno`` (``doc_id``), ``sample`` (default 0), ``rank`` and ``score``.

    Returns
    -------
    Run
        ranks decide the order; where a source has none, or the same for all documents of a ranking, scores do.

    Raises
    ------
    InputError
        with everything that is wrong with the source.
    MissingError
        when there is no such file.
    """
    if isinstance(source, Run):
        return source
    counts: dict[str, int] = {}
    if isinstance(source, str | Path):
        path = _file(Path(source))
        return _read_file(path, run_name(Path(source)), Problems(str(path)), counts)
    problems = Problems("run")
    if isinstance(source, Mapping):
        draft = mapping.read_mapping(source, "run", problems, counts)
    elif hasattr(source, "__arrow_c_stream__") or hasattr(source, "__arrow_c_array__"):
        draft = table.read_frame(source, "run", problems, counts)
    else:
        raise InputError.one("run", f"a {type(source).__name__}", f"a path, {mapping.FORM}, or a frame")
    return build(draft, "run", problems, counts)


def _file(path: Path) -> Path:
    """Return the file to read: the path itself, or the run in a folder."""
    if not path.is_dir():
        return path
    for name in (PARQUET_FILE, TREC_FILE, POLICY_FILE):
        if (path / name).is_file():
            return path / name
    raise InputError.one(str(path), "a folder without a run", f"{PARQUET_FILE}, {TREC_FILE} or {POLICY_FILE} in it")


def _read_file(path: Path, name: str, problems: Problems, counts: dict[str, int]) -> Run:
    with open_bytes(path) as stream:
        magic = b"" if path.suffix in COMPRESSED else stream.read(8)
    for archive, suffix in _ARCHIVES.items():
        if magic.startswith(archive):
            found = f"an archive without the suffix {suffix}"
            raise InputError.one(str(path), found, "a name that tells", mend=f"Rename it to {path.name}{suffix}.")
    if magic.startswith(parquet.MAGIC) and is_policy(path):
        return build(_drawn(path), name, problems, counts)
    if magic.startswith(arrow.MAGIC) or path.suffix == Path(ARROW_FILE).suffix:
        found = arrow.map_file(path)
        if arrow.holds_lists(found, str(path)):
            return arrow.run_of(found, name, problems)
        return build(table.read_table(found, str(path), problems, counts), name, problems, counts)
    return build(_draft(path, magic, problems, counts), name, problems, counts)


def first_line(path: Path) -> str | None:
    """Return the first line with anything on it, None where there is none; a file may begin with very many without."""
    for number, block in read_blocks(path):
        if block.strip():
            lines = block.split(b"\n")
            place = next(place for place, line in enumerate(lines) if line.strip())
            return decoded(path, number + place, lines[place])
    return None


def _drawn(path: Path) -> Draft:
    """Return the rankings that were drawn from a policy that is stored."""
    stored = read_policy(path)
    rankings = stored.rankings()
    over = rankings.over
    ranked = Ragged(over.query[rankings.row_of_ranking], rankings.item_ptr, over.doc[rankings.flat])
    return Draft(stored.qids, stored.docs.names, ranked, rankings.label)


def _draft(path: Path, magic: bytes, problems: Problems, counts: dict[str, int]) -> Draft:
    if magic.startswith(parquet.MAGIC) or path.suffix == ".parquet":
        return parquet.read_parquet(path, problems, counts)
    first = first_line(path)
    if first is None:
        raise InputError.one(str(path), "an empty file", f"lines of {trec.FORM}, or another form of run")
    if first.lstrip().startswith("{"):
        return jsonl.read_jsonl(path, problems, counts)
    sign = table.delimiter(first)
    if sign is not None:
        return table.read_delimited(path, sign, problems, counts)
    return trec.read_trec(path, problems, counts)
