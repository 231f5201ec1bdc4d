"""Errands of the second speaker over a connection: a conversation, a lease, a task. From the seed alone."""

import base64
import hashlib
import itertools
import json
import re
from pathlib import Path
from typing import Any

from peer_forms import slug_of
from peer_speaker import Line

CHUNK = 524_288


def chunks_of(session_id: str, cwd: str, transcript: bytes) -> list[dict[str, Any]]:
    """The payloads that carry a transcript: exactly 524,288 bytes each but the last; an empty one is one chunk."""
    digest = hashlib.sha256(transcript).hexdigest()
    pieces = [transcript[at : at + CHUNK] for at in range(0, len(transcript), CHUNK)] or [b""]
    return [
        {
            "session_id": session_id,
            "cwd": cwd,
            "seq": seq,
            "total": len(pieces),
            "digest": digest,
            "data": base64.b64encode(piece).decode(),
        }
        for seq, piece in enumerate(pieces)
    ]


def send_conversation(line: Line, session_id: str, cwd: str, transcript: bytes) -> dict[str, Any]:
    """All chunks in order, then the payload of `session_received`."""
    for chunk in chunks_of(session_id, cwd, transcript):
        line.send("session_transfer", chunk)
    received: dict[str, Any] = line.expect("session_received", seconds=30)["payload"]
    return received


def take_conversation(line: Line, projects: Path, *, answer: bool = True) -> Path:
    """Receive every chunk as 0.78 does, place the transcript below `projects`, answer. Strict about each chunk."""
    part = bytearray()
    for expected in itertools.count():
        chunk = line.expect("session_transfer", seconds=30)["payload"]
        assert set(chunk) == {"session_id", "cwd", "seq", "total", "digest", "data"}, chunk.keys()
        assert re.fullmatch(r"[A-Za-z0-9_-]{1,128}", chunk["session_id"])
        assert re.fullmatch(r"[0-9a-f]{64}", chunk["digest"])
        assert chunk["seq"] == expected < chunk["total"]
        assert len(part) == expected * CHUNK, "a chunk that is not 524,288 bytes"
        part += base64.b64decode(chunk["data"], validate=True)
        if expected + 1 == chunk["total"]:
            break
    assert hashlib.sha256(part).hexdigest() == chunk["digest"]
    place = projects / slug_of(chunk["cwd"]) / f"{chunk['session_id']}.jsonl"
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(part)
    if answer:
        resume = f"cd '{chunk['cwd']}' && claude --resume {chunk['session_id']} --fork-session"
        line.send("session_received", {"session_id": chunk["session_id"], "path": str(place), "resume": resume})
    return place


def claim(lease_id: str, value: str, **changes: Any) -> dict[str, Any]:
    """The payload of a claim of `path_glob:value` for session `s1`."""
    plain = {
        "request_id": f"rq-{lease_id}",
        "lease_id": lease_id,
        "session": "s1",
        "kind": "path_glob",
        "value": value,
        "mode": "exclusive",
        "ttl_secs": 600,
    }
    return plain | changes


def asked(line: Line, msg_type: str, payload: dict[str, Any]) -> dict[str, Any]:
    """Send a request of leases; the payload of the `lease_result` that echoes its id."""
    line.send(msg_type, payload)
    result: dict[str, Any] = line.expect("lease_result")["payload"]
    assert result["request_id"] == payload["request_id"], result
    return result


def session(session_id: str) -> dict[str, Any]:
    """One element of a heartbeat's `sessions`."""
    text = """{"pid": 4242, "project": "demo", "status": "Processing", "cost_usd": 0.42, "context_pct": null,
    "telemetry": {"state": "Available", "usage_metrics_available": true},
    "estimate": {"verified": true, "profile_source": "builtin"}, "worker_origin": null}"""
    found: dict[str, Any] = json.loads(text)
    return found | {"session_id": session_id}
