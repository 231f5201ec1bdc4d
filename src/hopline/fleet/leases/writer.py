"""The one thread that writes leases: commits together all that waits, then says so to the event loop."""

import asyncio
import logging
import sqlite3
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from queue import Empty, SimpleQueue

from hopline.errors import HoplineError, Misuse, Unavailable
from hopline.fleet.leases.records import Change, Saved
from hopline.fleet.leases.store import LeaseStore

log = logging.getLogger("hopline.hub.leases")

QUIET_SECONDS = 0.02
"""How long nothing may come before the log is folded in."""

WATCH_SECONDS = 0.001
"""How long the event loop stands still for a commit, and only when the one before took no longer."""


@dataclass(frozen=True, slots=True)
class _Load:
    done: "asyncio.Future[Saved]"


@dataclass(frozen=True, slots=True)
class _Commit:
    changes: Sequence[Change]
    done: "asyncio.Future[None]"


class LeaseWriter:
    """Writes in its own thread, which the first `load` starts. Called on the event loop's thread.

    The loop stands still for the first commit of a turn where the disk is quick, which spares it being woken. It never
    does so for longer than WATCH_SECONDS, nor for a second one, so that what comes at once is written together.

    When a commit fails, so does everything that was handed in after it until the next `load`: it was decided by a
    table that is ahead of the disk.

    Args:
        open_store: opens the database; called in the writer's thread at the first `load`, and again after a failure
            to open it.
    """

    def __init__(self, open_store: Callable[[], LeaseStore]) -> None:
        self.settled: Callable[[int, HoplineError | None], None] = _nobody
        """Told on the loop, before who waits for them is: how many commits were written together, or why they were
        not. It is told also of those that nobody waits for any more."""
        self._open_store = open_store
        self._loop: asyncio.AbstractEventLoop | None = None
        self._queue: SimpleQueue[_Load | _Commit | None] = SimpleQueue()
        self._held: list[_Load | None] = []
        self._unsettled = 0
        self._quick = True
        self._stood_still = False
        """In this turn of the loop."""
        self._turn = threading.Lock()
        """Held to look at the two below from both threads."""
        self._watched = False
        self._outcome: tuple[list[asyncio.Future[None]], HoplineError | None] | None = None
        self._came = threading.Lock()
        """Released by the thread when it leaves an outcome to a loop that stands still for it."""
        self._came.acquire()
        self._thread = threading.Thread(target=self._run, name="lease-writer", daemon=True)

    def load(self) -> "asyncio.Future[Saved]":
        """What the disk holds. Fails with HoplineError when the database cannot be had."""
        if self._loop is None:
            self._loop = asyncio.get_running_loop()
            self._thread.start()
        done: asyncio.Future[Saved] = self._loop.create_future()
        self._queue.put(_Load(done))
        return done

    def commit(self, changes: Sequence[Change]) -> "asyncio.Future[None]":
        """Done when `changes`, and all that was handed in before, is on the disk. Fails with Unavailable.

        Raises Misuse before the first `load`.
        """
        if self._loop is None:
            raise Misuse("leases were decided before what the disk holds was known")
        done: asyncio.Future[None] = self._loop.create_future()
        self._unsettled += 1
        watched = self._watched = self._quick and not self._stood_still and self._unsettled == 1
        self._queue.put(_Commit(changes, done))
        if watched:
            self._watch()
            self._stood_still = True
            self._loop.call_soon(self._begin_turn)
        return done

    def close(self) -> None:
        """Write what was handed in, and wait for that."""
        if self._thread.is_alive():
            self._queue.put(None)
            self._thread.join()

    def _begin_turn(self) -> None:
        self._stood_still = False

    def _watch(self) -> None:
        """Stand still until the only commit there is has been made, but not for long."""
        came = self._came.acquire(timeout=WATCH_SECONDS)
        if not came:
            with self._turn:
                came = not self._watched
                self._watched = False
            if came:
                self._came.acquire()
        if came and self._outcome is not None:
            outcome, self._outcome = self._outcome, None
            self._settle(*outcome)

    def _run(self) -> None:
        store: LeaseStore | None = None
        failure: HoplineError | None = None
        while (item := self._next(store)) is not None:
            if isinstance(item, _Load):
                store, failure = self._load(store, item)
                continue
            group = self._group(item)
            if store is None or failure is not None:
                failure = failure or Unavailable("the lease database is not open")
            else:
                began = time.perf_counter()
                failure = _commit(store, group)
                self._quick = time.perf_counter() - began < WATCH_SECONDS
            self._tell([one.done for one in group], failure)
            if store is not None and store.overdue:
                _fold(store)
        if store is not None:
            store.close()

    def _next(self, store: LeaseStore | None) -> "_Load | _Commit | None":
        if self._held:
            return self._held.pop()
        if store is None or not store.foldable:
            return self._queue.get()
        try:
            return self._queue.get(timeout=QUIET_SECONDS)
        except Empty:
            _fold(store)
            return self._queue.get()

    def _group(self, first: _Commit) -> list[_Commit]:
        """All commits that wait, up to the first thing that is none; that one is held for the next turn."""
        group = [first]
        while not self._queue.empty():
            item = self._queue.get()
            if not isinstance(item, _Commit):
                self._held.append(item)
                break
            group.append(item)
        return group

    def _load(self, store: LeaseStore | None, item: _Load) -> tuple[LeaseStore | None, HoplineError | None]:
        try:
            store = store or self._open_store()
            saved = store.load()
        except HoplineError as error:
            self._later(_fail, [item.done], error)
            return store, error
        except sqlite3.Error as error:
            failure = store.trouble(error) if store is not None else Unavailable(f"the leases cannot be read ({error})")
            self._later(_fail, [item.done], failure)
            return store, failure
        self._later(_give, item.done, saved)
        return store, None

    def _tell(self, done: "list[asyncio.Future[None]]", failure: HoplineError | None) -> None:
        with self._turn:
            watched, self._watched = self._watched, False
            if watched:
                self._outcome = done, failure
        if watched:
            self._came.release()
        else:
            self._later(self._settle, done, failure)

    def _settle(self, done: "list[asyncio.Future[None]]", failure: HoplineError | None) -> None:
        self._unsettled -= len(done)
        self.settled(len(done), failure)
        if failure is not None:
            _fail(done, failure)
            return
        for one in done:
            if not one.done():
                one.set_result(None)

    def _later(self, call: Callable[..., None], *values: object) -> None:
        assert self._loop is not None
        try:
            self._loop.call_soon_threadsafe(call, *values)
        except RuntimeError:
            log.info("the hub left before a lease was answered; it is on the disk")


def _commit(store: LeaseStore, group: Sequence[_Commit]) -> HoplineError | None:
    try:
        store.commit([change for one in group for change in one.changes])
    except sqlite3.Error as error:
        log.error("leases were not written: %s", error)
        return store.trouble(error)
    return None


def _fold(store: LeaseStore) -> None:
    try:
        store.fold()
    except sqlite3.Error as error:
        log.warning("the log of the lease database was not folded in: %s", error)


def _nobody(_count: int, _failure: HoplineError | None) -> None:
    pass


def _fail(done: "list[asyncio.Future[None]]", failure: HoplineError) -> None:
    for one in done:
        if not one.done():
            one.set_exception(failure)


def _give(done: "asyncio.Future[Saved]", saved: Saved) -> None:
    if not done.done():
        done.set_result(saved)


def default_store(path: Path, now_millis: Callable[[], int]) -> Callable[[], LeaseStore]:
    """Opens the database at `path` when it is needed."""
    return lambda: LeaseStore.open(path, now_millis())
