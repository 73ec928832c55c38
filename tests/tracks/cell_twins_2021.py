"""Alignments and targets of task 1 of 2021 written out as full arrays."""

from __future__ import annotations

import numpy as np

PLACES = [
    "Unknown",
    "Africa",
    "Antarctica",
    "Asia",
    "Europe",
    "Latin America and the Caribbean",
    "Northern America",
    "Oceania",
]
WORLD = np.array([0.155070563, 1.54424e-07, 0.600202585, 0.103663858, 0.08609797, 0.049616733, 0.005348137])
GENDER = np.array([0.495, 0.495, 0.01])


def dense_targets(pages, topics):
    """Return page -> (32,) in an array by page number, and topic -> (31,)."""
    align = np.zeros((max(page["page_id"] for page in pages) + 1, 8, 4))
    seen = set()
    for page in pages:
        if page["page_id"] in seen:
            continue
        seen.add(page["page_id"])
        places = [PLACES.index(place) for place in page["geographic_locations"]] or [0]
        word = [value.replace("transgender ", "") for value in page["gender"]]
        genders = [{"female": 1, "male": 2}.get(value, 3) for value in word] or [0]
        for place in places:
            align[page["page_id"], place, genders] = 1
    targets = {}
    for topic in topics:
        total = align[sorted(set(topic["rel_docs"]))].sum(axis=0)
        total[0, 0] = 0
        if total.sum() == 0:
            total[1:, 1:] = np.outer(WORLD, GENDER)
        else:
            total /= total.sum()
            both, place, gender = total[1:, 1:], total[1:, 0], total[0, 1:]
            total[1:, 1:] = both / 2 + both.sum() / 2 * np.outer(WORLD, GENDER)
            total[1:, 0] = place / 2 + place.sum() / 2 * WORLD
            total[0, 1:] = gender / 2 + gender.sum() / 2 * GENDER
        targets[str(topic["id"])] = total.ravel()[1:]
    return align.reshape(len(align), 32), targets
