"""Show a query in the systems of one job or several, and say why documents have the exposure they have."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rerankers._base.errors import ConfigError
from rerankers._base.files import write_text
from rerankers._conf import build
from rerankers.stages.config_parts import check_keys, file_groups, texts
from rerankers.stages.explain_ranked import given_job
from rerankers.stages.explain_run import RunSource
from rerankers.stages.explain_sources import Source, sources_of
from rerankers.stages.explain_text import lines
from rerankers.stages.side_by_side import side_by_side
from rerankers.stages.sweeps import expanded
from rerankers.stages.validate import one_path

if TYPE_CHECKING:
    from rerankers.stages.explain_sides import Side

JSON_FILE, PAGE = "explain.json", "side_by_side.html"
KEYS = frozenset(("results", "query", "docno", "qrels", "groups", "browsing", "universe", "output", "allow_targets"))
LONGEST = 200  # letters of a title
TITLE = "title"


def explain_from_config(config: Mapping[str, Any]) -> None:
    """Explain the query of a config of ``conf/explain.yaml``'s form: print, and write the files.

    Raises
    ------
    FairRerankersError
        with the exit code of the command, for anything that is wrong with config or input.
    """
    check_keys(config, KEYS)
    qid = _text(config, "query")
    if qid is None:
        raise ConfigError("query: found null; expected the id of a query. Type: query=ID")
    paths = expanded(Path(one) for one in texts(config["results"] or []))
    if not paths:
        raise ConfigError(
            "results: found an empty list; expected folders or runs. Type: fair-rerank explain DIR query=ID"
        )
    output = one_path(config, "output")
    if output is not None and output.is_file():
        raise ConfigError(f"output: found the file {output}; expected a folder. Type: output=DIR")
    given = given_job(
        one_path(config, "qrels"),
        file_groups(config["groups"]),
        build(config["browsing"], where="browsing"),
        str(config["universe"]),
    )
    sources = sources_of(paths, given)
    docnos = [] if config["docno"] is None else texts(config["docno"])
    found = explained_query(sources, qid, docnos)
    for line in lines(found):
        print(line)
    if output is not None:
        write_query(found, output)
        print(f"explain: {output / PAGE}, {output / JSON_FILE}")


def explained_query(sources: Sequence[Source], qid: str, docnos: Sequence[str] = ()) -> dict[str, Any]:
    """Return the query in all systems; see `rerankers.stages.side_by_side.side_by_side`.

    Raises
    ------
    InputError
        for a query that a source does not rank, and a document that none of them knows.
    """
    sides = [side for source in sources for side in source.sides(qid)]
    return side_by_side(sides, docnos, titles_of(sources, sides))


def write_query(found: Mapping[str, Any], folder: Path) -> None:
    """Write ``explain.json`` and ``side_by_side.html`` into a folder."""
    from rerankers.report.side_by_side import page

    write_text(folder / JSON_FILE, json.dumps(found, ensure_ascii=False, allow_nan=False, indent=1) + "\n")
    write_text(folder / PAGE, page(found))


def _text(config: Mapping[str, Any], key: str) -> str | None:
    """Return an id; numbers are ids as well."""
    value = config[key]
    if value is None:
        return None
    if isinstance(value, list | dict | bool):
        raise ConfigError(f"{key}: found {value!r}; expected one id")
    return str(value)


def titles_of(sources: Iterable[Source], sides: Sequence[Side]) -> dict[str, str]:
    """Return docno -> title (without one: how its text begins) of the documents of some systems that bring texts."""
    titles: dict[str, str] = {}
    for source in sources:
        store = source.collection.documents if isinstance(source, RunSource) else None
        if store is None or not store.fields:
            continue
        wanted = {name for side in sides for name in _names(side)} - set(titles)
        last = max(wanted, default="")
        field = TITLE if TITLE in store.fields else store.fields[0]
        for docno, text in store.texts([field]) if wanted else ():
            if docno in wanted:
                titles[docno] = text if len(text) <= LONGEST else text[: LONGEST - 1].rstrip() + "…"
            if docno >= last:
                break
    return titles


def _names(side: Side) -> list[str]:
    return [*side.docs.take(side.policy.over.doc), *side.docs.take(side.judgments.doc)]
