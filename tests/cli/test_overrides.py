"""Values of path keys survive Hydra's grammar whatever they hold."""

from __future__ import annotations

import pytest
from hydra import compose, initialize_config_dir
from hydra.core.override_parser.overrides_parser import OverridesParser
from hypothesis import given
from hypothesis import strategies as st

from rerankers._base.errors import ConfigError
from rerankers._conf import conf_folder
from rerankers._overrides import quote_overrides


def parsed(command: str, word: str) -> object:
    override = OverridesParser.create().parse_override(quote_overrides(command, [word])[0])
    return override.value()


@pytest.mark.parametrize(
    "value",
    ["a b,c.run", "it's=1&é", "end\\", "a\\'b", 'say "hi"', "x:{y}[z]", "日本語 論文.run", "tab\there", "#no, comment"],
)
def test_any_path_survives(value: str) -> None:
    assert parsed("evaluate", f"run={value}") == value


@given(st.text(st.characters(exclude_categories=("Cs",), exclude_characters="$"), min_size=1))
def test_property_any_text_survives(value: str) -> None:
    listed = value.startswith("[") and value.endswith("]")
    quoted = len(value) > 1 and value[0] == value[-1] and value[0] in "'\""
    home = value == "~" or value.startswith("~/")
    if not (quoted or home or value in ("null", "???")):
        assert parsed("run", f"collection.path={value}") == value
        assert listed or parsed("run", f"retriever.run={value}") == value


def test_lists_stay_lists() -> None:
    assert parsed("evaluate", "run=[a b.run,c's.run]") == ["a b.run", "c's.run"]
    assert parsed("evaluate", "run=['a,b.run',c.run]") == ["a,b.run", "c.run"]


def test_null_quoted_and_interpolated_values_stay() -> None:
    assert parsed("evaluate", "run=null") is None
    assert parsed("evaluate", "run='already quoted'") == "already quoted"
    assert parsed("run", "output=${paths.cache}/x") == "${paths.cache}/x"


def test_other_keys_and_flags_are_untouched() -> None:
    words = ["method=kl_tilt,uniform", "groups=[a,b]", "--multirun", "~method", "seed=range(5)"]
    assert quote_overrides("run", words) == words


def test_measure_names_need_no_quotes() -> None:
    word = "measures.names=[nDCG@10,EEL(group='region',p=0.5)@20,'P@5']"
    assert parsed("run", word) == ["nDCG@10", "EEL(group='region',p=0.5)@20", "P@5"]


def test_groups_is_a_path_in_evaluate_only() -> None:
    assert quote_overrides("evaluate", ["groups=my groups.csv"]) == ["groups.path='my groups.csv'"]
    assert quote_overrides("submit", ["groups=my groups.csv"]) == ["groups.path='my groups.csv'"]
    assert quote_overrides("run", ["groups=cacm_P"]) == ["groups=cacm_P"]


def test_data_and_results_are_paths() -> None:
    assert parsed("reproduce", "data=my data, all") == "my data, all"
    assert parsed("compare", "results=[a b,'c,d']") == ["a b", "c,d"]


def test_a_data_set_of_ir_datasets_is_one_word() -> None:
    words = ["collection=irds:trec-fair/2022/train", "method=uniform", "collection=jsonl"]
    expected = ["collection=ir_datasets", "collection.id=trec-fair/2022/train", "method=uniform", "collection=jsonl"]
    assert quote_overrides("run", words) == expected
    assert parsed("run", "retriever.run=irds:x") == "irds:x"
    with pytest.raises(ConfigError, match="without an id"):
        quote_overrides("run", ["collection=irds:"])


def test_the_word_chooses_the_collection_and_its_id() -> None:
    with initialize_config_dir(str(conf_folder()), version_base="1.3"):
        config = compose("run", overrides=quote_overrides("run", ["collection=irds:beir/scidocs"]))
    assert config.collection._target_.endswith("IrDatasets")
    assert config.collection.id == "beir/scidocs"


def test_a_list_of_measures_is_their_names() -> None:
    assert quote_overrides("run", ["measures=[nDCG@10,EEL]"]) == ["measures.names=['nDCG@10','EEL']"]
    assert quote_overrides("run", ["measures=default"]) == ["measures=default"]
