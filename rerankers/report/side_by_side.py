"""A query in several systems as one HTML page, from what stands in ``explain.json``. It needs no other file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from rerankers.report.text import clean, number, words

if TYPE_CHECKING:
    import jinja2

FIRST = 50
"""Documents that the page shows, by their exposure in the first system."""
DIFFERING = 20
"""Documents beyond these that it shows, since they differ most between the systems."""
LISTED = 10
"""Documents of each list that stands beside the others."""
GROUPS = 60
"""Groups that the page shows; authors and the like are many."""
ACCOUNT_ROWS = 30
SINGLE_RANKS = 10
"""Ranks that have a row for themselves."""


def page(found: Mapping[str, Any]) -> str:
    """Return the page: HTML that loads nothing.

    Parameters
    ----------
    found
        as in ``explain.json``; see `rerankers.stages.side_by_side.side_by_side`.

    Returns
    -------
    str
        The same input gives the same text. All texts of documents and queries are escaped.
    """
    names = list(found["systems"])
    shown = shown_documents(found)
    largest = max([value for row in shown for value in _values(row)], default=0.0)
    query = found["query"]
    text = _template().render(
        title=f"Query {clean(query['qid'])}",
        query=query,
        systems=found["systems"],
        names=names,
        judged=found["judged"],
        lists=ranked_lists(found),
        rows=shown,
        total=len(found["documents"]),
        largest=largest or 1.0,
        has=_has(found["documents"]),
        changed=found["changed"][:DIFFERING],
        changed_total=len(found["changed"]),
        steps=_used_steps(found),
        why=[(docno, _title(found, docno), one) for docno, one in found["why"].items()],
        groups=found["groups"][:GROUPS],
        groups_left=max(len(found["groups"]) - GROUPS, 0),
        group_steps={name: _steps_of_groups(found["groups"], name) for name in names},
        group_largest=max([_largest_of_group(row) for row in found["groups"]], default=0.0) or 1.0,
        accounts=[(name, account_of(found, name)) for name, one in found["systems"].items() if one["account"]],
    )
    # texts in another encoding hold lone surrogates, which UTF-8 has no bytes for
    return text.encode("utf-8", "replace").decode("utf-8")


def shown_documents(found: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the first documents, those that differ most, and those that are explained, in their order."""
    kept = {row["docno"] for row in found["documents"][:FIRST]}
    kept |= {gap["docno"] for gap in found["changed"][:DIFFERING]} | set(found["why"])
    return [row for row in found["documents"] if row["docno"] in kept]


def ranked_lists(found: Mapping[str, Any]) -> list[list[dict[str, Any] | None]]:
    """Return rows of the lists by exposure: one cell a system, None where its list has ended.

    A cell has ``docno``, ``title``, ``exposure`` and ``moved``: the place in the first system's list, less its own
    (None in the first system).
    """
    names = list(found["systems"])
    lists, place = [], dict[str, int]()
    for column, name in enumerate(names):
        inside = [row for row in found["documents"] if row["systems"].get(name, {}).get("candidate")]
        ordered = sorted(inside, key=partial(_by_exposure, name))
        if not column:
            place = {row["docno"]: at for at, row in enumerate(ordered)}
        lists.append([_cell(row, name, at, place, column > 0) for at, row in enumerate(ordered[:LISTED])])
    longest = max(map(len, lists), default=0)
    return [[one[at] if at < len(one) else None for one in lists] for at in range(longest)]


def _by_exposure(name: str, row: Mapping[str, Any]) -> tuple[float, str]:
    return -float(row["systems"][name]["exposure"]), str(row["docno"])


def _cell(row: Mapping[str, Any], name: str, at: int, place: Mapping[str, int], other: bool) -> dict[str, Any]:
    moved = place[row["docno"]] - at if other and row["docno"] in place else None
    new = other and row["docno"] not in place
    told = {"docno": row["docno"], "title": row["title"], "exposure": row["systems"][name]["exposure"]}
    return {**told, "moved": moved, "new": new}


