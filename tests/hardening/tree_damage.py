"""Values of YAML and JSON files, and tables, that are nearly right: of another type, missing, or under another name."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import yaml
from damage import damaged

ODD: list[Any] = [None, "x", "", -1, 0, 1.5, 2**70, 1e308, float("nan"), float("inf"), [], {}, [[]], {"a": 1}, True]


def harm(path: Path, chance: random.Random) -> None:
    """Change a file: by its form mostly, by its bytes now and then; or it is a folder, empty, or gone."""
    kind = chance.randrange(20)
    if kind < 2:
        path.unlink()
        if kind == 1:
            path.mkdir()
    elif kind > 12:
        path.write_bytes(damaged(path.read_bytes(), chance))
    elif path.suffix == ".json":
        path.write_text(json.dumps(other_tree(json.loads(path.read_text()), chance)))
    elif path.suffix == ".yaml":
        path.write_text(yaml.safe_dump(other_tree(yaml.safe_load(path.read_text()), chance)))
    elif path.suffix == ".parquet":
        pq.write_table(other_table(pq.read_table(path), chance), path)
    else:
        path.write_bytes(b"")


def other_tree(value: Any, chance: random.Random) -> Any:
    """Return a value that is nearly the given one; what stands near its root changes as often as what stands deep."""
    value = copy.deepcopy(value)
    places = list(_places(value, ()))
    depth = chance.randrange(1, 5)
    *before, last = chance.choice([place for place in places if 0 < len(place) <= depth])
    holder = value
    for key in before:
        holder = holder[key]
    kind = chance.randrange(4)
    if kind == 0:
        del holder[last]
    elif kind == 1 and isinstance(holder, dict):
        holder["another"] = holder.pop(last)
    else:
        holder[last] = copy.deepcopy(chance.choice(ODD))
    return value


def _places(value: Any, place: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    yield place
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in parts:
        yield from _places(part, (*place, key))


def other_table(table: pa.Table, chance: random.Random) -> pa.Table:
    """Return a table that is nearly the given one."""
    number = chance.randrange(table.num_columns)
    name, size = table.column_names[number], len(table)
    kind = chance.randrange(6)
    if kind == 0:
        return table.drop([name])
    if kind == 1:
        return table.slice(0, chance.randrange(size))
    if kind == 2:
        return pa.concat_tables([table, table])
    if kind == 3:
        return table.replace_schema_metadata(None)
    odd = chance.choice([pa.nulls(size, table.schema.types[number]), pa.array(["x"] * size), pa.array([-1.5] * size)])
    return table.set_column(number, name, odd)
