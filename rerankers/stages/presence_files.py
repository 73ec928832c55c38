"""The files of a ``presence``: numbers, tables, the page and its picture."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from rerankers._base.files import write_text
from rerankers.measures.group_exposure import group_table
from rerankers.measures.summary import summarise, write_results
from rerankers.report import PlainTable, ReportData, write_report
from rerankers.report.presence_planes import Plane, presence_picture
from rerankers.stages.metadata import versions
from rerankers.stages.presence_measures import CWEX, NFAIRR
from rerankers.stages.presence_systems import BELIEVED, FOR_BALANCE, FOR_NEUTRALITY
from rerankers.stages.presence_text import CAUTIONS, markdown, speaks_of_groups, tables

if TYPE_CHECKING:
    import pyarrow as pa

    from rerankers.report import Picture

JSON_FILE, CSV_FILE, TEXT_FILE = "presence.json", "presence.csv", "presence.md"
TIER = "given_groups"
COLUMNS: Final = (
    *("system", "family", "option", "value", "labels", "measure", "mean", "low", "high", "queries"),
    *("difference", "difference_low", "difference_high"),
)


def write_presence(folder: Path, found: Mapping[str, Any], table: pa.Table, config: Mapping[str, Any]) -> None:
    """Write what `rerankers.stages.presence.presence` returns into a folder.

    Parameters
    ----------
    folder
        of ``presence.json``, ``presence.csv``, ``presence.md``, the files of measures (`write_results`), as other
        commands read them, ``report.html`` and ``figures``.
    found, table
        the numbers, and the result table of all systems and queries.
    config
        resolved, for the page.
    """
    options = found["options"]
    stated = {
        "browsing": options["browsing"],
        "universe": options["universe"],
        "cutoff": None,
        **{key: options[key] for key in ("samples", "seed", "confidence", "resamples")},
    }
    summary = summarise(
        table,
        options=stated,
        tier=TIER,
        counts=found["counts"],
        seed=options["seed"],
        resamples=options["resamples"],
        level=options["confidence"],
    )
    write_results(folder, table, summary)
    write_text(folder / JSON_FILE, json.dumps(found, ensure_ascii=False, allow_nan=False, indent=1) + "\n")
    write_text(folder / CSV_FILE, _csv(found))
    picture = _picture(found)
    pictures = [] if picture is None else [picture]
    write_text(folder / TEXT_FILE, markdown(found, [(one, "figures") for one in pictures]))
    write_report(folder, _report(found, table, config, pictures))


def _csv(found: Mapping[str, Any]) -> str:
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(COLUMNS)
    for row in _rows(found):
        writer.writerow(["" if value is None else value for value in row])
    return stream.getvalue()


def _rows(found: Mapping[str, Any]) -> Iterator[tuple[Any, ...]]:
    for system in found["systems"]:
        for attribute, keys in found["keys"].items():
            for name, key in keys.items():
                mean = system["mean"][key]
                apart = {} if system["difference"] is None else system["difference"][key]
                yield (
                    *(system[part] for part in ("system", "family", "option", "value")),
                    *(attribute or None, name),
                    *(mean[part] for part in ("mean", "low", "high", "queries")),
                    *(apart.get(part) for part in ("mean", "low", "high")),
                )


def _picture(found: Mapping[str, Any]) -> Picture | None:
    utility = found["keys"][""]["nDCG"]
    cutoff = found["options"]["cutoff"]
    labelled = found["attributes"]["labelled"]
    planes = []
    for attribute, keys in found["keys"].items():
        for name, front in ((NFAIRR, FOR_NEUTRALITY), (CWEX, FOR_BALANCE)):
            if name in keys and speaks_of_groups(found, attribute):
                # what is attainable is known by the labels that the policies go by, not by others
                fronts = (front,) if attribute == labelled else ()
                others = tuple(family for family, meant in BELIEVED.items() if meant != front)
                whose = "the labeller's labels" if attribute == labelled else "the given labels"
                planes.append(
                    Plane(attribute, f"{name}, by {whose}", utility, keys[name], f"{name}@{cutoff}", fronts, others)
                )
    return presence_picture(found["systems"], planes, f"{100 * found['options']['confidence']:g} %")


def _report(
    found: Mapping[str, Any], table: pa.Table, config: Mapping[str, Any], pictures: list[Picture]
) -> ReportData:
    options = found["options"]
    return ReportData(
        title=f"Presence and utility on {found['collection']}",
        summary={
            "collection": f"{found['collection']}, {found['queries']:,} queries",
            "labels": options["groups"],
            "compared with": "no other labels"
            if found["attributes"]["given"] is None
            else found["attributes"]["given"],
            "target of kl_tilt": options["target"],
            "browsing model": options["browsing"],
            "command": found["command"],
            "versions": ", ".join(f"{name} {version}" for name, version in versions().items()),
        },
        options=config,
        tier=TIER,
        counts=found["counts"],
        warnings=[*found["notes"], *CAUTIONS],
        measures=table,
        means={row["system"]: {key: one["mean"] for key, one in row["mean"].items()} for row in found["systems"]},
        intervals={
            row["system"]: {key: (one["low"], one["high"]) for key, one in row["mean"].items()}
            for row in found["systems"]
        },
        group_exposure=group_table([]),
        confidence=options["confidence"],
        tables=[PlainTable(title, "", header, rows) for title, (header, *rows) in tables(found)],
        pictures=pictures,
        lead=_lead(found),
    )


def _lead(found: Mapping[str, Any]) -> str:
    """Return how many policies there are, and of which families."""
    families = Counter(row["family"] for row in found["systems"] if not row["anchor"])
    return f"{families.total()} policies of {len(families)} families: " + "; ".join(
        f"{family} ({number})" for family, number in families.items()
    )
