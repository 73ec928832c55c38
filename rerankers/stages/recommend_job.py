"""A ``recommend``: its parts, built from the config."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass, field, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rerankers._base.errors import ConfigError, choose
from rerankers._conf import build
from rerankers.queries.distributions import CLOSENESS
from rerankers.queries.explore import Exploring
from rerankers.queries.rerankings import AlternativeOptions
from rerankers.queries.scoring import ScoringOptions
from rerankers.stages.config_parts import build_part, cache_folder, check_keys, texts, whole_number
from rerankers.stages.recommend_held_out import HeldOut

if TYPE_CHECKING:
    from rerankers.llm import Session
    from rerankers.queries.generators.base import Generator
    from rerankers.retrieval import Retriever

PARTS = ("collection", "retriever", "generator", "groups", "llm", "paths", "allow_targets", "output")
OF_SCORES = ("depth", "relevance", "weights", "patience", "least_coverage", "form")
OF_EVALUATE = ("retriever", "browsing", "patience", "targets")
OF_ALTERNATIVES = ("methods", "pool", "joint", "draws")
KEYS = frozenset(
    (
        *PARTS,
        *OF_SCORES,
        *(
            "query",
            "topics",
            "budget",
            "shown",
            "crossed",
            "targets",
            "closeness",
            "explore",
            "alternatives",
            "evaluate",
        ),
        *("resamples", "confidence", "seed"),
    )
)
OF_RANKING = (
    "method",
    "target",
    "fit",
    "measures",
    "ledger",
    "browsing",
    "execution",
    "samples",
    "universe",
    "sequence",
)
"""What experiments of ``run`` set besides."""


@dataclass(frozen=True, slots=True)
class RecommendJob:
    """The parts of a ``recommend``; see ``conf/recommend.yaml`` for what each is."""

    collection: Any
    retriever: Retriever
    generators: Sequence[Generator]
    groups: Any
    cache: Path
    unknown: str = "drop"
    groups_asked: bool = False
    llm: Any = None
    query: Any = None
    topics: Any = "all"
    budget: int = 50
    shown: int = 5
    crossed: Sequence[str] = ()
    targets: Any = "uniform"
    closeness: str = "jsd"
    scoring: ScoringOptions = field(default_factory=ScoringOptions)
    exploring: Exploring = field(default_factory=Exploring)
    alternatives: AlternativeOptions = field(default_factory=AlternativeOptions)
    pool: int = 100
    held_out: HeldOut = field(default_factory=HeldOut)
    resamples: int = 2000
    confidence: float = 0.95
    seed: int = 0

    def __post_init__(self) -> None:
        choose("closeness", self.closeness, CLOSENESS)
        for name in ("budget", "shown", "pool", "resamples"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name}: found {getattr(self, name)}; expected at least 1")
        if not 0 < self.confidence < 1:
            raise ConfigError(f"confidence: found {self.confidence}; expected a number between 0 and 1")
        if self.pool < self.scoring.depth:
            raise ConfigError(f"alternatives.pool: found {self.pool}; expected at least depth, {self.scoring.depth}")
        most = getattr(self.retriever, "k", None)
        if isinstance(most, int) and most < self.scoring.depth:
            raise ConfigError(f"retriever.k: found {most}; expected at least depth, {self.scoring.depth}")

    @property
    def search_depth(self) -> int:
        """How many documents of a query anything looks at."""
        feedback = [int(getattr(generator, "documents", 0)) for generator in self.generators]
        return max(self.scoring.depth, self.pool, *feedback)

    def opened(self) -> AbstractContextManager[Session | None]:
        """Return the session of the language model; of nobody where no generator asks one."""
        needed = any(hasattr(generator, "completions") for generator in self.generators)
        return self.llm.session(self.cache) if needed and self.llm is not None else nullcontext()


def job_of(config: Mapping[str, Any]) -> tuple[RecommendJob, list[str]]:
    """Return the job of a config of ``conf/recommend.yaml``'s form, and the options in it that have no effect.

    Raises
    ------
    FairRerankersError
        for anything wrong with the config.
    """
    spare = [key for key in OF_RANKING if key in config]
    check_keys({key: value for key, value in config.items() if key not in spare}, KEYS)
    evaluate, other, explore = (_part(config, key) for key in ("evaluate", "alternatives", "explore"))
    _check_part("evaluate", evaluate, OF_EVALUATE)
    _check_part("alternatives", other, OF_ALTERNATIVES)
    scoring: ScoringOptions = _built(ScoringOptions, {key: config[key] for key in OF_SCORES}, "scores")
    seed = whole_number(config, "seed")
    groups, unknown = _groups(config)
    ranks = {"n": scoring.depth, "weights": scoring.weights, "patience": scoring.patience, "seed": seed}
    methods = other["methods"] or []
    options = {"methods": methods if isinstance(methods, list) else [methods], "joint": other["joint"]}
    return RecommendJob(
        collection=build_part(config, "collection"),
        retriever=build_part(config, "retriever"),
        generators=_generators(config),
        groups=groups,
        cache=cache_folder(config),
        unknown=unknown,
        groups_asked=config["groups"].get("attribute") is not None or config["groups"].get("path") is not None,
        llm=build_part(config, "llm"),
        query=config["query"],
        topics=config["topics"],
        budget=whole_number(config, "budget"),
        shown=whole_number(config, "shown"),
        crossed=texts(config["crossed"] or []),
        targets=config["targets"],
        closeness=str(config["closeness"]),
        scoring=scoring,
        exploring=_built(Exploring, explore, "explore"),
        alternatives=_built(AlternativeOptions, {**options, **ranks, "draws": other["draws"]}, "alternatives"),
        pool=whole_number(other, "pool"),
        held_out=_held_out(evaluate),
        resamples=whole_number(config, "resamples"),
        confidence=_number("confidence", config["confidence"]),
        seed=seed,
    ), spare


def _groups(config: Mapping[str, Any]) -> tuple[Any, str]:
    """Return what aligns groups so that what is unknown is told apart, and the policy for it."""
    node = config["groups"]
    if not isinstance(node, Mapping):
        raise ConfigError(f"groups: found {node!r}; expected attributes such as groups=[economy], a file, or none")
    unknown = str(node.get("unknown", "drop"))
    apart = {**node, "unknown": "count"} if "unknown" in node else node
    return build_part({**config, "groups": apart}, "groups"), unknown


def _generators(config: Mapping[str, Any]) -> list[Generator]:
    given = config["generator"]
    if not isinstance(given, Mapping) or not given:
        raise ConfigError("generator: found none; expected one or several, such as generator=[rm3,embedding]")
    built = []
    for name, node in given.items():
        one = build(node, texts(config["allow_targets"]), f"generator.{name}")
        if not callable(getattr(one, "generate", None)) or not callable(getattr(one, "prepare", None)):
            raise ConfigError(
                f"generator.{name}: {type(one).__name__} has no generate and prepare; expected a generator"
            )
        built.append(one)
    return built


def _held_out(given: Mapping[str, Any]) -> HeldOut:
    options, browsing = given["retriever"], given["browsing"]
    if options is not None and not isinstance(options, Mapping):
        raise ConfigError(f"evaluate.retriever: found {options!r}; expected options that differ, such as {{k1:1.2}}")
    patience = _number("evaluate.patience", given["patience"])
    return HeldOut(options, None if browsing is None else str(browsing), patience, given["targets"])


def _built(kind: type[Any], fields: Mapping[str, Any], where: str) -> Any:
    return build({"_target_": f"{kind.__module__}.{kind.__qualname__}", **fields}, where=where)


def _part(config: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    if not isinstance(config[key], Mapping):
        raise ConfigError(f"{key}: found {config[key]!r}; expected options, such as {key}.…=…")
    part: Mapping[str, Any] = config[key]
    return part


def _check_part(where: str, part: Mapping[str, Any], keys: Sequence[str]) -> None:
    for key in part:
        choose(where, str(key), keys)
    for key in keys:
        if key not in part:
            raise ConfigError(f"{where}.{key}: taken away; expected a value")


def _number(key: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ConfigError(f"{key}: found {value!r}; expected a number")
    return float(value)


def plain(value: Any) -> Any:
    """Return a config as JSON takes it."""
    if isinstance(value, Mapping):
        return {str(key): plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    if is_dataclass(value) and not isinstance(value, type):
        return plain(asdict(value))
    return value if isinstance(value, str | int | float | bool | None) else str(value)
