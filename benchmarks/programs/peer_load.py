"""The tests' second speaker as a load; run with tests/rigs on the path. Says one JSON line.

`handshakes HOST:PORT ID KEY COUNT`: so many one-shots, one after the other.
`links HOST:PORT ID KEY COUNT SECONDS`: so many links that beat every 30 s; says "linked" first.
`leases HOST:PORT ID KEY LEASES WAITERS`: so many held by sixteen peers, and so many waiting for those.
`wait SECONDS`
"""

import json
import sys
import threading
import time

from peer_errands import asked, claim
from peer_speaker import Line, Speaker


def address(text: str) -> tuple[str, int]:
    host, _, port = text.rpartition(":")
    return host, int(port)


def handshakes(where: str, identity: str, key: str, count: str) -> dict[str, float]:
    caller = Speaker("caller-00000002", {identity: bytes.fromhex(key)})
    started = time.monotonic()
    for _ in range(int(count)):
        caller.dial(address(where), identity, transient=True).close()
    return {"seconds": time.monotonic() - started}


def links(where: str, identity: str, key: str, count: str, seconds: str) -> None:
    held: list[Line] = []
    for number in range(int(count)):
        speaker = Speaker(f"idle{number}-00000002", {identity: bytes.fromhex(key)})
        line = speaker.dial(address(where), identity)
        line.send("heartbeat")
        line.expect("heartbeat")
        threading.Thread(target=_drain, args=(line,), daemon=True).start()
        held.append(line)
    print("linked", flush=True)
    for _ in range(int(float(seconds) // 30) + 1):
        time.sleep(min(30.0, float(seconds)))
        for line in held:
            line.send("heartbeat")


def _drain(line: Line) -> None:
    while line.socket.recv(65536):
        pass


def leases(where: str, identity: str, key: str, held: str, waiting: str) -> dict[str, float]:
    speakers = [Speaker(f"holder{number}-00000002", {identity: bytes.fromhex(key)}) for number in range(16)]
    for outcome, count in (("granted", int(held)), ("queued", int(waiting))):
        for number in range(count):
            # Whoever holds a path is not the one that waits for it.
            speaker = speakers[(number + (outcome == "queued")) % len(speakers)]
            wanted = claim(f"{outcome}-{number}", f"held/{number:05d}/**", ttl_secs=3600, wait=outcome == "queued")
            with speaker.dial(address(where), identity, transient=True) as line:
                answer = asked(line, "lease_claim", wanted)
            if answer["outcome"] != outcome:
                raise SystemExit(f"{wanted} was answered {answer}")
    return {"held": float(held), "waiting": float(waiting)}


def main(words: list[str]) -> None:
    """Do what the words say."""
    if words[0] == "handshakes":
        print(json.dumps(handshakes(*words[1:])))
    elif words[0] == "leases":
        print(json.dumps(leases(*words[1:])))
    elif words[0] == "links":
        links(*words[1:])
    else:
        started = time.monotonic()
        time.sleep(float(words[1]))
        print(json.dumps({"seconds": time.monotonic() - started}))


if __name__ == "__main__":
    main(sys.argv[1:])
