"""Target specs: every one against its definition, files with every problem and its line, and unknown groups."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from omegaconf import OmegaConf
from tilt_worlds import alignment, block

from rerankers._base.errors import ConfigError, InputError, MissingError
from rerankers._conf import build, conf_folder
from rerankers.exposure import DCG, ERR, GERR, RBP, Cascade, TopKSet, equal_exposure_target, ranking_exposure
from rerankers.methods import TIERS
from rerankers.methods.belief import probabilities
from rerankers.methods.targets import (
    TARGETS,
    Custom,
    EqualExposure,
    EstimatedShare,
    FirstStageShare,
    Merit,
    Population,
    RelevantShare,
    Uniform,
    as_target,
    believed_browsing,
)
from rerankers.methods.targets.expected_target import expected_equal_exposure
from rerankers.values import Block, Judgments

LABELS: list[str | None] = ["A", "B", "A", None, "B", "A"]
CHANCE = [0.9, 0.5, 0.0, 1.0, 0.25, 0.125]
MEMBER = np.array([[1, 0, 0], [0, 1, 0], [1, 0, 0], [0, 0, 1], [0, 1, 0], [1, 0, 0]], dtype=float)
MODELS = [GERR(), RBP(0.8), DCG(), GERR(0.9, 0.3, cutoff=2), ERR(max_grade=2), TopKSet(2), RBP(1.0), RBP(0.0)]


def part(**fields: object) -> Block:
    return block([[6.0, 5, 4, 3, 2, 1]], {"g": alignment("g", LABELS)}, [CHANCE], **fields)


def spread(value: np.ndarray) -> np.ndarray:
    return value / value.sum()


def enumerated_target(chance: Sequence[float], model: object) -> np.ndarray:
    """Return the mean of the target over all labellings."""
    grade = getattr(model, "max_grade", None) or 1
    mean = np.zeros(len(chance))
    for labels in itertools.product((0, 1), repeat=len(chance)):
        weight = np.prod([p if label else 1 - p for p, label in zip(chance, labels, strict=True)])
        mean += weight * equal_exposure_target(np.array(labels) * grade, model)  # type: ignore[arg-type]
    return mean


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_mean_target_is_that_over_all_labellings(model: object) -> None:
    got = expected_equal_exposure(np.array([0, 6]), np.array(CHANCE), model)  # type: ignore[arg-type]
    np.testing.assert_allclose(got, enumerated_target(CHANCE, model), atol=1e-14)


@given(chance=st.lists(st.sampled_from([0.0, 1.0, 1e-9, 0.3, 0.999, 0.5]), min_size=1, max_size=7))
def test_mean_target_of_any_chances(chance: list[float]) -> None:
    got = expected_equal_exposure(np.array([0, len(chance)]), np.array(chance), GERR(0.9, 0.6))
    np.testing.assert_allclose(got, enumerated_target(chance, GERR(0.9, 0.6)), atol=1e-14)


def test_mean_target_of_many_documents() -> None:
    # the numbers of relevant documents that are left out as impossible take nothing away
    chance = np.concatenate([np.full(1500, 0.02), np.ones(40), np.zeros(460)])
    got = expected_equal_exposure(np.array([0, 2000]), chance, RBP(0.999))
    total = (1 - 0.999**2000) / 0.001
    assert got.sum() == pytest.approx(total, rel=1e-12)
    rng = np.random.default_rng(0)
    drawn = [equal_exposure_target((rng.random(2000) < chance).astype(int), RBP(0.999)) for _ in range(300)]
    assert got[1600] == pytest.approx(np.mean(drawn, axis=0)[1600], abs=4 * np.std(drawn, axis=0)[1600] / 300**0.5)


def test_definitions() -> None:
    chance, indptr = np.array(CHANCE), np.array([0, 6])
    model = GERR(0.8, 0.5)
    seen = ranking_exposure(np.arange(6), Cascade(0.8 * (1 - 0.5 * chance)))
    wanted = {
        EqualExposure(): spread(MEMBER.T @ expected_equal_exposure(indptr, chance, model)),
        EstimatedShare(): spread(MEMBER.T @ chance),
        Merit(): spread(MEMBER.T @ chance / MEMBER.sum(axis=0)),
        FirstStageShare(): np.array([3, 2, 1]) / 6,
        FirstStageShare(of="exposure"): spread(MEMBER.T @ seen),
        Uniform(): np.array([0.5, 0.5, 0.0]),
        Uniform(unknown=True): np.full(3, 1 / 3),
        Population({"A": 0.25, "B": 0.75}): np.array([0.25, 0.75, 0.0]),
        Population({"g:A": 0.25, "unknown": 0.75}): np.array([0.25, 0.0, 0.75]),
    }
    for target, shares in wanted.items():
        got = target.bind(part(browsing=model), "g")
        np.testing.assert_allclose(got, shares[None], atol=1e-14, err_msg=str(target))
        assert got.dtype == np.float64
        assert target.tier in TIERS


def test_beliefs_move_the_continuation() -> None:
    got = believed_browsing(part(browsing=GERR(0.8, 0.5)))
    np.testing.assert_allclose(got.continuation, 0.8 * (1 - 0.5 * np.array(CHANCE)))
    np.testing.assert_allclose(got.satisfaction, 0.5 * np.array(CHANCE))
    np.testing.assert_allclose(
        believed_browsing(part(browsing=ERR(max_grade=2))).continuation, 1 - 0.75 * np.array(CHANCE)
    )
    # without probabilities they are guessed, and without a model it is that of jobs
    scored = block([[3.0, 1.0, 2.0]], {})
    np.testing.assert_allclose(believed_browsing(scored).continuation, 0.5 - 0.25 * probabilities(scored))


def test_unknown_is_a_cell_where_the_target_speaks_of_it() -> None:
    names = ("A", "B", "unknown")
    spoken = [EqualExposure(), EstimatedShare(), Merit(), FirstStageShare(), Uniform(unknown=True)]
    for target in [*spoken, Population({"unknown": 1.0}), Population({"g:unknown": 1.0})]:
        assert target.about(names, "g").tolist() == [True, True, True]
    for target in [Uniform(), Population({"A": 1.0}), Population({"h:unknown": 1.0})]:
        assert target.about(names, "g").tolist() == [True, True, False]


def test_rows_without_anything() -> None:
    groups = {"g": alignment("g", ["A", None], "drop")}
    rows = block([[], [1.0], [2.0]], groups, [[], [0.0], [0.5]], browsing=GERR())
    for name in set(TARGETS) - {"population", "custom", "relevant_share"}:
        got = TARGETS[name]().bind(rows, "g")
        assert got[0].tolist() == [0.0]
        assert got[2].tolist() == [0.0], "no group at all"
        assert got[1].tolist() == [0.0 if name in ("estimated_share", "merit") else 1.0]
    assert Uniform(present=False).bind(rows, "g").tolist() == [[1.0]] * 3


def write(folder: Path, text: str) -> str:
    path = folder / "targets.csv"
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_files(tmp_path: Path) -> None:
    groups = {"g": alignment("g", ["A", "B", "A", "B"]), "h": alignment("h", ["x", "A", "x", "y"])}
    rows = block([[1.0, 2.0], [3.0, 1.0]], groups)
    text = "qid,cell,value\nq0,A,0.25\nq0,g:B,0.75\n*,g:A,1\n*,h:y,0.5\n*,h:A,0.5\nq0,h:y,1\n"
    # "A" is a group of both attributes: it means either
    with pytest.raises(InputError, match=r"targets.csv:2: found shares of h that sum to 1\.25 for query 'q0'"):
        Custom(write(tmp_path, text)).bind(rows, "h")
    path = write(tmp_path, text.replace("q0,A,", "q0,g:A,"))
    for target in (Custom(path), Population(path=path), RelevantShare(path=path)):
        np.testing.assert_allclose(target.bind(rows, "g")[:, :2], [[0.25, 0.75], [1.0, 0.0]])
        np.testing.assert_allclose(target.bind(rows, "h")[:, :3], [[0.0, 0.0, 1.0], [0.5, 0.0, 0.5]])
        target.check_queries(["q0", "q1"])
        with pytest.raises(InputError, match=r"targets.csv:2: found query 'q0'; expected a query of the job"):
            target.check_queries(["q1"])


def test_problems_of_files_come_with_their_lines(tmp_path: Path) -> None:
    text = "qid,cell,value\nq0,A,-1\nq0,B,x\n,A,1\nq1,A,0.5\nq1,A,0.5\nq1,B,nan\n"
    with pytest.raises(InputError) as caught:
        Custom(write(tmp_path, text)).bind(part(), "g")
    assert [problem.line for problem in caught.value.problems] == [2, 3, 4, 6, 7]
    with pytest.raises(InputError, match="found the header qid, group, value; expected qid,cell,value"):
        Custom(write(tmp_path, "qid,group,value\nq0,A,1\n")).bind(part(), "g")
    with pytest.raises(InputError, match="found no row"):
        Custom(write(tmp_path, "qid,cell,value\n")).bind(part(), "g")
    with pytest.raises(InputError, match=r"targets.csv:3: found cell 'C'; expected a group of the job's attributes"):
        Custom(write(tmp_path, "qid,cell,value\n*,A,0.5\n*,C,0.5\n")).bind(part(), "g")
    with pytest.raises(InputError, match=r"targets.csv:2: found shares of g that sum to 0\.9 for query '\*'"):
        Custom(write(tmp_path, "qid,cell,value\n*,A,0.5\n*,B,0.4\n")).bind(part(), "g")
    with pytest.raises(InputError, match=r"targets.csv:3: found cell 'g:A' again; expected each group once"):
        Custom(write(tmp_path, "qid,cell,value\n*,A,0.5\n*,g:A,0.5\n")).bind(part(), "g")
    other = Custom(write(tmp_path, "qid,cell,value\nq9,A,1\n"))
    with pytest.raises(InputError, match=r"no rows for the query of row 0"):
        other.bind(part(), "g")
    with pytest.raises(InputError, match=r"found query 'q9'.*\n.*found no rows for query 'q0'"):
        other.check_queries(["q0"])
    with pytest.raises(MissingError):
        Custom(str(tmp_path / "absent.csv")).bind(part(), "g")


def test_a_changed_file_is_read_again(tmp_path: Path) -> None:
    path = write(tmp_path, "qid,cell,value\n*,A,1\n")
    assert Custom(path).bind(part(), "g").tolist() == [[1.0, 0.0, 0.0]]
    write(tmp_path, "qid,cell,value\n*,A,0.5\n*,B,0.5\n")
    assert Custom(path).bind(part(), "g").tolist() == [[0.5, 0.5, 0.0]]


def test_relevant_share_of_training_judgments() -> None:
    groups = {"g": alignment("g", ["A", "B", "A", "B", None], "drop")}
    judgments = Judgments(
        np.arange(3), np.array([0, 3, 4, 5]), np.array([0, 1, 2, 1, 4]), {"grade": np.array([1, 2, 1, -1, 3], np.int16)}
    )
    fitted = RelevantShare().fit(judgments, groups)
    assert fitted.shares == pytest.approx({"g:A": 2 / 3, "g:B": 1 / 3})
    rows = block([[1.0, 2.0]], {"g": alignment("g", ["A", "B"], "drop")})
    np.testing.assert_allclose(fitted.bind(rows, "g"), [[2 / 3, 1 / 3]])
    assert fitted.tier == "given_groups"
    assert RelevantShare(path="x.csv", judged=True).tier == "judged"
    with pytest.raises(ConfigError, match="found true without"):
        RelevantShare(judged=True)
    with pytest.raises(ConfigError, match="found no shares; expected a file"):
        RelevantShare().bind(rows, "g")
    with pytest.raises(InputError, match="no relevant document with a g"):
        RelevantShare().fit(judgments.rows(1, 2), groups)


def test_what_callers_hand_over() -> None:
    assert as_target({"A": 0.5, "B": 0.5}) == Population({"A": 0.5, "B": 0.5})
    assert as_target(np.array([0.25, 0.75]), ("A", "B")) == Population({"A": 0.25, "B": 0.75})
    assert as_target("merit") == Merit()
    assert as_target(Uniform()) == Uniform()
    with pytest.raises(InputError, match=r"shape \(3,\); expected \(2,\)"):
        as_target([0.1, 0.2, 0.7], ("A", "B"))
    for wrong in (3.0, "custom", Uniform):
        with pytest.raises(ConfigError, match="expected a target, a mapping"):
            as_target(wrong)


def test_messages() -> None:
    with pytest.raises(ConfigError, match=r"target.of: found 'docs'; expected one of documents, exposure"):
        FirstStageShare(of="docs")
    with pytest.raises(ConfigError, match=r"found neither target.shares nor target.path"):
        Population().bind(part(), "g")
    with pytest.raises(ConfigError, match="found both"):
        Population({"A": 1.0}, "x.csv").bind(part(), "g")
    with pytest.raises(ConfigError, match=r"found no groups 'h'; expected one of the attributes of groups=… \(g\)"):
        Uniform().bind(part(), "h")
    with pytest.raises(InputError, match=r"target.shares: found A: -0\.5"):
        Population({"A": -0.5, "B": 1.5}).bind(part(), "g")
    with pytest.raises(InputError, match=r"found shares of g that sum to 2"):
        Population({"A": 1.0, "B": 1.0}).bind(part(), "g")
    with pytest.raises(ConfigError, match="looks at ranks and relevance only"):
        EqualExposure().bind(part(browsing=Cascade(np.linspace(0.1, 0.6, 6))), "g")


@pytest.mark.parametrize("name", TARGETS)
def test_configs_are_the_defaults(name: str) -> None:
    node = OmegaConf.to_container(OmegaConf.load(conf_folder() / "target" / f"{name}.yaml"))
    assert isinstance(node, dict)
    if name == "custom":
        assert build({**node, "path": "x.csv"}) == Custom("x.csv")
    else:
        assert build(node) == TARGETS[name]()  # type: ignore[arg-type]
