"""The joint journey in tables, for a terminal and as Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rerankers.labels.base import NEUTRAL
from rerankers.measures.anchors import DETERMINISTIC
from rerankers.report.text import cells as width_of
from rerankers.report.text import clean, interval, number
from rerankers.stages.presence_measures import CWEX, NFAIRR
from rerankers.values.groups import UNKNOWN

if TYPE_CHECKING:
    from rerankers.report import Picture

Table = tuple[str, list[list[str]]]
"""What a table says, and its rows, the header first."""

NO_GROUP = "no text is labelled as of any group: presence is the same whatever is ranked, and tables leave it out"
CAUTIONS = (
    "Labels say which gender a text speaks about (presence), not whether it is biased: a true list may well be of one.",
    "CWEx does not see which group leads: read it beside the gap (male minus female; of other groups the largest share "
    "less the smallest). At alpha 0.5 it is one half minus the leading group's share, where every text has a label.",
    "Word lists favour labellers that count words where texts were made by exchanging gendered words.",
    "optimum: the best for what reranking believes of relevance, where scores are all that is known a guess from them.",
    "attainable: the best that the retrieved lists allow with relevance and labels known; no reranker knows relevance.",
)


def terminal(found: Mapping[str, Any]) -> list[str]:
    """Return the tables as lines of aligned columns; of the families only their ends, of the fronts none."""
    lines = [*(f"warning: {note}" for note in _first(found)), _about(found)]
    for title, rows in (_systems(found, found["attributes"]["labelled"], short=True), *_choice(found)):
        widths = [max(width_of(row[place]) for row in rows) for place in range(len(rows[0]))]
        lines += ["", title]
        for row in rows:
            lines.append("  ".join(_padded(row[place], width, place) for place, width in enumerate(widths)).rstrip())
    return [*lines, "", *_verdicts(found), *_later(found)]


def markdown(found: Mapping[str, Any], pictures: Sequence[tuple[Picture, str]] = ()) -> str:
    """Return the tables, pictures (with their folder) and notes as Markdown."""
    lines = [
        f"# Presence and utility: {clean(str(found['collection']))}",
        "",
        *(f"**Warning: {note}**\n" for note in _first(found)),
        _about(found),
        "",
    ]
    for title, (header, *rows) in tables(found):
        lines += [f"## {title}", "", _line(header), _line(["---"] * len(header)), *map(_line, rows), ""]
    for picture, folder in pictures:
        lines += [f"![{picture.title}]({folder}/{picture.name}.png)", "", clean(picture.caption), ""]
    return "\n".join([*lines, *(f"- {note}" for note in (*_verdicts(found), *_later(found), *CAUTIONS)), ""])


def tables(found: Mapping[str, Any]) -> list[Table]:
    """Return the systems by whose labels, the labels themselves, and whether the choice of labels matters."""
    attributes = [name for name in found["attributes"].values() if name is not None]
    return [*(_systems(found, name) for name in attributes), *_labels(found), *_choice(found)]


def _systems(found: Mapping[str, Any], attribute: str, short: bool = False) -> Table:
    keys = {"nDCG": found["keys"][""]["nDCG"], **found["keys"][attribute]}
    names = [name for name in ("nDCG", NFAIRR, CWEX, "CWEx_neutral", "CWEx_gap") if name in keys]
    names = names if speaks_of_groups(found, attribute) else ["nDCG"]
    apart = [name for name in ("nDCG", NFAIRR, CWEX) if name in names]
    rows = [["system", *(name.replace("_", " ") for name in names), *(f"{name} - first stage" for name in apart)]]
    for row in _shown(found["systems"]) if short else found["systems"]:
        means = [number(row["mean"][keys[name]]["mean"]) for name in names]
        rows.append([clean(row["system"]), *means, *(_apart(row, keys[name]) for name in apart)])
    cutoff = found["options"]["cutoff"]
    return f"At {cutoff}, by the labels of {attribute}", rows


def speaks_of_groups(found: Mapping[str, Any], attribute: str) -> bool:
    """Return whether a text is labelled as of a group: else presence is the same whatever is ranked."""
    documents = found["labels"]["documents"][attribute]
    return any(number for label, number in documents.items() if label not in (NEUTRAL, UNKNOWN))


def _first(found: Mapping[str, Any]) -> list[str]:
    """Return what is said before everything else: notes without which tables mislead."""
    return [note for note in found["notes"] if note == NO_GROUP]


def _later(found: Mapping[str, Any]) -> list[str]:
    return [note for note in found["notes"] if note != NO_GROUP]


def _shown(rows: Sequence[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    """Yield the first and last system of each family, and the anchors."""
    families: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        if not row["front"]:
            families.setdefault(row["system"] if row["anchor"] else row["family"], []).append(row)
    for members in families.values():
        yield members[0]
        if len(members) > 1:
            yield members[-1]


def _apart(row: Mapping[str, Any], key: str) -> str:
    one = None if row["difference"] is None else row["difference"][key]
    if one is None or one["mean"] is None or row["system"] == DETERMINISTIC:
        return "-"
    ends = "" if one["low"] is None else f" {interval((one['low'], one['high']))}"
    return f"{number(one['mean'])}{ends}"


def _labels(found: Mapping[str, Any]) -> list[Table]:
    both = found["labels"]["given_by_labelled"]
    if both is None:
        return []
    columns = list(next(iter(both.values())))
    rows = [["given", *columns], *([row, *(f"{counts[name]:,}" for name in columns)] for row, counts in both.items())]
    return [("Documents by given label (rows) and by the labeller's (columns)", rows)]


def _choice(found: Mapping[str, Any]) -> list[Table]:
    if not found["choice"] or _first(found):
        return []
    rows = [["measure", "systems", "mean shift", "moved (mean)", "moved (most)", "Kendall tau", "conclusions kept"]]
    for one in found["choice"]:
        moved = [number(one[key]) for key in ("shift", "moved", "moved_most", "tau")]
        rows.append([one["measure"], str(one["systems"]), *moved, f"{one['kept']} of {one['conclusions']}"])
    return [("Measured by the labeller's labels less by the given ones", rows)]


def _verdicts(found: Mapping[str, Any]) -> list[str]:
    """Return a sentence for each measure on whether the choice of labels changes what is concluded."""
    out = []
    for one in () if _first(found) else found["choice"]:
        if one["measure"] not in (NFAIRR, CWEX) or one["tau"] is None:
            continue
        words = "keeps" if one["kept"] == one["conclusions"] else "changes"
        out.append(
            f"{one['measure']}: the choice of labels moves values by {number(one['moved'])} on average "
            f"(most: {number(one['moved_most'])}, {one['where']}), orders the systems with Kendall's tau "
            f"{number(one['tau'])}, and {words} the conclusions about the first stage "
            f"({one['kept']} of {one['conclusions']} stay)."
        )
    return out


def _about(found: Mapping[str, Any]) -> str:
    options = found["options"]
    documents = found["labels"]["documents"][found["attributes"]["labelled"]]
    sizes = ", ".join(f"{clean(label)} {number:,}" for label, number in documents.items())
    return (
        f"{clean(str(found['collection']))}: {found['queries']:,} queries, {len(found['systems'])} systems. Labels: "
        f"{clean(options['groups'])}. Target of kl_tilt: {clean(options['target'])}. "
        f"CWEx at alpha {options['alpha']:g}. Intervals: {100 * options['confidence']:g} % over queries. "
        f"Documents by label: {sizes}."
    )


def _padded(text: str, width: int, place: int) -> str:
    gap = " " * (width - width_of(text))
    return f"{text}{gap}" if place == 0 else f"{gap}{text}"


def _line(row: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |"
