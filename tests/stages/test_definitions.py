"""Every method and every target has words, and they follow the options."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
import yaml

from rerankers._base.errors import ConfigError
from rerankers._conf import build, conf_folder
from rerankers.exposure import GERR
from rerankers.measures.names import parse
from rerankers.methods import METHODS
from rerankers.methods.names import NAMES
from rerankers.methods.targets import TARGETS, EqualExposure, FirstStageShare, Population, RelevantShare, Uniform
from rerankers.stages.definition import TITLES, Definition
from rerankers.stages.definition_targets import WORDS as TARGET_WORDS
from rerankers.stages.definition_targets import aim_of
from rerankers.stages.definition_words import WORDS
from rerankers.stages.definitions import definition_of, name_of_method
from rerankers.stages.fit_spec import FitGrid, FitSearch, NoFit

CONF = conf_folder()
NEEDED = {"custom": {"path": "shares.csv"}, "population": {"shares": {"A": 0.6, "B": 0.4}}}
NAME_OF = {
    "deterministic": "none",
    "uniform": "none",
    "plackett_luce": "none",
    "kl_tilt": "merit",
    "kl_greedy": "merit",
    "infoseeking_kl": "proportional",
    "fair_co": "merit",
    "online_frank_wolfe": "merit",
    "equity_of_attention": "merit",
    "nle_controller": "merit",
    "horizon_planner": "merit",
    "thompson": "merit",
    "scenario_optimal": "merit",
    "pareto_optimal": "merit",
    "fa_star_ir": "merit",
    "det_const_sort": "merit",
    "expost_group_fair": "merit",
    "equal_opportunity": "merit",
    "phi_fair": "worst_off",
    "foeir": "parity",
    "rrf": "none",
    "linear_fusion": "none",
    "mmr": "none",
    "pm2": "none",
    "round_robin": "parity",
    "epsilon_greedy": "none",
    "mtg_noise": "none",
    "mtg_clusters": "none",
    "macewan_fusion": "none",
}
"""With the options as they come and target=equal_exposure."""


def configured(kind: str, name: str, /, **more: Any) -> Any:
    node = yaml.safe_load((CONF / kind / f"{name}.yaml").read_text())
    return build({**node, **NEEDED.get(name, {}), **more}, where=kind)


def well_said(text: str) -> bool:
    """Return whether a text is whole sentences without leftovers of a template."""
    return (
        text[:1].isupper()
        and text.endswith((".", ")"))
        and "  " not in text
        and ".." not in text
        and "None" not in text
    )


@pytest.mark.parametrize("name", NAMES)
def test_every_method_has_words(name: str) -> None:
    method = configured("method", name)
    assert name_of_method(method) == name
    found = definition_of(method, EqualExposure(), NoFit(), ["level"], GERR())
    assert found.name == NAME_OF[name]
    assert well_said(found.sentence), found.sentence
    assert well_said(found.caveat), found.caveat
    assert str(found).startswith(TITLES[found.name])
    assert len(found.sentence) < 420


def test_no_words_without_their_method_or_target() -> None:
    assert set(WORDS) == set(NAMES) == set(METHODS) == set(NAME_OF)
    assert set(NAMES) == {path.stem for path in (CONF / "method").glob("*.yaml")}
    assert set(TARGET_WORDS) == set(TARGETS) == {path.stem for path in (CONF / "target").glob("*.yaml")}


@pytest.mark.parametrize("name", sorted(path.stem for path in (CONF / "target").glob("*.yaml")))
def test_every_target_has_words(name: str) -> None:
    target = configured("target", name)
    aim = aim_of(target)
    assert aim.name in ("merit", "parity", "proportional")
    assert not aim.caveat or well_said(aim.caveat)
    for method in ("kl_tilt", "det_const_sort", "expost_group_fair", "fa_star_ir", "kl_greedy"):
        found = definition_of(configured("method", method), target, None, ["level"], GERR())
        assert found.name == aim.name
        assert aim.shares in found.sentence
        assert aim.caveat in found.caveat


@pytest.mark.parametrize(
    ("target", "name"),
    [
        (Uniform(), "parity"),
        (Population({"A": 1.0}), "proportional"),
        (FirstStageShare(), "proportional"),
        (FirstStageShare("exposure"), "proportional"),
        (RelevantShare(), "merit"),
    ],
)
def test_the_target_decides_the_name(target: Any, name: str) -> None:
    assert definition_of(configured("method", "kl_tilt"), target).name == name


@pytest.mark.parametrize(
    ("name", "options", "expected"),
    [
        ("kl_tilt", {"strength": 0.0}, "none"),
        ("kl_greedy", {"fairness_weight": 0.0}, "none"),
        ("infoseeking_kl", {"relevance_weight": 1.0}, "none"),
        ("infoseeking_kl", {"ideal": "target"}, "merit"),
        ("fair_co", {"strength": 0.0}, "none"),
        ("online_frank_wolfe", {"fairness": 0.0}, "none"),
        ("nle_controller", {"theta": 1.0}, "none"),
        ("scenario_optimal", {"individual": 0.0, "group": 1.0}, "merit"),
        ("phi_fair", {"phi": 0.0}, "none"),
        ("phi_fair", {"phi": 1.0}, "merit"),
        ("foeir", {"constraint": "treatment"}, "merit"),
        ("foeir", {"constraint": "impact"}, "merit"),
        ("fa_star_ir", {"p": 0.4}, "proportional"),
        ("fa_star_ir", {"pool": True}, "proportional"),
        ("round_robin", {"shares": "target"}, "merit"),
    ],
)
def test_options_decide_the_name(name: str, options: dict[str, Any], expected: str) -> None:
    found = definition_of(configured("method", name, **options), EqualExposure())
    assert found.name == expected
    assert well_said(found.sentence), found.sentence


def test_what_is_said_follows_the_options() -> None:
    def said(name: str, /, **options: Any) -> str:
        return str(definition_of(configured("method", name, **options), EqualExposure(), None, ["level", "h"], GERR()))

    assert "groups of level and h" in said("kl_tilt")
    assert "the groups of h have these shares" in said("kl_tilt", attributes=["h"])
    assert "gerr(patience=0.5, satisfaction=0.5)" in said("thompson")
    assert "keeping 90 %" in said("pareto_optimal", floor=0.9)
    assert "documents and of groups of level" in said("scenario_optimal", group=1.0, attribute="level")
    assert "Groups are not looked at" in said("pareto_optimal")
    assert "Groups are not looked at" not in said("pareto_optimal", group=1.0)
    assert "over all queries together, authors" in said("fair_co", scope="corpus", entities="authors")
    assert "groups of level are due" in said("fair_co", entities="level")
    assert "at most that rounded up" in said("det_const_sort", variant="det_cons")
    assert "at most" not in said("det_const_sort")
    assert "level 0.05 for each prefix by itself" in said("fa_star_ir", protected="X", alpha=0.05, adjusted=False)
    assert "A 60 %, B 40 %" in str(definition_of(configured("method", "kl_tilt"), Population({"A": 0.6, "B": 0.4})))


def test_judged_shares_are_no_system() -> None:
    target = RelevantShare(path="shares.csv", judged=True)
    assert "what is possible" in definition_of(configured("method", "kl_tilt"), target).caveat
    assert "what is possible" not in definition_of(configured("method", "kl_tilt"), RelevantShare(path="a.csv")).caveat


def test_beliefs_are_named_where_merit_is_believed() -> None:
    tilt = configured("method", "kl_tilt")
    assert "what the scores of the first stage say" in definition_of(tilt, EqualExposure()).caveat
    assert "what the model M say" in definition_of(tilt, EqualExposure(), beliefs="the model M").caveat
    assert "first stage say" not in definition_of(tilt, Uniform()).caveat
    assert "first stage say" not in definition_of(tilt, RelevantShare()).caveat  # training judgments say it


def test_measures_that_are_named_exist() -> None:
    caveats = [aim_of(configured("target", name)).caveat for name in TARGETS]
    for measure in ("share_loss", "share_loss(target='uniform')", "DP", "group_EEL"):
        parse(measure)
        assert any(measure in caveat for caveat in caveats)


@pytest.mark.parametrize(
    ("fit", "expected", "words"),
    [
        (FitSearch(), "merit", "equal exposure for equal relevance"),
        (FitSearch(measure="group_EEL"), "merit", "the exposure that groups would have"),
        (FitSearch(measure="EEL(group='level')"), "merit", "the exposure that groups would have"),
        (FitSearch(measure="AWRF"), "proportional", "in proportion to their documents"),
        (FitGrid({"temperature": [1.0]}, keep=0.9), "merit", "keeping 90 %"),
        (FitSearch(measure="utility"), "none", "No definition"),
        (FitSearch(measure="EEL", level=0.3), "none", "No definition"),
        (NoFit(), "none", "No definition"),
        (None, "none", "No definition"),
    ],
)
def test_a_fitted_temperature_stands_for_its_measure(fit: Any, expected: str, words: str) -> None:
    found = definition_of(configured("method", "plackett_luce"), None, fit, ["level"])
    assert found.name == expected
    assert words in found.sentence
    assert well_said(found.sentence)


def test_a_fit_does_not_change_what_a_method_stands_for() -> None:
    tilt = configured("method", "kl_tilt")
    assert definition_of(tilt, Uniform(), FitSearch()) == definition_of(tilt, Uniform())


@dataclass(frozen=True)
class Mine:
    """A method of the user's own."""


@dataclass(frozen=True)
class Deterministic:
    """Another class of the name of one of ours."""


def test_what_is_not_known_is_not_made_up() -> None:
    for kind in (Mine, Deterministic):
        found = definition_of(kind(), EqualExposure(), FitSearch())
        assert found.name == "unknown"
        assert kind.__name__ in found.sentence
    own = definition_of(configured("method", "kl_tilt"), Mine())
    assert own.name == "unknown"
    assert "Mine" in own.sentence


def test_names_are_checked() -> None:
    with pytest.raises(ConfigError, match="merit"):
        Definition("merrit", "Text.")
