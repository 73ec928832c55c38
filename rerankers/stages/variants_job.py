"""From the config of ``variants`` to its job: the only place that knows the names of its options."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rerankers._base.errors import ConfigError, choose
from rerankers._conf import build
from rerankers.queries.generate_variants import Generation
from rerankers.queries.topic_names import TopicNames, read_topic_names
from rerankers.queries.variant_options import AnalysisOptions
from rerankers.stages.config_parts import build_part, cache_folder, check_keys, texts, whole_number
from rerankers.stages.validate import one_path
from rerankers.stages.variants_fairness import WEIGHTS
from rerankers.stages.variants_generated import Setting, settings_of
from rerankers.stages.variants_sets import SetOptions, Spec, specs_of

if TYPE_CHECKING:
    from rerankers.exposure.browsing import BrowsingModel
    from rerankers.methods import Method
    from rerankers.methods.targets import Target
    from rerankers.retrieval import Retriever

PARTS = ("retriever", "method", "target", "browsing", "groups", "llm", "paths", "allow_targets", "output")
OF_SETS = ("sets", "reference", "forms", "exclude_topics", "topics_offset", "topic_names", "most")
OF_MODEL = ("generate", "generation")
OF_RANKS = ("runs", "qrels", "depth", "depths", "analysis", "weights")
OF_BOOTSTRAP = ("samples", "seed", "confidence", "resamples")
KEYS = frozenset((*PARTS, *OF_SETS, *OF_MODEL, *OF_RANKS, *OF_BOOTSTRAP))
MAYBE = ("collection",)
OF_RUN = ("execution", "fit", "measures", "ledger", "universe", "sequence", "rounds", "predicted")
"""What experiments of ``run`` set besides."""
ANALYSIS = (
    *("stages", "rbo_p", "rbo_ties", "rbp_p", "gain", "max_grade"),
    *("interval", "permutations"),
)


@dataclass(frozen=True, slots=True)
class VariantsJob:
    """The parts of a ``variants``, already built from the config; see ``conf/variants.yaml`` for what each is.

    ``collection`` is None where the config has none; ``runs`` is name of a set -> file.
    """

    specs: Sequence[Spec]
    settings: Sequence[Setting]
    options: SetOptions
    generation: Generation
    analysis: AnalysisOptions
    collection: Any
    retriever: Retriever
    method_name: str
    method: Method
    target: Target
    browsing: BrowsingModel
    groups: Any
    llm: Any
    cache: Path
    depth: int = 100
    runs: Mapping[str, str] = field(default_factory=dict)
    qrels: Path | None = None
    weights: str = WEIGHTS[0]
    samples: int = 100
    config: Mapping[str, Any] = field(default_factory=dict)
    command: str = ""

    def __post_init__(self) -> None:
        choose("weights", self.weights, WEIGHTS)
        if callable(getattr(self.method, "serve", None)) and getattr(self.method, "scope", "") != "query":
            raise ConfigError(
                f"method: found {self.method_name}, which keeps one ledger over many queries; expected a method whose "
                "policy for a query depends on that query alone"
            )
        if self.qrels is not None and self.collection is None and not self.runs:
            raise ConfigError(
                f"qrels: found {self.qrels}, which has no effect: nothing is retrieved without collection=… or runs=[…]"
            )
        if self.samples < 1:
            raise ConfigError(f"samples: found {self.samples}; expected at least 1")


def job_of(config: Mapping[str, Any], method: str, command: str) -> VariantsJob:
    """Build the parts of a config of ``conf/variants.yaml``'s form; options of ``run`` are left out with a note.

    Raises
    ------
    ConfigError
        for options that do not exist and values that do not fit.
    InputError, MissingError
        for a file of topic names.
    """
    spare = [key for key in OF_RUN if key in config]
    if spare:
        print(f"note: without effect here, since about single rankings: {', '.join(spare)}")
    check_keys({key: value for key, value in config.items() if key not in (*spare, *MAYBE)}, KEYS)
    part = partial(build_part, config)
    depth = _count(config, "depth")
    return VariantsJob(
        specs=specs_of(_list(config, "sets")),
        settings=settings_of(_list(config, "generate")),
        options=_set_options(config),
        generation=_built(Generation, config["generation"], "generation"),
        analysis=_analysis(config, depth),
        collection=part("collection") if config.get("collection") is not None else None,
        retriever=part("retriever"),
        method_name=method,
        method=part("method"),
        target=part("target"),
        browsing=part("browsing"),
        groups=part("groups"),
        llm=part("llm"),
        cache=cache_folder(config),
        depth=depth,
        runs=_named(_list(config, "runs"), "runs", "NAME:FILE"),
        qrels=one_path(config, "qrels"),
        weights=str(config["weights"]),
        samples=whole_number(config, "samples"),
        config=config,
        command=command,
    )


def _set_options(config: Mapping[str, Any]) -> SetOptions:
    path = one_path(config, "topic_names")
    names = {} if path is None else read_topic_names(path)
    offset = None if config["topics_offset"] is None else whole_number(config, "topics_offset")
    return SetOptions(
        reference=None if config["reference"] is None else str(config["reference"]),
        forms=_named(_list(config, "forms"), "forms", "NAME:FORM"),
        exclude_topics=tuple(_list(config, "exclude_topics")),
        names=TopicNames(names, offset),
        most=None if config["most"] is None else whole_number(config, "most"),
    )


def _analysis(config: Mapping[str, Any], depth: int) -> AnalysisOptions:
    node = config["analysis"]
    if not isinstance(node, Mapping):
        raise ConfigError(f"analysis: found {node!r}; expected its options, for instance analysis.rbo_p=0.8")
    check_keys(
        {f"analysis.{key}": value for key, value in node.items()}, frozenset(f"analysis.{key}" for key in ANALYSIS)
    )
    depths = config["depths"] if isinstance(config["depths"], list) else [config["depths"]]
    if not all(isinstance(one, int) for one in depths):
        raise ConfigError(f"depths: found {depths!r}; expected whole numbers, such as [10,100]")
    values = {**node, "stages": tuple(texts(node["stages"]))}
    return AnalysisOptions(
        depths=(*(one for one in depths if one < depth), depth),
        rbo_depth=depth,
        resamples=_count(config, "resamples"),
        confidence=_number(config, "confidence"),
        seed=whole_number(config, "seed"),
        **values,
    )


def _under(group: str, node: Mapping[str, Any]) -> dict[str, Any]:
    return {f"{group}.{key}": value for key, value in node.items()}


def _named(entries: Sequence[str], key: str, form: str) -> dict[str, str]:
    """Return name of a set -> what stands behind it."""
    out: dict[str, str] = {}
    for entry in entries:
        name, _, value = entry.partition(":")
        if not name or not value or name in out:
            raise ConfigError(f"{key}: found {entry!r}; expected {form}, each name of a set once")
        out[name] = value
    return out


def _built(kind: type[Any], node: Any, where: str) -> Any:
    return build({"_target_": f"{kind.__module__}.{kind.__qualname__}", **node}, where=where)


def _list(config: Mapping[str, Any], key: str) -> list[str]:
    return texts(config[key]) if config[key] is not None else []


def _count(config: Mapping[str, Any], key: str) -> int:
    value = whole_number(config, key)
    if value < 1:
        raise ConfigError(f"{key}: found {value}; expected at least 1")
    return value


def _number(config: Mapping[str, Any], key: str) -> float:
    value = config[key]
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ConfigError(f"{key}: found {value!r}; expected a number")
    return float(value)
