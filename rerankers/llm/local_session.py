"""The session of a local model: besides replies it gives the likelihoods of answers."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

import numpy as np

from rerankers._base.errors import InputError
from rerankers._base.progress import bar
from rerankers.llm.base import Request
from rerankers.llm.identity import Identity, canonical
from rerankers.llm.records import Record, Replies
from rerankers.llm.session import Asker, Engine

if TYPE_CHECKING:
    from numpy.typing import NDArray

NOT_COMPUTED = float("-inf")


class Scorer(Asker, Protocol):
    """A model that also scores."""

    def likelihoods(self, requests: Sequence[Request], answers: Sequence[str]) -> list[list[float] | None]:
        """Return a list of A natural log-likelihoods a request, or None where the request is too long."""
        ...


class LocalSession(Engine):
    """An `rerankers.llm.session.Engine` with `likelihoods`."""

    def __init__(
        self, name: str, identity: Identity, model: Scorer, replies: Replies | None, *, dry_run: bool, replay_only: bool
    ) -> None:
        super().__init__(name, identity, model, replies, dry_run=dry_run, replay_only=replay_only)
        self._model = model

    def likelihoods(self, requests: Sequence[Request], answers: Sequence[str]) -> NDArray[np.float64]:
        """Return how likely the model finds each answer to each request.

        The total over the answer's tokens of the natural log of softmax, given the request and the tokens before; the
        end of the answer is no part of it. An answer of several tokens is less likely for that alone. They are kept in
        the replay cache, as replies are.

        Parameters
        ----------
        requests
            R of them; their sample number means nothing here.
        answers
            A texts, none of them empty.

        Returns
        -------
        float64 (R, A), at most 0. In a row of -inf nothing was computed: the request is longer than the model reads
        (``error:too_long`` in the account), or this is a dry run.

        Raises
        ------
        InputError
            for no answers, an empty one or one twice.
        MissingError
            as `ask`.
        """
        if not answers or len(set(answers)) < len(answers) or not all(answers):
            raise InputError.one("answers", repr(list(answers)), "texts, each once")
        with self._lock:
            purpose = f"likelihood {canonical(list(answers))}"
            keys = [self.identity.key(request, purpose) for request in requests]
            unique = dict(zip(reversed(keys), reversed(requests), strict=True))
            found = self._replies.find(list(unique)) if self._replies is not None else {}
            rows = {key: self._row(record, len(answers)) for key, record in found.items()}
            missing = {key: unique[key] for key in dict.fromkeys(keys) if key not in found}
            self._account.asked(len(requests), len(requests) - len(unique), len(found))
            if self.dry_run:
                self._account.planned(missing.values())
                return np.full((len(requests), len(answers)), NOT_COMPUTED)
            self.refuse_missing(missing, len(unique))
            rows.update(self._scored(missing, answers))
            table = [rows.get(key) or [NOT_COMPUTED] * len(answers) for key in keys]
            return np.array(table, dtype=np.float64).reshape(len(requests), len(answers))

    def _scored(self, missing: dict[str, Request], answers: Sequence[str]) -> dict[str, list[float]]:
        rows: dict[str, list[float]] = {}
        keys = list(missing)
        with bar("likelihoods", "request", len(keys)) as shown:
            for start in range(0, len(keys), self._model.batch):
                part = keys[start : start + self._model.batch]
                found = self._model.likelihoods([missing[key] for key in part], answers)
                new = {key: row for key, row in zip(part, found, strict=True) if row is not None}
                self._account.scored(len(part), len(part) - len(new))
                if self._replies is not None and new:
                    records = [Record(key, canonical(row), prompt=missing[key].prompt) for key, row in new.items()]
                    kept = self._replies.add(records)
                    new = {key: self._row(record, len(answers)) for key, record in kept.items()}
                rows.update(new)
                shown.update(len(part))
        return rows

    def _row(self, record: Record, size: int) -> list[float]:
        try:
            row = [float(value) for value in json.loads(record.text)]
        except (ValueError, TypeError):
            row = []
        if len(row) != size:
            place = self._replies.place if self._replies is not None else "cache"
            raise InputError.one(place, f"the record {record.key}, which is no {size} numbers", "log-likelihoods")
        return row