def account_of(found: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Return the own account of a system's method: few rows a table, and the documents that the page shows."""
    account = found["systems"][name]["account"]
    if "reason" in account:
        return {"reason": account["reason"]}
    tables = [
        (title, rows[:ACCOUNT_ROWS], max(len(rows) - ACCOUNT_ROWS, 0)) for title, rows in account["tables"].items()
    ]
    return {
        "says": account["says"],
        "facts": list(account["facts"].items()),
        "tables": [(title, list(rows[0]), rows, left) for title, rows, left in tables if rows],
        "documents": _of_documents(found, name),
    }


def _of_documents(found: Mapping[str, Any], name: str) -> dict[str, Any] | None:
    """Return the method's numbers of the documents that the page shows, None where it has none."""
    rows = [(row["docno"], row["systems"][name]["own"]) for row in shown_documents(found) if name in row["systems"]]
    columns = next((list(own) for _, own in rows if own), [])
    named = [(docno, [own[column] for column in columns]) for docno, own in rows if own]
    return {"names": columns, "rows": named} if named else None


def _values(row: Mapping[str, Any]) -> list[float]:
    return [value for one in row["systems"].values() for value in (one["exposure"], one["target"] or 0.0)]


def _largest_of_group(row: Mapping[str, Any]) -> float:
    return max(max(float(one["exposure"]), float(one["target"] or 0.0)) for one in row["systems"].values())


def _steps_of_groups(groups: Sequence[Mapping[str, Any]], name: str) -> list[str]:
    """Return the steps that a system's groups have."""
    return next((list(row["systems"][name]["steps"]) for row in groups if name in row["systems"]), [])


def _used_steps(found: Mapping[str, Any]) -> dict[str, str]:
    used = {step for by_system in found["why"].values() for one in by_system.values() for step in one["steps"]}
    return {step: text for step, text in found["steps"].items() if step in used}


def rank_ranges(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the rows of a document's ranks with those beyond rank 10 put together: 11-20, 21-50, 51-100 and so on."""
    out: list[dict[str, Any]] = []
    for row in rows:
        if row["from"] <= SINGLE_RANKS or not out or out[-1]["to"] <= SINGLE_RANKS or _range(row) != _range(out[-1]):
            out.append(dict(row))
            continue
        last = out[-1]
        chance, value = last["probability"] + row["probability"], last["exposure"] + row["exposure"]
        weight = value / chance if chance > 0.0 else None
        out[-1] = {"from": last["from"], "to": row["to"], "probability": chance, "exposure": value, "weight": weight}
    return out


def _range(row: Mapping[str, Any]) -> int:
    """Return the end of the range in which a row's ranks lie."""
    scale = 10
    while True:
        for step in (2, 5, 10):
            if row["from"] <= scale * step:
                return scale * step
        scale *= 10


def _has(documents: Sequence[Mapping[str, Any]]) -> dict[str, bool]:
    """Return which columns have any value."""
    keys = ("grade", "score", "rank", "belief", "probability")
    found = {key: any(row[key] is not None for row in documents) for key in keys}
    return {**found, "belief": any(row["belief"] != row["score"] for row in documents)}


def _title(found: Mapping[str, Any], docno: str) -> str:
    return next((str(row["title"]) for row in found["documents"] if row["docno"] == docno), "")


NOTHING = 1e-9  # what is shown as 0 has no sign


def _signed(value: float | None) -> str:
    if value is None:
        return number(None)
    shown = number(abs(value))
    return shown if abs(value) < NOTHING else f"{'+' if value >= 0 else '−'}{shown}"


def _percent(value: float | None) -> str:
    """Return a chance; what is neither never nor always is not shown as 0 % or 100 %."""
    if value is None:
        return number(None)
    if 0.0 < value < 0.0005:
        return "<0.1%"
    return ">99.9%" if 0.9995 < value < 1.0 - 1e-12 else f"{100.0 * value:.1f}%"


def _width(value: float | None, largest: float) -> str:
    """Return the width of a bar in percent."""
    share = 0.0 if value is None else min(abs(value) / largest, 1.0)
    return f"{100.0 * share:.1f}"


def _median(pair: Sequence[int] | None) -> str:
    if pair is None:
        return "not ranked"
    return str(pair[0]) if pair[0] == pair[1] else f"{pair[0]}–{pair[1]}"


def _template() -> jinja2.Template:
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("rerankers.report", "."),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        **{"number": number, "words": words, "signed": _signed, "percent": _percent, "clean": clean},
        **{"ranges": rank_ranges, "width": _width, "median": _median},
    }
    return environment.get_template("side_by_side.html.j2")
