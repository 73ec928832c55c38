"""Which features to compute: the options, the families, and the cache."""

from __future__ import annotations

import dataclasses
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from rerankers._base.cache import StageCache
from rerankers._base.errors import ConfigError, MissingError, choose
from rerankers._base.fingerprint import file_fingerprint, fingerprint
from rerankers.features.base import Columns, Family, FeatureTable, tier_of
from rerankers.features.context import FeatureContext
from rerankers.features.families import FAMILIES, WITH_JAVA, choose_families
from rerankers.features.joining import joined, one_of_files
from rerankers.features.metadata import check_ratios
from rerankers.features.relative import RELATIVE, with_relative
from rerankers.features.storage import read_columns, write_columns
from rerankers.features.user_files import UserFile
from rerankers.features.user_functions import UserFunction, find_function
from rerankers.retrieval.jvm import check_heap, find_jar
from rerankers.values.qrels import met

if TYPE_CHECKING:
    from rerankers.values import Candidates, Collection

FEATURES_VERSION: Final = "features-2"
_NO_MATTER: Final = (
    "threads",
    "heap",
    "functions",
    "families",
    "fields",
)  # to what the cache holds: these have their own keys


@dataclass(frozen=True, slots=True)
class FeatureSet:
    """Features of candidates.

    Attributes
    ----------
    families
        names of `FAMILIES`; None takes those that the collection has what they need for, the others are counted.
    relative
        forms within the query, added for every feature that differs within one: ``rank``, ``zscore``.
    fields
        text fields; None takes all of the collection.
    files
        CSV or TSV files of features of pairs (``qid``, ``docno``), documents (``docno``), queries (``qid``) or
        authors (``author_id``: minimum, mean and maximum over a document's authors). Two files may have the same
        columns for different pairs, one for training and one for evaluation, say.
    functions
        functions of the user's own, ``package.module:function``.
    only
        patterns (``*`` and ``?``) of features that are kept, a feature's forms with it; None keeps all.
    exclude
        patterns of features that are left out, a feature's forms with it: what defines the groups of an evaluation,
        for instance. It is stronger than ``only``.
    ratios
        ``A/B`` of two facts about documents or two about authors, such as ``num_citations/num_papers``.
    log_fields
        patterns of fields of documents and authors that are counts and enter as log(1 + x).
    k1, b
        of BM25.
    mu
        of query likelihood.
    threads, heap
        of Java; they change no number.
    """

    families: list[str] | None = None
    relative: list[str] = field(default_factory=lambda: list(RELATIVE))
    fields: list[str] | None = None
    files: list[str] = field(default_factory=list)
    functions: list[str] = field(default_factory=list)
    only: list[str] | None = None
    exclude: list[str] = field(default_factory=list)
    ratios: list[str] = field(default_factory=list)
    log_fields: list[str] = field(
        default_factory=lambda: ["n_*", "num_*", "*count", "*citations*", "*papers*", "*links*"]
    )
    k1: float = 0.9
    b: float = 0.4
    mu: float = 1000.0
    threads: int | None = None
    heap: str = "4g"

    def __post_init__(self) -> None:
        for key, chosen, known in (("families", self.families, FAMILIES), ("relative", self.relative, RELATIVE)):
            for name in chosen or ():
                choose(f"features.{key}", name, known)
        for key in ("families", "relative", "fields", "files", "functions", "ratios"):
            twice = [name for name, times in Counter(getattr(self, key) or ()).items() if times > 1]
            if twice:
                raise ConfigError(f"features.{key}: found {twice[0]!r} twice; expected each name once")
        if self.fields is not None and not self.fields:
            raise ConfigError("features.fields: found an empty list; expected field names, or null for all")
        if self.only is not None and not self.only:
            raise ConfigError("features.only: found an empty list; expected patterns of features, or null for all")
        for ratio in self.ratios:
            if not all(ratio.partition("/")):
                raise ConfigError(f"features.ratios: found {ratio!r}; expected A/B, two names of facts")
        if not (math.isfinite(self.k1) and self.k1 >= 0 and 0 <= self.b <= 1):
            raise ConfigError(f"features.k1, b: found {self.k1}, {self.b}; expected k1 >= 0 and 0 <= b <= 1")
        if not (math.isfinite(self.mu) and self.mu > 0):
            raise ConfigError(f"features.mu: found {self.mu}; expected a number above 0")
        if self.threads is not None and self.threads < 1:
            raise ConfigError(f"features.threads: found {self.threads}; expected at least 1, or null for all cores")
        check_heap(self.heap)

    def describe(self) -> dict[str, Any]:
        """Return the options as plain values; ``FeatureSet(**described)`` gives the set back."""
        return dataclasses.asdict(self)

    def excludes(self, name: str) -> bool:
        """Return whether ``exclude`` names a feature."""
        return any(fnmatchcase(name, pattern) for pattern in self.exclude)

    def keeps(self, name: str) -> bool:
        """Return whether a feature, by its own name, is kept: ``only`` names it or is null, ``exclude`` does not."""
        chosen = self.only is None or any(fnmatchcase(name, pattern) for pattern in self.only)
        return chosen and not self.excludes(name)

    def compute(
        self, collection: Collection, candidates: Candidates, cache: Path, allowed: Sequence[str] = ()
    ) -> FeatureTable:
        """Return the features of every pair, from the cache where equal ones were computed before.

        Judgments, groups and truth of the collection are taken away first. The features of a query depend on it, its
        candidates and the collection's documents; on no other query.

        Parameters
        ----------
        collection, candidates
            coded alike.
        cache
            the folder for indexes and results.
        allowed
            packages whose functions may be called.

        Raises
        ------
        ConfigError
            for families that the collection lacks something for, unknown fields, functions outside the allowed
            packages, a name that two sources give, and when no feature is left.
        InputError
            for candidates that do not fit the collection, and with every problem of a file and its line.
        MissingError
            when a file is not there; when Java or pyserini is missing for ``bm25`` and ``query_likelihood``.
        """
        for target in self.functions:
            find_function(target, allowed)
        context = FeatureContext.of(collection, candidates, self, cache)
        check_ratios(context)
        chosen, left_out = choose_families(self.families, context)
        entry, _ = StageCache(cache).get_or_make(
            FEATURES_VERSION,
            self._inputs(context, [family.name for family in chosen]),
            lambda folder: write_columns(folder, self._cached(context, chosen), candidates.nnz),
        )
        parts = [read_columns(entry)]
        for target in self.functions:
            found = UserFunction(target, tuple(allowed)).columns(context)
            parts.append(with_relative(found, candidates.row_index, len(candidates), self.relative))
        return self._table(joined(parts), candidates.nnz, left_out)

    def _cached(self, context: FeatureContext, chosen: Sequence[Family]) -> Columns:
        parts = [family.columns(context) for family in chosen]
        parts += [one_of_files({path: UserFile(path).columns(context) for path in self.files})]
        over = context.candidates
        return with_relative(joined(parts), over.row_index, len(over), self.relative)

    def _inputs(self, context: FeatureContext, families: Sequence[str]) -> dict[str, object]:
        collection, over = context.collection, context.candidates
        idle = _NO_MATTER if self.files else (*_NO_MATTER, "exclude", "only")
        options = {key: value for key, value in self.describe().items() if key not in idle}
        return {
            "collection": collection.fingerprint,
            "documents": None if collection.documents is None else collection.documents.fingerprint,
            "docs": collection.docs.fingerprint,
            "queries": fingerprint(collection.topics.ids.fingerprint, list(context.query_texts)),
            "candidates": fingerprint(over.query, over.indptr, over.doc, dict(over.columns)),
            "families": list(families),
            "fields": context.fields,
            "options": fingerprint(options),
            "files": [_content(path) for path in self.files],
            "lucene": _jar() if any(name in WITH_JAVA for name in families) else None,
        }

    def _table(self, columns: Columns, pairs: int, left_out: Mapping[str, int]) -> FeatureTable:
        names = [name for name in columns.values if not self._left_out(name, columns.values)]
        if not names:
            raise ConfigError(
                "features: no feature is left; expected at least one: see features.families, .only and .exclude"
            )
        values = np.stack([columns.values[name] for name in names], axis=1)
        counts = {
            **columns.counts,
            **left_out,
            **met(
                features_without_any_value=int(np.isnan(values).all(axis=0).sum()) if pairs else 0,
                exclude_patterns_that_match_nothing=_idle(self.exclude, columns.values),
                only_patterns_that_match_nothing=_idle(self.only or (), columns.values),
            ),
        }
        sources = {name: columns.sources[name] for name in names}
        return FeatureTable(values, tuple(names), tier_of(sources.values()), counts, sources)

    def _left_out(self, name: str, names: Mapping[str, object]) -> bool:
        base, _, kind = name.rpartition(".")
        own = (name, base) if kind in RELATIVE and base in names else (name,)
        return any(map(self.excludes, own)) or not any(map(self.keeps, own))


def _idle(patterns: Sequence[str], names: Iterable[str]) -> int:
    known = list(names)
    return sum(not any(fnmatchcase(name, pattern) for name in known) for pattern in patterns)


def _jar() -> str:
    try:
        return find_jar().name
    except MissingError as error:
        others = ", ".join(name for name in FAMILIES if name not in WITH_JAVA)
        raise MissingError(
            f"{error}, or name families that do without Java, of: features.families=[{others}]"
        ) from error


def _content(path: str) -> str:
    file = Path(path)
    if not file.is_file():
        raise MissingError(f"{path}: no such file. Check features.files; relative paths start at {Path.cwd()}")
    return file_fingerprint(file)
