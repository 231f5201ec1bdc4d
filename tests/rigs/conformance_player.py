"""Replays one scenario over one carrier: steps in their order, every message held to the rules of all messages."""

import asyncio
import hashlib
import json
import tempfile
import traceback
from collections.abc import Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

from conformance_carriers import Carriers
from conformance_corpus import corpus
from conformance_format import Runner, Scenario, Step, expand
from conformance_peers import SECONDS, Peer, Pieces
from conformance_rules import MAX_EVENT_BYTES, differences, events_of, read
from conformance_run import RUN_ID, ScenarioRun, every_form, server_without
from msgspec import UNSET

QUIET_SECONDS = 0.08

PART_CODE_POINTS = 65_536


class Frontend:
    """One client of a scenario and everything it was told."""

    def __init__(self, peer: Peer, run: ScenarioRun) -> None:
        self.peer = peer
        self._run = run
        self._streaming = False
        self._cursor = 0
        self._reading: asyncio.Task[bytes | None] | None = None

    async def message(self, seconds: float = SECONDS) -> dict[str, Any] | None:
        """The next message, checked; None when the server has closed. Raises TimeoutError."""
        if self._reading is None:
            self._reading = asyncio.ensure_future(self.peer.receive())
        await asyncio.wait((self._reading,), timeout=seconds)
        if not self._reading.done():
            raise TimeoutError
        found, self._reading = self._reading.result(), None
        if found is None:
            return None
        message = read(found)
        self._check(message, found)
        return message

    async def stop(self) -> None:
        """Read no further."""
        if self._reading is not None:
            self._reading.cancel()
            await asyncio.wait((self._reading,))

    def _check(self, message: dict[str, Any], raw: bytes) -> None:
        kind = message["type"]
        if kind == "response":
            assert not self._streaming, "a Response on a subscription (WP-ROLES)"
            self._compare(message, raw)
        elif kind == "subscribed":
            assert not self._streaming, "a second acknowledgement"
            assert message["run_id"] == RUN_ID
            self._streaming = True
        else:
            unframed = message.get("code") == "invalid_frame"
            assert self._streaming or unframed, f"{kind} before the acknowledgement (WP-SUBSCRIBE-ACK)"
        if kind == "event_batch":
            self._batch(message, raw)

    def _batch(self, message: dict[str, Any], raw: bytes) -> None:
        sequences = [event["sequence"] for event in message["events"]]
        assert sequences == sorted(set(sequences))
        assert (message["active_executions"] is None) is (message["active_executions_checkpoint_id"] is not None)
        if sequences:
            assert sequences[-1] <= message["through_sequence"]
        assert message["store_id"] == self._run.store.store_id
        self._compare(message, raw)

    def _compare(self, message: dict[str, Any], raw: bytes) -> None:
        """What came is what the journal holds, byte for byte, but for legacy events that say the same in new words."""
        for event, came in zip(message["events"], events_of(raw), strict=True):
            kept = self._run.stored(event["sequence"])
            if b'"type":"invocation_' in kept:
                assert event["type"].startswith("agent_execution_")
                continue
            assert came == kept, f"event {event['sequence']}: {came[:200]!r} came, {kept[:200]!r} is kept"
            assert len(came) <= MAX_EVENT_BYTES


def replay(scenario: Scenario, runner: Runner, seed: int) -> None:
    """Replay a scenario cut in each way that its runner names, side by side, each before a run of its own.

    Raises AssertionError where it does not hold.
    """
    ways: list[Pieces] = ["whole"] if scenario.whole_only else list(runner.pieces)
    with tempfile.TemporaryDirectory(prefix="hc") as place, server_without(scenario.setup.without):
        folders = [Path(place, str(pieces)) for pieces in ways]
        for folder in folders:
            folder.mkdir()
        players = [Player(scenario, runner, pieces, seed) for pieces in ways]
        asyncio.run(_side_by_side(players, folders))


async def _side_by_side(players: "list[Player]", folders: list[Path]) -> None:
    plays = [player.play(folder) for player, folder in zip(players, folders, strict=True)]
    failures = [one for one in await asyncio.gather(*plays, return_exceptions=True) if one is not None]
    if failures:
        raise failures[0]


