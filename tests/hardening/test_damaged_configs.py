"""Config files and words that are damaged, endless or hostile: one clear error before anything runs."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_damaged_own_files import LAUGHS

from rerankers import cli
from rerankers.api import run

FILES = {
    "broken": ("_target_: rerankers.methods.kl_tilt.KlTilt\nstrength: [1", "config file is no YAML"),
    "laughs": (LAUGHS, "more than 1,000,000 values"),
    "itself": ("a: &a [*a]", "within itself"),
    "loop": ("_target_: ${method._target_}", "Recursive interpolation"),
    "twice": ("a: 1\na: 2", "duplicate key a"),
    "tag": ("!!python/object/apply:os.getcwd []", "could not determine a constructor"),
    "list": ("[1, 2]", "holds a list"),
    "deep": ("a: " + "[" * 3000, "levels"),
    "deep mapping": ("".join(f"{' ' * level}a:\n" for level in range(3000)), "levels deep"),
    "outside": ("_target_: os.system\ncommand: 'true'", "expected a class of the packages rerankers"),
    "null": ("\x00", "config file is no YAML"),
}


@pytest.mark.parametrize("name", FILES)
def test_config_files_of_ones_own_are_told(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    text, says = FILES[name]
    (tmp_path / "method").mkdir()
    (tmp_path / "method" / "x.yaml").write_text(text)
    monkeypatch.chdir(tmp_path)
    assert cli.main(["run", "--config-dir", str(tmp_path), "method=x", f"output={tmp_path / 'out'}"]) == 2
    assert says in capsys.readouterr().err
    assert not (tmp_path / "out" / "run.parquet").exists()
    with pytest.raises(Exception, match=says) as caught:
        run(method="x", config_dir=tmp_path, output=tmp_path / "out")
    assert type(caught.value).__module__ == "rerankers._base.errors"


def test_config_files_that_are_no_text_are_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "x.yaml").write_bytes(b"\xff\xfe")
    assert cli.main(["run", "--config-dir", str(tmp_path), f"output={tmp_path / 'out'}"]) == 2
    assert f"{tmp_path / 'x.yaml'}: found bytes that are no UTF-8" in capsys.readouterr().err


@pytest.mark.parametrize(
    "word",
    [
        *(
            "samples=1e400",
            "samples=" + "9" * 5000,
            "seed=nan",
            "method=" + "x" * 5000,
            "=1",
            "method",
            "+",
            "~",
            "${x}",
        ),
        *(
            "method.temperature=" + "[" * 2000,
            "samples=\x00",
            "samples=\ud800",
            "method=[kl_tilt",
            "measures={a:",
            "a=b=c",
        ),
        *("samples=${oc.env:NONE_SUCH}", "samples=${samples}", "samples=${oc.decode:1+}", "samples=range(1,1e9)"),
    ],
)
def test_odd_words_are_told(word: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code = cli.main(["run", word, f"output={tmp_path / 'out'}"])
    said = capsys.readouterr().err
    assert code in (2, 3), said
    assert said.startswith("fair-rerank run: ")
    assert "Traceback" not in said
    assert len(said) < 20_000
