"""Runs a scenario against a relay process, ours or the oracle, whose worker is a puppet of ours."""

import base64
import json
import socket
import sys
import time
from pathlib import Path

from relay_rig import PATIENCE_SECONDS, RELAYS, RelayProcess
from worker_expectations import Expectations
from worker_scenario import Scenario, Step

PUPPET = Path(__file__).parents[2] / "rigs" / "puppet_worker.py"
EARLY_SECONDS, LATE_SECONDS = 0.05, 5.0
"""How far a real clock may be off; how late a deadline acts depends on the machine, how early does not."""
INPUTS = {"stdin": "stdin", "sideband": "sideband in"}


class ProcessRun:
    """One scenario under one relay."""

    def __init__(self, scenario: Scenario, relay: str) -> None:
        self.scenario = scenario
        self.relay = relay
        self.expected = Expectations(self.more)
        self.seen = 0

    def run(self) -> None:
        """Do every step, then leave nothing behind."""
        ours, theirs = socket.socketpair()
        with ours, theirs:
            puppet = [sys.executable, "-S", "-E", str(PUPPET), str(theirs.fileno())]
            command = [*RELAYS[self.relay], *self.scenario.options]
            with RelayProcess(command, puppet, pass_fds=[theirs.fileno()]) as self.process:
                theirs.close()
                ours.settimeout(PATIENCE_SECONDS)
                self.control = ours.makefile("rwb", buffering=0)
                with self.control:
                    assert self.control.readline() == b'"ready"\n'
                    self.begun = time.monotonic()
                    self.expected.event(Step(0, "relay", "event", value={"kind": "worker_started", "pid": "*"}))
                    for step in self.scenario.steps:
                        getattr(self, f"{step.actor}_{step.verb}")(step)
                assert self.process.status == 0
                assert self.process.tail == b""

    def more(self) -> bool:
        """Wait for another event."""
        process = self.process
        with process.news:
            process.news.wait_for(lambda: len(process.lines) > self.seen or process.ended, PATIENCE_SECONDS)
            if len(process.lines) == self.seen:
                assert process.ended, f"nothing came; so far {self.expected.all}"
                return False
            self.expected.came(json.loads(process.lines[self.seen][1]))
            self.seen += 1
        return True

    def tell(self, action: str, *arguments: object) -> None:
        self.control.write(json.dumps([action, *arguments]).encode() + b"\n")

    def ask(self, action: str, *arguments: object) -> object:
        self.tell(action, *arguments)
        return json.loads(self.control.readline() or b"null")

    # Steps

    def controller_sends(self, step: Step) -> None:
        self.process.send(step.value)

    def controller_EOF(self, _: Step) -> None:
        self.process.close_commands()

    def worker_writes(self, step: Step) -> None:
        name = "sideband out" if step.name == "sideband" else step.name
        self.ask("write", name, base64.b64encode(step.value).decode())

    def worker_reads(self, step: Step) -> None:
        size = 1 if step.value is None else len(step.value)
        got = base64.b64decode(str(self.ask("read", INPUTS[step.name], size)))
        assert got == (step.value or b""), f"line {step.line}"

    def worker_interrupted(self, step: Step) -> None:
        assert self.ask("interrupted", int(step.name)), f"line {step.line}"

    def worker_closes(self, step: Step) -> None:
        if step.name == "sideband":
            self.ask("close", "sideband in")
            self.ask("close", "sideband out")
        else:
            self.ask("close", step.name)

    def worker_exits(self, step: Step) -> None:
        self.tell("exit", int(step.name))

    def worker_signals(self, step: Step) -> None:
        self.tell("signal", int(step.name))

    def worker_stops(self, _: Step) -> None:
        self.tell("stop")
        pid = self.expected.all[0]["pid"]
        while Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "T":
            time.sleep(0.001)

    def child_holds(self, step: Step) -> None:
        assert self.ask("hold", "sideband out" if step.name == "sideband" else step.name)

    def wait_wait(self, step: Step) -> None:
        time.sleep(step.value)

    def quiet_quiet(self, step: Step) -> None:
        before = len(self.process.lines)
        time.sleep(step.value)
        assert len(self.process.lines) == before, f"line {step.line}"

    def relay_event(self, step: Step) -> None:
        self.expected.event(step)

    def relay_raw(self, step: Step) -> None:
        self.expected.raw(step)

    def ends_ends(self, step: Step) -> None:
        self.expected.ending(step, step.value)
        if step.value.at is not None:
            ended = self.process.started_at + self.process.lines[-1][0] - self.begun
            assert step.value.at - EARLY_SECONDS <= ended <= step.value.at + LATE_SECONDS, f"ended at {ended}"
