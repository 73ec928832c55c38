"""From the tables of a Wikipedia track's preset to what is reported about them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

from rerankers.tracks.preset import Outcome, departures, options_of, preset

if TYPE_CHECKING:
    import pyarrow as pa

    from rerankers.tracks.wiki_files import Files
    from rerankers.tracks.wiki_preset import WikiPreset

WORDS: Mapping[str, str] = {
    "dimensions": "which ways of grouping pages count",
    "depth": "pages a ranking may hold",
    "eval_depth": "pages of each ranking that are judged",
    "ideal_depth": "relevant pages in the ideal ranking",
    "eval_samples": "rankings of each topic that are judged",
    "target_mass_depth": "ranks whose exposure the target holds",
    "relevant_only": "only relevant pages get exposure",
    "min_tier": "topics judged less deeply are left out",
    "reader": "how ranks are counted",
    "duplicates": "pages that come again in a ranking",
    "long_rankings": "rankings with too many pages",
    "missing_query": "judged topics that the run lacks",
    "unjudged_query": "topics of the run without judgments",
    "gender_rows": "pages of two genders",
    "relevant_without_row": "relevant pages that the page file lacks",
    "no_known_relevant": "target of a topic whose relevant pages are all unknown",
    "background_share": "share of the world in the target",
    "discount_dtype": "precision of the discount",
    "unknown_cell": "the cell in which nothing is known",
    "unknown_pages": "ranked pages that the page file lacks",
    "empty_alignment": "rankings that reach no group",
    "awrf_scale": "scale of AWRF",
    "drop_values": "values of the gender field that are none",
    "world_population": "population of the world's regions",
}
_FLAGS = {
    "topics_without_target": "of the topics have no target: no relevant page has a cell",
    "topics_with_background_target": "of the topics have no known relevant page: their target is the background alone",
    "rankings_without_any_group": "of the rankings hold no page of a known group",
    "topics_missing": "of the judged topics are missing from the run",
    "topics_not_judged": "of its topics are not judged and left out",
    "pages_not_in_the_page_file": "of the ranked pages are not in the page file",
    "repeated_pages": "of its rows name a page again",
    "rankings_in_parts": "of the rankings are in parts: their lines are not together",
}


def outcome(used: WikiPreset, files: Files, tables: Mapping[str, pa.Table]) -> Outcome:
    """Return the tables with counts, options, differences from the corrected form, warnings and a summary."""
    corrected = preset(f"{used.name.rpartition('_')[0]}_corrected")
    cells = math.prod(len(dimension.groups) for dimension in files.table.dimensions)
    warnings = [
        f"{name}: {count} {_FLAGS[key]}"
        for name in files.runs
        for key, count in files.counts[name].items()
        if key in _FLAGS
    ]
    asked = files.relevant.page
    with_row = int((files.table.rows(asked) >= 0).sum())
    summary = {
        "dimensions": ", ".join(f"{one.name} ({len(one.groups)})" for one in files.table.dimensions),
        "cells": f"{cells:,}",
        "relevant pages in the page file": f"{with_row:,} of {len(asked):,}",
        "AWRF" if hasattr(used, "awrf_scale") else "EEL": _range(used),
    }
    return Outcome(
        tables=dict(tables),
        counts={part: dict(counts) for part, counts in files.counts.items()},
        options={name: list(one) if isinstance(one, tuple) else one for name, one in options_of(used).items()},
        differences=departures(used, corrected, WORDS),
        warnings=tuple(warnings),
        summary=summary,
    )


def _range(used: WikiPreset) -> str:
    scale = getattr(used, "awrf_scale", None)
    if scale is None:
        return "squared distance of groups' exposure from the target; lower is better"
    return "from 0 to 1" if scale == "unit" else "1 - Jensen-Shannon divergence in nats, from 0.3069 to 1"
