"""The report of sets of query variants: one HTML page with its pictures."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rerankers._base.files import write_text
from rerankers.report.text import flatten, number, words
from rerankers.report.variants_lines import PREFIX
from rerankers.report.variants_pictures import variant_pictures
from rerankers.report.variants_tables import variant_tables

PAGE, FIGURES = "report.html", "figures"


def write_variants_report(folder: Path, found: Mapping[str, Any]) -> Path:
    """Write ``report.html`` and ``figures/`` of what ``variants.json`` holds; return the path of the page.

    The page needs no other file. Pictures of an earlier report in the folder go.

    Raises
    ------
    ConfigError
        when the folder cannot be written.
    """
    for kind in ("png", "csv"):
        for path in (folder / FIGURES).glob(f"{PREFIX}*.{kind}"):
            path.unlink(missing_ok=True)
    drawn = [(picture, picture.save(folder / FIGURES)) for picture in variant_pictures(found)]
    path = folder / PAGE
    # texts that came from files may hold what UTF-8 has no bytes for
    write_text(path, _page(found, drawn).encode("utf-8", "replace").decode("utf-8"))
    return path


def title_of(found: Mapping[str, Any]) -> str:
    """Return what the report is called."""
    of = "" if found["collection"] is None else f" on {found['collection']}"
    return f"Query variants{of}"


def about(found: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return what was done, as (name, text)."""
    rows = [
        ("reference", str(found["reference"])),
        ("topics", f"{len(found['topics']):,}" + _excluded(found["topics_excluded"])),
        ("collection", "none: texts of queries only" if found["collection"] is None else str(found["collection"])),
    ]
    for name, made in found["generated"].items():
        replies = ", ".join(f"{key} {value:,}" for key, value in made["account"].items() if value)
        rows.append((f"set {name}", f"written by {made['model']}, prompt {made['prompt'][:12]}; {replies}"))
    rows += [(f"no {part}", found[f"{part}_reason"]) for part in ("analysis", "fairness") if found[f"{part}_reason"]]
    rows += [(f"not measured: {what}", why) for what, why in ((found["analysis"] or {}).get("skipped") or {}).items()]
    if found["fairness"] is not None:
        rows.append(("browsing model", found["fairness"]["options"]["browsing"]))
        for name in found["fairness"]["estimated_from_draws"]:
            rows.append((f"exposure of {name}", "estimated from draws: it has no closed form"))
    return [*rows, ("command", found["command"])]


def _excluded(number_: int) -> str:
    return f", {number_} left out on request" if number_ else ""


def _page(found: Mapping[str, Any], drawn: Any) -> str:
    import jinja2
    from markupsafe import Markup

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("rerankers.report", "."),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"number": number, "words": words}
    counts = [(words(part), [(words(what), many) for what, many in of.items()]) for part, of in found["counts"].items()]
    return environment.get_template("variants.html.j2").render(
        title=title_of(found),
        about=about(found),
        options=flatten(found["config"]),
        counts=[(part, rows) for part, rows in counts if rows],
        tables=variant_tables(found),
        # drawn by our own renderer, which escapes what it is given
        pictures=[(picture, Markup(svg)) for picture, svg in drawn],  # noqa: S704
    )
