"""Fair rerankers in PyTerrier pipelines: ``bm25 >> FairRerank("kl_tilt", target="population", groups=groups)``.

Two forms: one ranking a query, a result frame like any other; or ``samples=n`` draws of the policy, with a column
``sample`` and **without** ``score``. Measures of single rankings would take several rankings of a query for one, and
merge them; without scores they refuse instead. What judges draws: the measures of `rerankers.measures.ir_provider` in
``pt.Experiment``, or `experiment` here for all measures, each averaged over the rankings as it should be.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

from rerankers._base.errors import ConfigError, MissingError
from rerankers.api.reranker import Reranker

if TYPE_CHECKING:
    from rerankers.exposure.browsing import BrowsingModel

try:
    pt: Any = import_module("pyterrier")
except ModuleNotFoundError as error:
    raise MissingError("PyTerrier is not installed. Type: pip install 'fair-rerankers[pyterrier]'") from error

NEEDED = ("qid", "docno", "score")


class FairRerank(pt.Transformer):  # type: ignore[misc]
    """A transformer that reranks results by a fair method; it needs no Java.

    Parameters
    ----------
    method
        a method's name, for instance ``"kl_tilt"``, or a method.
    samples
        None: one ranking a query. n: n independent draws a query, with the column ``sample`` (from 0) in place of
        ``score``.
    sample
        which draw is the one ranking; experiments over several of them show how much chance decides.
    **options
        as of `rerankers.Reranker`: ``target``, ``groups`` (labels, or the name of a column of the results), ``seed``,
        ``browsing``, ``k`` and the method's own.

    Raises
    ------
    ConfigError
        as `rerankers.Reranker`, and for ``samples`` and ``sample`` that are no numbers of draws.

    Notes
    -----
    Results are read by score; ranks are made anew, from 0 as everywhere in PyTerrier, and scores are 1 / (rank + 1).
    Other columns travel along. The same bits as ``fair-rerank run`` draws of the same candidates, groups and seed.
    """

    def __init__(self, method: Any, *, samples: int | None = None, sample: int = 0, **options: Any) -> None:
        super().__init__()
        if samples is not None and (not isinstance(samples, int) or samples < 1):
            raise ConfigError(f"samples: found {samples!r}; expected 1 or more, or None for a single ranking")
        if not isinstance(sample, int) or sample < 0 or (sample and samples is not None):
            expected = "None beside samples" if samples is not None else "the number of a draw, 0 or more"
            raise ConfigError(f"sample: found {sample!r}; expected {expected}")
        self.samples, self.draw = samples, sample
        self.reranker = Reranker(method, **options)

    def transform(self, inp: Any) -> Any:
        """Return the results reranked.

        Parameters
        ----------
        inp
            a result frame: ``qid``, ``docno``, ``score``, and the column of groups where one is named.

        Raises
        ------
        pyterrier.validate.InputValidationError
            for columns that are missing, and for results that are draws already.
        InputError
            for scores that are not finite, or a document twice.
        """
        column = self.reranker.column
        needed = [*NEEDED, *([] if column is None else [column])]
        pt.validate.columns(inp, includes=needed, excludes=["sample"], context=self)
        if not len(inp):
            return self._shaped(inp.assign(rank=0, sample=0))
        plain = inp.drop(columns="rank", errors="ignore")
        first, n = (self.draw, 1) if self.samples is None else (0, self.samples)
        drawn = self.reranker.sample(plain, n, first)
        return self._shaped(drawn.assign(rank=drawn["rank"] - 1 + pt.model.FIRST_RANK))

    def _shaped(self, frame: Any) -> Any:
        return frame.drop(columns="sample" if self.samples is None else "score")

    def __repr__(self) -> str:
        shown = f"samples={self.samples}" if self.samples is not None else f"sample={self.draw}" if self.draw else ""
        return f"FairRerank({self.reranker.name}{', ' if shown else ''}{shown})"


def experiment(
    systems: Sequence[Any],
    topics: Any,
    qrels: Any,
    measures: Sequence[str] | None = None,
    *,
    groups: Mapping[Any, Any] | None = None,
    browsing: BrowsingModel | None = None,
    names: Sequence[str] | None = None,
    perquery: bool = False,
) -> Any:
    """Judge pipelines, static and stochastic ones alike, as ``pt.Experiment`` judges static ones.

    The rankings of a query are the policy that is judged: expected exposure is theirs, classic measures are averaged
    over them.

    Parameters
    ----------
    systems
        transformers or result frames; a column ``sample`` tells the rankings of a query apart.
    topics, qrels
        frames of PyTerrier: ``qid, query`` and ``qid, docno, label``.
    measures
        names, see `rerankers.measures.parse`; None: the usual ones.
    groups, browsing
        as of `rerankers.measures.evaluate`.
    names
        of the systems; None: as they print.
    perquery
        a row a system, query and measure, not means.

    Returns
    -------
    DataFrame
        ``name`` and a column a measure: means over the judged queries that have a value. Or, of queries: ``name, qid,
        measure, value``.

    Raises
    ------
    ConfigError, InputError
        as `rerankers.measures.evaluate`.
    """
    from rerankers.api.inputs import judgments_of
    from rerankers.measures import evaluate

    pandas: Any = import_module("pandas")
    judged = judgments_of(qrels)
    shown = [str(system) for system in systems] if names is None else list(names)
    if len(shown) != len(systems):
        raise ConfigError(f"names: found {len(shown)}; expected {len(systems)}, one a system")
    tables = []
    for name, system in zip(shown, systems, strict=True):
        found = system if hasattr(system, "columns") else system(topics)
        kept = [column for column in ("qid", "docno", "score", "sample") if column in found.columns]
        kept += [] if "score" in kept else ["rank"]
        run = found[kept] if "score" in kept else found[kept].assign(rank=found["rank"] + 1 - pt.model.FIRST_RANK)
        table = evaluate(
            run, judged, groups, browsing=browsing, measures=measures, missing_query="zero_exposure"
        ).to_pandas()
        table = table[table["unit"].isin(set(judged))]
        tables.append(table.assign(name=name).rename(columns={"unit": "qid"})[["name", "qid", "measure", "value"]])
    rows = pandas.concat(tables, ignore_index=True)
    if perquery:
        return rows
    order = list(dict.fromkeys(rows["measure"]))
    means = rows.groupby(["name", "measure"], sort=False)["value"].mean().unstack()[order]
    means.columns.name = None
    return means.reindex(list(dict.fromkeys(shown))).reset_index()
