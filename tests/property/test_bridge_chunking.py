"""Any bytes, in pieces of any size and in any order, arrive identical; on the machine and on sockets."""

import os
import socket
import threading

from hypothesis import given, settings
from hypothesis import strategies as st

from hopline.serve.bridge import Bridge, BridgeLimits, Wait
from hopline.serve.bridge_loop import copy
from hopline.serve.bridge_outcomes import Outcome
from hopline.serve.stdio import Output

LIMITS = BridgeLimits()
ORDER = (Wait.READ_CLIENT, Wait.WRITE_SERVER, Wait.READ_SERVER, Wait.WRITE_CLIENT)


@given(
    up=st.binary(max_size=200),
    down=st.binary(max_size=200),
    already=st.binary(max_size=20),
    turns=st.lists(st.tuples(st.sampled_from(ORDER), st.integers(0, 64)), max_size=400),
)
def test_the_machine_relays_every_byte_in_order_whatever_the_turns(
    up: bytes, down: bytes, already: bytes, turns: list[tuple[Wait, int]]
) -> None:
    bridge = Bridge(LIMITS, 0.0, already)
    unread = {Wait.READ_CLIENT: up, Wait.READ_SERVER: down}
    to_server, to_client = b"", b""
    finish = [(kind, 64) for _ in range(450) for kind in ORDER]
    for now, (kind, size) in enumerate([*turns, *finish]):
        if not bridge.waits & kind:
            continue
        match kind:
            case Wait.READ_CLIENT if data := unread[kind][:size]:
                bridge.receive_from_client(data, now / 1000)
                unread[kind] = unread[kind][size:]
            case Wait.READ_SERVER if data := unread[kind][:size]:
                bridge.receive_from_server(data, now / 1000)
                unread[kind] = unread[kind][size:]
            case Wait.WRITE_SERVER:
                data = bytes(bridge.to_server.pending[:size])
                to_server += data
                bridge.server_took(len(data), now / 1000)
            case Wait.WRITE_CLIENT:
                data = bytes(bridge.to_client.pending[:size])
                to_client += data
                bridge.client_took(len(data), now / 1000)
        bridge.on_time(now / 1000)
        assert bridge.end is None
    assert (to_server, to_client) == (already + up, down)
    bridge.receive_eof_from_server()
    assert bridge.end is not None
    assert bridge.end.outcome is Outcome.SERVER_CLOSED


chunks = st.lists(st.binary(min_size=1, max_size=3000), max_size=12)


@settings(max_examples=40, deadline=None)
@given(up=chunks, down=chunks, already=st.binary(max_size=100), read_bytes=st.sampled_from([1, 7, 4096, 65_536]))
def test_real_sockets_relay_every_byte_in_order_whatever_the_chunks(
    up: list[bytes], down: list[bytes], already: bytes, read_bytes: int
) -> None:
    server, far = socket.socketpair()
    server.setblocking(False)
    far.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4608)
    server.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4608)
    in_read, in_write = os.pipe()
    out_read, out_write = os.pipe()
    got: dict[str, bytes] = {}
    expected = already + b"".join(up)

    def serve() -> None:
        for chunk in down:
            far.sendall(chunk)
        received = b""
        while len(received) < len(expected):
            received += far.recv(999)
        got["server"] = received
        far.close()

    def write() -> None:
        for chunk in up:
            rest = memoryview(chunk)
            while rest:
                rest = rest[os.write(in_write, rest) :]

    def read() -> None:
        received = b""
        while data := os.read(out_read, 997):
            received += data
        got["client"] = received

    threads = [threading.Thread(target=body) for body in (serve, write, read)]
    for thread in threads:
        thread.start()
    out = Output(out_write)
    try:
        end = copy(server, in_read, out, BridgeLimits(read_bytes=read_bytes), already=already)
    finally:
        out.close()
        os.close(out_write)
        for thread in threads:
            thread.join(20)
        for descriptor in (in_read, in_write, out_read):
            os.close(descriptor)
    assert end.outcome is Outcome.SERVER_CLOSED
    assert got == {"server": expected, "client": b"".join(down)}