class Player:
    """One replay.

    Args:
        scenario: what is said.
        runner: over what.
        pieces: cut how.
        seed: of random cuts.
    """

    def __init__(self, scenario: Scenario, runner: Runner, pieces: Pieces, seed: int) -> None:
        self._scenario, self._runner, self._pieces, self._seed = scenario, runner, pieces, seed
        self._frontends: dict[str, Frontend] = {}

    async def play(self, place: Path) -> None:
        """Replay the scenario before a run at `place`. Raises AssertionError where it does not hold."""
        failed: AssertionError | None = None
        run = ScenarioRun(place, self._scenario.setup)
        async with run.served(), AsyncExitStack() as stack:
            self._run = run
            self._carriers = Carriers(run, stack, self._pieces, self._seed)
            for number, step in enumerate(self._scenario.steps, 1):
                try:
                    await self._step(step)
                except (AssertionError, TimeoutError) as error:
                    what = str(error) or traceback.format_exc(limit=-1).strip()
                    where = f"{self._scenario.id} over {self._runner.id}, pieces {self._pieces}, seed {self._seed}"
                    failed = AssertionError(f"{where}, step {number}: {what}")
                    break
            for frontend in self._frontends.values():
                await frontend.stop()
        if failed is not None:
            raise failed

    async def _step(self, step: Step) -> None:
        match step.dir:
            case "run":
                await self._act(step)
            case "c2s":
                await self._send(step)
            case _ if step.quiet:
                await self._quiet(step)
            case _:
                await self._expect(step)

    async def _frontend(self, name: str) -> Frontend:
        if name not in self._frontends:
            clients = self._scenario.clients
            transport = clients[name].transport if name in clients else ""
            carrier = self._runner.carriers.get(transport, self._runner.id)
            self._frontends[name] = Frontend(await self._carriers.connect(carrier), self._run)
        return self._frontends[name]

    async def _send(self, step: Step) -> None:
        if step.act == "connect":
            if (before := self._frontends.pop(step.client, None)) is not None:
                await before.stop()
                await before.peer.close()
            await self._frontend(step.client)
            return
        peer = (await self._frontend(step.client)).peer
        match step.act:
            case "end":
                await peer.end()
            case "stop_reading" | "read_on":
                pass
            case "close":
                await self._frontends[step.client].stop()
                await peer.close()
            case _ if step.base64 is not None:
                await peer.send_part(step.base64)
            case _:
                data = str(step.text) if step.frame is None else compact(step.frame)
                await (peer.send_part if step.unfinished else peer.send)(data.encode())

    async def _quiet(self, step: Step) -> None:
        frontend = await self._frontend(step.client)
        try:
            message = await frontend.message(QUIET_SECONDS)
        except TimeoutError:
            return
        raise AssertionError(f"nothing was to come, but {str(message)[:200]}")

    async def _expect(self, step: Step) -> None:
        frontend = await self._frontend(step.client)
        assert step.expect is not UNSET and step.expect is not None
        expected = dict(step.expect)
        message = await frontend.message()
        if expected["type"] == "closed":
            assert message is None, f"the server was to close, but {str(message)[:200]}"
            return
        assert message is not None, f"the server closed instead of sending {expected['type']}"
        missed = differences(message, expected)
        assert not missed, "; ".join(missed)
        messages = [message]
        while step.through and messages[-1].get("through_sequence", 0) < step.through:
            following = await frontend.message()
            assert following is not None and following["type"] == "event_batch", str(following)[:200]
            assert following["rebootstrap"] is False, "the marker is on the first frame only (WP-REBOOTSTRAP)"
            messages.append(following)
        self._look_at(step, messages)
        if step.checkpoint is not None:
            assert len(await self._deferred(frontend, messages)) == step.checkpoint

    async def _deferred(self, frontend: Frontend, frames: list[dict[str, Any]]) -> list[Any]:
        """The list whose parts follow `frames`."""
        last = frames[-1]
        name = last["active_executions_checkpoint_id"]
        assert {frame["active_executions_checkpoint_id"] for frame in frames} == {name}
        payloads: list[str] = []
        parts = 1
        while len(payloads) < parts:
            chunk = await frontend.message()
            assert chunk is not None and chunk["type"] == "active_executions_chunk", str(chunk)[:200]
            parts = chunk["parts"]
            cursor = {name: last[name] for name in ("through_sequence", "store_id", "history_after_sequence")}
            wanted = {"checkpoint_id": name, "part": len(payloads), "parts": parts, **cursor}
            assert not differences(chunk, wanted), differences(chunk, wanted)
            payloads.append(chunk["payload"])
        assert {len(payload) for payload in payloads[:-1]} <= {PART_CODE_POINTS}
        assert 1 <= len(payloads[-1]) <= PART_CODE_POINTS
        text = "".join(payloads)
        assert hashlib.sha256(text.encode()).hexdigest() == name
        found: list[Any] = json.loads(text)
        assert text == compact(found)
        return found

    def _look_at(self, step: Step, messages: list[dict[str, Any]]) -> None:
        events = [event for message in messages for event in message.get("events", ())]
        if step.through:
            assert messages[-1]["through_sequence"] == step.through
        if step.sequences:
            got = [event["sequence"] for event in events]
            assert got == expand(step.sequences), f"events {ranges(got)} came, not {step.sequences}"
        if step.types is not None:
            assert [event["type"] for event in events] == step.types
        if step.kinds:
            assert [event["type"] for event in events] == [kind for kind, _ in every_form()]
        if step.executions is not None:
            assert len(messages[-1]["active_executions"]) == step.executions
        if step.frames:
            least, most = step.frames
            assert least <= len(messages) <= most, f"{len(messages)} frames, not {least} to {most}"

    async def _act(self, step: Step) -> None:
        run = self._run
        match step.do:
            case "publish":
                await run.publish(step.outputs, step.output_bytes)
            case "burst":
                await run.burst(step.outputs, step.output_bytes, step.bursts)
            case "attach_store":
                await run.attach(step.value or "", step.outputs)
            case "record":
                kind = step.value["kind"]
                run.record(kind, corpus().payloads[kind][0], execution_id=step.value["execution_id"])
            case "hold_input":
                run.workers[-1].room.clear() if step.value else run.workers[-1].room.set()
            case "subscribers":
                await until(lambda: run.subscriptions.count == step.value, f"{step.value} subscribers")
            case _:
                raise AssertionError(f"this runner cannot {step.do}")


async def until(what: Callable[[], bool], name: str) -> None:
    """Wait for something that nothing announces."""
    try:
        async with asyncio.timeout(SECONDS):
            while not what():  # noqa: ASYNC110  # nothing announces it
                await asyncio.sleep(0.005)
    except TimeoutError:
        raise AssertionError(f"there never were {name}") from None


def compact(frame: Any) -> str:
    """A frame as it is sent."""
    return json.dumps(frame, separators=(",", ":"), ensure_ascii=False)


def ranges(sequences: list[int]) -> str:
    """[1, 2, 3, 7] as `1-3,7`."""
    found: list[list[int]] = []
    for sequence in sequences:
        if found and found[-1][1] + 1 == sequence:
            found[-1][1] = sequence
        else:
            found.append([sequence, sequence])
    return ",".join(str(first) if first == last else f"{first}-{last}" for first, last in found)
