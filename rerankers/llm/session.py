"""The engine behind every provider: replay cache, no request twice, several at a time, budget, progress, account."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import replace
from threading import RLock
from types import TracebackType
from typing import Protocol, Self

from rerankers._base.errors import MissingError
from rerankers._base.progress import Bar, bar
from rerankers.llm.account import Account
from rerankers.llm.base import Reply, Request
from rerankers.llm.cost import Budget, Prices
from rerankers.llm.identity import Identity
from rerankers.llm.records import KEEPS, Record, Replies

LEAVE = 5.0  # seconds that replies under way are waited for when a job breaks off


class Asker(Protocol):
    """Who is really asked.

    Attributes
    ----------
    workers
        calls of `answer` at a time, each in a thread of its own; 1 calls it in the thread of the job.
    batch
        requests that one call takes at most.
    """

    workers: int
    batch: int

    def answer(self, requests: Sequence[Request], keys: Sequence[str]) -> list[Reply]:
        """Return one reply a request. An exception ends the job."""
        ...

    def stop(self) -> None:
        """Give up waiting and trying again, for the job breaks off."""
        ...

    def close(self) -> None:
        """Let go of connections and files."""
        ...


class Engine:
    """A `rerankers.llm.base.Session`. Threads may share one; their calls of `ask` come one after the other."""

    def __init__(
        self,
        name: str,
        identity: Identity,
        asker: Asker,
        replies: Replies | None,
        *,
        dry_run: bool = False,
        replay_only: bool = False,
        prices: Prices | None = None,
    ) -> None:
        self.name = name
        self.dry_run = dry_run
        self.identity = identity
        self._asker = asker
        self._replies = replies
        self._replay_only = replay_only
        self._prices = prices or Prices()
        self._budget = Budget(self._prices)
        self._account = Account(self._prices)
        self._lock = RLock()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the provider and of the cache."""
        self._asker.close()
        if self._replies is not None:
            self._replies.close()

    @property
    def account(self) -> Mapping[str, int | float]:
        """See `rerankers.llm.account.Account`."""
        damaged = self._replies.damaged if self._replies is not None else 0
        return self._account.shown(self._budget.spent, damaged, getattr(self._asker, "notes", {}))

    def ask(self, requests: Sequence[Request]) -> list[Reply]:
        """Return a reply to each request, in their order.

        Requests that are equal but for ``about`` and ``prompt`` are asked once. What is in the replay cache is not
        asked at all; a reply is in the cache before this returns, also when the job breaks off.

        Raises
        ------
        InputError
            for a request that nobody can be asked.
        MissingError
            with ``replay_only``, when replies are missing; when nobody answers at all.
        """
        with self._lock:
            keys = [self.identity.key(request) for request in requests]
            first = {key: place for place, key in reversed(list(enumerate(keys)))}
            unique = {key: requests[first[key]] for key in dict.fromkeys(keys)}
            found = self._replies.find(list(unique)) if self._replies is not None else {}
            missing = {key: request for key, request in unique.items() if key not in found}
            self._account.asked(len(requests), len(requests) - len(unique), len(found))
            if self.dry_run:
                self._account.planned(missing.values())
                return [Reply("", finish_reason="", attempts=0, error="dry_run") for _ in requests]
            self.refuse_missing(missing, len(unique))
            answers = {key: record.reply() for key, record in found.items()}
            if missing:
                self._answer(missing, answers)
            replies = [_again(answers[key]) if first[key] != place else answers[key] for place, key in enumerate(keys)]
            self._account.returned(replies)
            return replies

    def refuse_missing(self, missing: Mapping[str, Request], asked: int) -> None:
        """Raise `MissingError` where replies are missing and may not be asked for."""
        if not missing or not self._replay_only:
            return
        key, request = next(iter(missing.items()))
        about = f" (about {request.about})" if request.about else ""
        place = self._replies.place if self._replies is not None else "no cache"
        raise MissingError(
            f"{place}: {len(missing)} of {asked} requests have no reply; the first is {key}{about}. Prompt, model and "
            "sampling parameters must be those of the replies; or ask the model with llm.replay_only=false"
        )

    def _answer(self, missing: Mapping[str, Request], answers: dict[str, Reply]) -> None:
        waiting = list(missing.items())
        with bar("language model", "reply", len(waiting)) as shown:
            if self._asker.workers == 1:
                while waiting:
                    batch = self._next_batch(waiting, answers)
                    if batch:
                        self._take(batch, self._call(batch), answers)
                        shown.update(len(batch))
                return
            with ThreadPoolExecutor(self._asker.workers, thread_name_prefix="llm") as pool:
                self._answer_together(pool, waiting, answers, shown)

    def _answer_together(
        self, pool: ThreadPoolExecutor, waiting: list[tuple[str, Request]], answers: dict[str, Reply], shown: Bar
    ) -> None:
        running: dict[Future[list[Reply]], list[tuple[str, Request]]] = {}
        try:
            while waiting or running:
                # Few wait inside the pool, so that the budget sees what was spent before the next are let in.
                while waiting and len(running) < self._asker.workers:
                    batch = self._next_batch(waiting, answers)
                    if not batch:
                        break
                    running[pool.submit(self._call, batch)] = batch
                if not running:
                    break
                done, _ = wait(running, return_when=FIRST_COMPLETED)
                self._take_done(done, running, answers, shown)
        except BaseException:
            self._asker.stop()
            done, _ = wait(running, timeout=LEAVE)
            finished = {future for future in done if future.exception() is None}
            self._take_done(finished, running, answers, shown)
            raise

    def _take_done(
        self,
        done: set[Future[list[Reply]]],
        running: dict[Future[list[Reply]], list[tuple[str, Request]]],
        answers: dict[str, Reply],
        shown: Bar,
    ) -> None:
        """Keep what came, all of it in one transaction, before a failure among them ends the job."""
        batch: list[tuple[str, Request]] = []
        came: list[Reply] = []
        failure: BaseException | None = None
        for future in done:
            asked = running.pop(future)
            if (error := future.exception()) is not None:
                failure = error
            else:
                batch += asked
                came += future.result()
        if batch:
            self._take(batch, came, answers)
            shown.update(len(batch))
        if failure is not None:
            raise failure

    def _next_batch(self, waiting: list[tuple[str, Request]], answers: dict[str, Reply]) -> list[tuple[str, Request]]:
        """Take the next requests that the budget admits off those that wait; the others are answered here."""
        batch: list[tuple[str, Request]] = []
        taken = 0
        for key, request in waiting:
            if len(batch) == self._asker.batch:
                break
            if self._budget.admits(request):
                batch.append((key, request))
            elif self._budget.under_way:
                break
            else:
                detail = f"the limit of {self._prices.most:g} would be passed; spent {self._budget.spent:.6g}"
                answers[key] = Reply("", finish_reason="", attempts=0, error="budget", detail=detail)
            taken += 1
        del waiting[:taken]
        return batch

    def _call(self, batch: Sequence[tuple[str, Request]]) -> list[Reply]:
        return self._asker.answer([request for _, request in batch], [key for key, _ in batch])

    def _take(self, batch: Sequence[tuple[str, Request]], replies: Sequence[Reply], answers: dict[str, Reply]) -> None:
        records = []
        for (key, request), reply in zip(batch, replies, strict=True):
            answers[key] = reply
            self._budget.settle(request, reply)
            self._account.answered(reply)
            if reply.error in KEEPS:
                records.append(Record.of(key, reply, request.prompt))
        if self._replies is None or not records:
            return
        for key, kept in self._replies.add(records).items():
            # Another job may have been answered first: what is kept is what will be found again.
            if kept.text != answers[key].text or kept.error != answers[key].error:
                answers[key] = replace(kept.reply(), attempts=answers[key].attempts)


def _again(reply: Reply) -> Reply:
    return replace(reply, attempts=0, cached=not reply.error or reply.cached)
