"""etcd-server and redis-server as lock servers: lock and unlock of one name, again and again, by one client each."""

import base64
import contextlib
import http.client
import json
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from benchmarks.context import Context
from benchmarks.fanout_servers import found, wait_listening

LockAndUnlock = Callable[[], None]

RELEASE = "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) else return 0 end"
"""Only the holder's token releases: the documented way."""


def free_port() -> int:
    """A TCP port of loopback that nobody has now."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port: int = free.getsockname()[1]
    return port


def p50_ms(work: LockAndUnlock, times: int) -> float:
    """The median of so many rounds in milliseconds, after a tenth of them to warm up."""
    for _ in range(max(1, times // 10)):
        work()
    took = []
    for _ in range(times):
        started = time.perf_counter()
        work()
        took.append(time.perf_counter() - started)
    return sorted(took)[len(took) // 2] * 1000


@contextmanager
def etcd(context: Context) -> Iterator[LockAndUnlock]:
    """One etcd member with its defaults (an fsync a write), through its HTTP gateway; the session lease is kept."""
    with context.room("etcd") as room, context.stage() as stage:
        client, peer = (f"http://127.0.0.1:{free_port()}" for _ in range(2))
        options = {
            "--data-dir": str(room / "data"),
            "--listen-client-urls": client,
            "--advertise-client-urls": client,
            "--listen-peer-urls": peer,
            "--initial-advertise-peer-urls": peer,
            "--initial-cluster": f"default={peer}",
        }
        stage.start([found("etcd"), *(word for pair in options.items() for word in pair)])
        port = int(client.rpartition(":")[2])
        wait_listening(str(port))
        with contextlib.closing(http.client.HTTPConnection("127.0.0.1", port, timeout=10)) as connection:

            def ask(path: str, **body: Any) -> dict[str, Any]:
                connection.request("POST", path, json.dumps(body).encode(), {"Content-Type": "application/json"})
                answer = connection.getresponse()
                told: dict[str, Any] = json.loads(answer.read())
                if answer.status != 200:
                    raise RuntimeError(f"etcd {path}: {answer.status} {told}")
                return told

            lease = ask("/v3/lease/grant", TTL=600)["ID"]
            name = base64.b64encode(b"path_glob:src/auth").decode()
            yield lambda: _lock_etcd(ask, name, lease)


def _lock_etcd(ask: Callable[..., dict[str, Any]], name: str, lease: str) -> None:
    ask("/v3/lock/unlock", key=ask("/v3/lock/lock", name=name, lease=lease)["key"])


@contextmanager
def redis(context: Context, *, durable: bool) -> Iterator[LockAndUnlock]:
    """redis-server on loopback TCP; `durable` makes it sync every write before it answers."""
    with context.room("redis") as room, context.stage() as stage:
        port = free_port()
        options = f"--port {port} --bind 127.0.0.1 --dir {room} --appendonly {'yes' if durable else 'no'}".split()
        stage.start([found("redis-server"), *options, "--appendfsync", "always", "--save", ""])
        wait_listening(str(port))
        with socket.create_connection(("127.0.0.1", port), 10) as connection, connection.makefile("rb") as answers:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

            def ask(*words: str) -> bytes:
                parts = [f"${len(word.encode())}\r\n{word}\r\n" for word in words]
                connection.sendall(f"*{len(words)}\r\n{''.join(parts)}".encode())
                line = answers.readline()
                if line[:1] == b"$":
                    line = answers.read(int(line[1:]) + 2)
                if line[:1] in (b"-", b""):
                    raise RuntimeError(f"redis {words[0]}: {line!r}")
                return line.strip()

            script = ask("SCRIPT", "LOAD", RELEASE).decode()
            yield lambda: _lock_redis(ask, script)


def _lock_redis(ask: Callable[..., bytes], script: str) -> None:
    if ask("SET", "path_glob:src/auth", "token", "NX", "PX", "600000") != b"+OK":
        raise RuntimeError("redis: somebody holds it")
    if ask("EVALSHA", script, "1", "path_glob:src/auth", "token") != b":1":
        raise RuntimeError("redis: it was not ours to release")
