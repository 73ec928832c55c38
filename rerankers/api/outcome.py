"""What a command leaves, for a notebook: its folder, its files as tables, what it said."""

from __future__ import annotations

import html
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rerankers._base.errors import InputError, MissingError
from rerankers._base.files import unwritable
from rerankers._base.own_files import own_json, own_yaml

if TYPE_CHECKING:
    import pyarrow as pa

    from rerankers.api.job import Done


class Outcome:
    """The end of a job.

    Attributes
    ----------
    command
        its name.
    folder
        of the files that it left; None for commands that leave none. A job without ``output`` has a temporary folder,
        which is removed with the last object that belongs to it: `save` keeps it.
    config
        the resolved options.
    text
        what the command would have printed.
    repeated
        the line that repeats the job in a shell. Objects of the caller stand there in angle brackets.
    """

    def __init__(self, done: Done) -> None:
        self.command = done.command
        self.folder = done.folder
        self.config: Mapping[str, Any] = done.config
        self.text = f"{done.said.out}{done.said.err}"
        self.repeated = done.repeated
        self._keeper = done.keeper

    @property
    def files(self) -> list[str]:
        """Names of the files in the folder, those of subfolders with their path; hidden ones are left out."""
        if self.folder is None:
            return []
        found = (path.relative_to(self.folder) for path in self.folder.rglob("*") if path.is_file())
        return sorted(path.as_posix() for path in found if not any(part.startswith(".") for part in path.parts))

    def path(self, name: str) -> Path:
        """Return the path of a file.

        Raises
        ------
        MissingError
            when there is no such file; the message lists those that are there.
        """
        path = None if self.folder is None else self.folder / name
        if path is None or not path.is_file():
            raise MissingError(f"{name}: no such file; the job left {', '.join(self.files) or 'none'}")
        return path

    def content(self, name: str) -> Any:
        """Return a file's content: Arrow tables for CSV, TSV and parquet, objects for JSON and YAML, else the text.

        Raises
        ------
        MissingError
            when there is no such file.
        InputError
            when it is damaged.
        """
        import pyarrow as pa

        path = self.path(name)
        try:
            return read_any(path)
        except InputError:
            raise
        except (pa.ArrowException, ValueError, OSError) as error:
            expected = f"what fair-rerank {self.command} has written"
            raise InputError.one(str(path), f"a file that cannot be read ({error})", expected) from error

    def save(self, folder: str | Path) -> Path:
        """Copy the files to a folder of your own, and return it; files that are there already are replaced.

        Raises
        ------
        MissingError
            for commands that leave no folder.
        ConfigError
            for a folder that cannot be written.
        """
        import shutil

        if self.folder is None:
            raise MissingError(f"{self.command}: nothing to save; this command leaves no folder")
        target = Path(folder)
        try:
            shutil.copytree(self.folder, target, dirs_exist_ok=True, ignore=shutil.ignore_patterns(".fair-rerank*"))
        except OSError as error:
            raise unwritable(target, error) from error
        return target

    def __repr__(self) -> str:
        where = "" if self.folder is None else f", folder={str(self.folder)!r}"
        return f"{type(self).__name__}(command={self.command!r}{where})"

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(self.text or repr(self))}</pre>"


def read_any(path: Path) -> Any:
    """Return a file's content by its suffix; see `Outcome.content`."""
    suffix = path.suffix
    if suffix == ".parquet":
        import pyarrow.parquet as pq

        return pq.read_table(path)
    if suffix in (".csv", ".tsv"):
        return _delimited(path, "\t" if suffix == ".tsv" else ",")
    if suffix == ".json":
        return own_json(path, "what a job has written")
    if suffix in (".yaml", ".yml"):
        return own_yaml(path, "what a job has written")
    return path.read_text(encoding="utf-8") if suffix not in (".gz", ".zst", ".png") else path.read_bytes()


def _delimited(path: Path, sign: str) -> pa.Table:
    from pyarrow import csv

    return csv.read_csv(path, parse_options=csv.ParseOptions(delimiter=sign))
