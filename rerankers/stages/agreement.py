"""``agreement``: how far labels of texts agree with true ones, and labellers with each other."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rerankers._base.errors import ConfigError, InputError, choose
from rerankers._base.files import write_text
from rerankers._base.logs import log_to
from rerankers._base.progress import busy
from rerankers.labels.agreement import accuracy, codes_of, confusion, krippendorff_alpha, shares
from rerankers.labels.file_labels import LabelFields, read_labels, written_out
from rerankers.labels.kappa_intervals import Bootstrap, KappaInterval, kappa_difference, kappa_interval
from rerankers.stages.agreement_text import markdown, terminal
from rerankers.stages.config_parts import check_keys, command_line, texts, whole_number

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.labels.base import Labelled

JSON_FILE, TEXT_FILE = "agreement.json", "agreement.md"
_FILES = ("truth", "truth_id", "truth_label", "labels", "output")
_RULES = ("classes", "rename", "odd", "missing")
KEYS = frozenset((*_FILES, *_RULES, "seed", "confidence", "resamples"))
ODD, MISSING = ("class", "drop"), ("drop", "disagree")
UNLABELLED = "unlabelled"


def agreement_from_config(config: Mapping[str, Any], folder: Path, words: Sequence[str]) -> None:
    """Compare the files of a config of ``conf/agreement.yaml``'s form; results go into ``folder``, a table is printed.

    Raises
    ------
    FairRerankersError
        with the exit code of the command.
    """
    check_keys(config, KEYS)
    choose("odd", str(config["odd"]), ODD)
    choose("missing", str(config["missing"]), MISSING)
    level = config["confidence"]
    if isinstance(level, bool) or not isinstance(level, int | float) or not 0 < level < 1:
        raise ConfigError(f"confidence: found {level!r}; expected a number between 0 and 1")
    bootstrap = Bootstrap(whole_number(config, "seed"), whole_number(config, "resamples"), float(level))
    fields = LabelFields(config["truth_id"], config["truth_label"])
    truth = read_labels([Path(one).expanduser() for one in texts(config["truth"])], fields)
    given = {
        name: read_labels(Path(path).expanduser())
        for name, path in _named(texts(config["labels"]), "labels", "NAME:FILE").items()
    }
    if not given:
        raise ConfigError("labels: found none; expected NAME:FILE, for instance labels=[words:labels.jsonl]")
    compared = Compared.of(truth, given, config)
    log_to(folder)
    with busy("agreement"):
        found = agreement(compared, bootstrap)
    found["options"] = {key: value for key, value in config.items() if key not in (*_FILES,)}
    found["command"] = command_line("agreement", words)
    for line in terminal(found):
        print(line)
    write_text(folder / JSON_FILE, json.dumps(found, ensure_ascii=False, allow_nan=False, indent=1) + "\n")
    write_text(folder / TEXT_FILE, markdown(found))
    print(f"agreement: {folder / TEXT_FILE}, {folder / JSON_FILE}")


@dataclass(frozen=True, slots=True)
class Compared:
    """True labels and those of labellers, for the same documents.

    Attributes
    ----------
    order
        labels: the classes, then odd ones by name.
    truth
        int64 (n,), codes of the true labels.
    given
        labeller -> int64 (n,), codes; -1 without a label, -2 where the file lacks the document.
    reasons
        labeller -> reason -> documents without a label.
    counts
        what was met in the truth, and under ``labels.NAME`` in each file.
    """

    order: tuple[str, ...]
    truth: NDArray[np.int64]
    given: Mapping[str, NDArray[np.int64]]
    reasons: Mapping[str, Mapping[str, int]]
    counts: Mapping[str, Mapping[str, int]]

    @classmethod
    def of(
        cls, truth: Mapping[str, Labelled], given: Mapping[str, Mapping[str, Labelled]], rules: Mapping[str, Any]
    ) -> Compared:
        """Bring labels of files together by ``classes``, ``rename``, ``odd`` and ``missing`` of the config."""
        classes = [str(written_out(one)) for one in texts(rules["classes"])]
        if len(set(classes)) < max(len(classes), 2):
            raise ConfigError(f"classes: found {classes}; expected at least two different labels")
        rename = {
            old: written_out(new) for old, new in _named(texts(rules["rename"] or []), "rename", "OLD:NEW").items()
        }
        true = {id_: rename.get(said.label or "", said.label) for id_, said in truth.items()}
        odd = [id_ for id_, label in true.items() if label is not None and label not in classes]
        dropped = set(odd) if rules["odd"] == "drop" else set[str]()
        kept = [id_ for id_, label in sorted(true.items()) if label is not None and id_ not in dropped]
        if not kept:
            raise InputError.one("truth", "no document with a label", f"labels {', '.join(classes)}")
        others = {true[id_] for id_ in kept} | {
            said.label for of_file in given.values() for id_, said in of_file.items() if id_ in true
        }
        order = (*classes, *sorted(label for label in others if label is not None and label not in classes))
        counts: dict[str, dict[str, int]] = {
            "truth": {
                "documents": len(true),
                "without_label": sum(label is None for label in true.values()),
                "odd_labels": len(odd),
                "dropped": len(dropped),
            }
        }
        codes: dict[str, NDArray[np.int64]] = {}
        reasons: dict[str, dict[str, int]] = {}
        for name, of_file in given.items():
            held = np.array([id_ in of_file for id_ in kept])
            said = [of_file.get(id_) for id_ in kept]
            lacking = -1 if rules["missing"] == "disagree" else -2
            found = codes_of([None if one is None else one.label for one in said], order)
            codes[name] = np.where(held, found, lacking)
            why = [one.reason or "no_label" for one in said if one is not None and one.label is None]
            reasons[name] = {reason: why.count(reason) for reason in sorted(set(why))}
            counts[f"labels.{name}"] = {
                "documents": len(of_file),
                "not_in_truth": sum(id_ not in true for id_ in of_file),
                "missing": int(np.sum(~held)),
            }
        return cls(order, codes_of([true[id_] for id_ in kept], order), codes, reasons, counts)


def agreement(compared: Compared, bootstrap: Bootstrap) -> dict[str, Any]:
    """Return what ``agreement.json`` holds but for options and command.

    Returns
    -------
    dict
        ``labels`` in their order, ``documents`` with a true label, ``counts``, ``labellers`` (for each: ``documents``,
        ``labelled``, ``coverage``, and under ``labelled_part`` and ``unlabelled_as_disagreement`` the kappa with its
        interval, accuracy, confusion, precision and recall), ``differences`` of kappas and ``alpha``.
    """
    order, truth = compared.order, compared.truth
    labellers = {
        name: _labeller(truth, codes, compared.reasons[name], order, bootstrap)
        for name, codes in compared.given.items()
    }
    differences = [
        {"first": first, "second": second, "difference_of_kappas": _plain(found)}
        for first, second in combinations(compared.given, 2)
        for found in [kappa_difference(truth, compared.given[first], compared.given[second], len(order), bootstrap)]
    ]
    every = np.maximum(np.array(list(compared.given.values())).T, -1)
    alphas = {"labellers": krippendorff_alpha(every), "labellers_and_truth": krippendorff_alpha(np.c_[truth, every])}
    return {
        "labels": list(order),
        "documents": len(truth),
        "counts": {name: dict(counts) for name, counts in compared.counts.items()},
        "labellers": labellers,
        "differences": differences,
        "alpha": {name: {"value": one.value, "reason": one.reason} for name, one in alphas.items()},
    }


def _labeller(
    truth: NDArray[np.int64],
    codes: NDArray[np.int64],
    reasons: Mapping[str, int],
    order: Sequence[str],
    bootstrap: Bootstrap,
) -> dict[str, Any]:
    held = codes >= -1
    number, labelled = int(held.sum()), int(np.sum(codes >= 0))
    # Without a label: a class that no truth is in, so that it never agrees.
    as_class = np.where(codes == -1, len(order), codes)
    return {
        "documents": number,
        "labelled": labelled,
        "coverage": labelled / number if number else None,
        UNLABELLED: dict(reasons),
        "labelled_part": _scores(truth, codes, order, bootstrap),
        "unlabelled_as_disagreement": _scores(truth, as_class, [*order, UNLABELLED], bootstrap),
    }


def _scores(
    truth: NDArray[np.int64], codes: NDArray[np.int64], order: Sequence[str], bootstrap: Bootstrap
) -> dict[str, Any]:
    table = confusion(truth, np.maximum(codes, -1), len(order))
    right = accuracy(table)
    return {
        "kappa": _plain(kappa_interval(truth, np.maximum(codes, -1), len(order), bootstrap)),
        "accuracy": right.value,
        "confusion": {"labels": list(order), "rows_are": "truth", "counts": table.tolist()},
        "per_label": {label: one._asdict() for label, one in shares(table, order).items()},
    }


def _plain(found: KappaInterval) -> dict[str, Any]:
    return {key: getattr(found, key) for key in ("value", "low", "high", "documents", "undefined", "reason")}


def _named(entries: Sequence[str], key: str, form: str) -> dict[str, str]:
    """Return what stands before the first colon of each entry -> what stands behind it."""
    found: dict[str, str] = {}
    for entry in entries:
        name, _, value = entry.partition(":")
        if not name or not value:
            raise ConfigError(f"{key}: found {entry!r}; expected {form}")
        if name in found:
            raise ConfigError(f"{key}: found the name {name!r} twice; expected different names")
        found[name] = value
    return found
