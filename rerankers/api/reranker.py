"""A method on frames of many queries, without files: what pipelines call."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from rerankers._base.errors import ConfigError, choose
from rerankers.api.labels import HeldGroups
from rerankers.api.named_policy import NamedPolicy, check_browsing
from rerankers.api.rows import Source, source_of
from rerankers.measures.evaluation import Options
from rerankers.methods import METHODS, answered, check_method, check_policy
from rerankers.methods.targets import as_target
from rerankers.stages.aim import aims_at_target, takes_groups
from rerankers.stages.block import seen_by
from rerankers.stages.pool import Part, make_pool
from rerankers.values import Ids, Judgments, Topics

if TYPE_CHECKING:
    from rerankers.exposure.browsing import BrowsingModel
    from rerankers.values import GroupAlignment


class Reranker:
    """A method that reranks frames.

    Frames have a row a candidate: ``qid`` (``query_id``, ``q_id``), ``docno`` (``doc_id``), and ``score`` or ``rank``;
    pandas, polars or Arrow. Other columns travel along. What comes back is of the same kind, with ``rank`` and
    ``score`` set anew, and ``sample`` where several rankings are drawn.

    Parameters
    ----------
    method
        a method's name, for instance ``"kl_tilt"``, or a method.
    target
        for methods that aim at one: its name, a mapping group -> share, or a target; None: ``equal_exposure``.
    groups
        for methods that may see groups: ``{docno: group | [groups] | {group: weight} | None}``, a frame with
        ``docno,group`` (and ``attribute``, ``weight``), an object of `rerankers.collections` such as
        ``FileGroups(path)``, or the name of a column of the frames to rerank.
    seed
        of everything that is drawn. Equal seeds give equal bits, whatever other queries a frame has.
    browsing
        how users look at a ranking; None: GERR with patience .5 and satisfaction .5.
    cutoff
        ranks that carry exposure; None for all.
    unknown, mixed
        what becomes of documents without a group, and with several; see `rerankers.collections.FileGroups`.
    k
        candidates kept a query, the best ones.
    method_options, **options
        the method's own options, for instance ``temperature=0.5``; ``method_options`` for names that are taken above.

    Raises
    ------
    ConfigError
        for an unknown method or option value, a target that the method does not aim at, groups that it does not see.

    Notes
    -----
    The same rankings as ``fair-rerank run retriever=run_file`` draws of the same candidates, groups, options and seed.
    A browsing model that needs the highest grade (`ERR`) is to be given it: no judgments are known here. An object
    holds no state: it may be used from several threads.
    """

    def __init__(
        self,
        method: Any,
        *,
        target: Any = None,
        groups: Any = None,
        seed: int = 0,
        browsing: BrowsingModel | None = None,
        cutoff: int | None = None,
        unknown: str = "count",
        mixed: str = "own_group",
        k: int = 1000,
        method_options: Mapping[str, Any] | None = None,
        **options: Any,
    ) -> None:
        self.method = _built(method, {**options, **(method_options or {})})
        self.name = method if isinstance(method, str) else type(method).__name__
        if target is not None and not aims_at_target(self.method):
            raise ConfigError(f"target: found {target!r}; expected None, since {self.name} aims at none")
        self.target = as_target("equal_exposure" if target is None else target)
        if groups is not None and not takes_groups(self.method, self.target):
            raise ConfigError(f"groups: found some, which have no effect: {self.name} sees no groups")
        if not isinstance(k, int) or k < 1:
            raise ConfigError(f"k: found {k!r}; expected a whole number, at least 1")
        check_browsing(browsing)
        self.seed, self.k = seed, k
        self.column = groups if isinstance(groups, str) else None
        self.unknown, self.mixed = unknown, mixed
        self._groups = groups if self.column is None else None
        if self._groups is not None and not callable(getattr(groups, "align_documents", None)):
            self._groups = self._held(groups)
        self._options = Options(cutoff=cutoff) if browsing is None else Options(browsing=browsing, cutoff=cutoff)

    def policy(self, frame: Any) -> NamedPolicy:
        """Return the policy over a frame's candidates: draw from it, or ask for its exact expected exposure.

        Raises
        ------
        InputError
            with everything that is wrong with the frame.
        ConfigError
            as the method, for instance where it needs groups and there are none.
        """
        return self._policy(source_of(frame))

    def rank(self, frame: Any) -> Any:
        """Return the frame reranked by one ranking a query: the policy's first draw (``sample(frame, 1)``)."""
        source = source_of(frame)
        return source.ranked(self._policy(source).sample(1), with_sample=False)

    def sample(self, frame: Any, n: int, first: int = 0) -> Any:
        """Return n rankings a query, drawn independently, with a column ``sample`` from 0.

        A frame of several rankings a query must not go to measures of single rankings, which would merge them:
        group by ``sample`` first, or judge it with `rerankers.measures.evaluate`.

        Parameters
        ----------
        n
            rankings a query, 0 or more.
        first
            number of the first of them: draw i is the same however many are drawn.
        """
        source = source_of(frame)
        return source.ranked(self._policy(source).sample(n, first=first), with_sample=True)

    def _policy(self, source: Source) -> NamedPolicy:
        run = source.run
        rows = source.candidates(self.k)
        topics = Topics.of(run.qids, [""] * len(run.qids))
        labels = self._groups if self.column is None else self._held(source.labels(self.column))
        docs, aligned = run.docs, dict[str, "GroupAlignment"]()
        if labels is not None:
            # Over all documents that have a label, so that groups and targets do not depend on who is a candidate.
            docs = Ids.union(run.docs, labels.docs()) if isinstance(labels, HeldGroups) else run.docs
            aligned = dict(labels.align_documents(docs))
        pool = make_pool(docs, topics, rows.recode(run.docs.recoder(docs)), _no_judgments(), aligned)
        target = self.target if aims_at_target(self.method) else None
        part = Part(pool.candidates, pool.judgments, pool.stream)
        options = replace(self._options, seed=self.seed)
        block = part.block(seen_by(self.method, pool.groups, None), options, target)
        policy, counts = answered(self.method, block)
        check_policy(policy, self.method, block)
        return NamedPolicy(policy, run.qids, pool.docs, self.seed, options, dict(counts))

    def _held(self, labels: Any) -> HeldGroups:
        return HeldGroups(labels, unknown=self.unknown, mixed=self.mixed)

    def __repr__(self) -> str:
        return f"Reranker({self.method!r}, seed={self.seed})"


def _built(method: Any, options: Mapping[str, Any]) -> Any:
    if not isinstance(method, str):
        if options:
            raise ConfigError(f"method: found options {', '.join(options)} beside an object; set them in the object")
        check_method(method)
        return method
    kind = METHODS[choose("method", method, METHODS)]
    for name in options:
        choose(f"options of method {method}", name, [field.name for field in fields(kind) if field.init])
    try:
        return kind(**options)
    except TypeError as error:
        raise ConfigError(f"method {method}: {error}") from error


def _no_judgments() -> Judgments:
    return Judgments.empty().with_columns(grade=np.empty(0, np.int16))
