"""A server's end of a connection, scripted by the test: no process, no journal."""

import socket
import threading
from collections.abc import Callable

import msgspec

from hopline.client import Connection
from hopline.wire.client.requests import Request, decode_request

Answering = Callable[[Request], list[dict[str, object]]]


class Scripted:
    """Answers each request with what the script returns, until the client leaves."""

    def __init__(self, script: Answering) -> None:
        ours, theirs = socket.socketpair()
        self.requests: list[Request] = []
        self._script = script
        self._answered = threading.Event()
        self._end = ours
        descriptor = theirs.detach()
        self.connection = Connection(descriptor, descriptor, "the run's server")
        self._thread = threading.Thread(target=self._serve)
        self._thread.start()

    def _serve(self) -> None:
        with self._end, self._end.makefile("rb") as lines:
            for line in lines:
                request = decode_request(line)
                self.requests.append(request)
                answers = self._script(request)
                if not answers:
                    return
                for answer in answers:
                    answer.setdefault("request_id", request.request_id)
                    self._end.sendall(msgspec.json.encode(answer) + b"\n")
                self._answered.set()

    def hang_up(self) -> None:
        """End the stream toward the client, once the first request is answered."""
        assert self._answered.wait(5)
        self._end.shutdown(socket.SHUT_WR)

    def finish(self) -> None:
        self.connection.close()
        self._thread.join(5)


def response(**sections: object) -> dict[str, object]:
    return {"protocol_version": 1, "timestamp": "2026-01-01T00:00:00Z", "ok": True, **sections}


def refused(code: str, summary: str, hint: str | None = None) -> dict[str, object]:
    diagnostic = {"id": "1", "code": code, "summary": summary, "hint": hint}
    return response(ok=False, error=summary, diagnostic=diagnostic)


def event(sequence: int, kind: str, data: dict[str, object] | None = None) -> dict[str, object]:
    moment = "2026-01-01T00:00:00Z"
    return {
        "sequence": sequence,
        "run_id": "r",
        "timestamp": moment,
        "type": kind,
        "data": data and {"kind": kind, **data},
    }


def output(sequence: int, content: str, stream: str = "stdout", raw: str | None = None) -> dict[str, object]:
    data: dict[str, object] = {"process_id": "worker-1", "stream": stream, "content": content}
    return event(sequence, "subprocess_output", data if raw is None else {**data, "raw": raw})


def subscribed(latest: int) -> dict[str, object]:
    return {"type": "subscribed", "run_id": "r", "latest_sequence": latest}


def batch(through: int, *events: dict[str, object], **more: object) -> dict[str, object]:
    return {"type": "event_batch", "events": list(events), "through_sequence": through, "store_id": "s", **more}
