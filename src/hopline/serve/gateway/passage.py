"""Passes messages between one WebSocket peer and one run, both ways, until either ends, unread (WG-UNREAD).

The end of either side is the end of both: a peer's close is the run's end of stream, a run's close is an ordinary
close, after everything it sent.
"""

import asyncio
import contextlib

from hopline.errors import HoplineError
from hopline.serve.gateway import faults
from hopline.serve.gateway.carrier import NotText, PeerGone, WebSocketCarrier
from hopline.serve.gateway.limits import GatewayLimits
from hopline.serve.gateway.upstream import Dialer, MessageTooLong, Upstream


async def pass_messages(carrier: WebSocketCarrier, dialer: Dialer, run_id: str, limits: GatewayLimits) -> None:
    """Serve one accepted connection to a run. The peer is told in band when the run cannot be reached."""
    try:
        upstream = await dialer.dial(run_id)
    except HoplineError as error:
        await _tell(carrier, faults.unreachable(error))
        return
    try:
        last = await _until_either_ends(carrier, upstream, limits)
    finally:
        upstream.close()
    if last is not None:
        await _tell(carrier, last)


async def first_to_end(*jobs: "asyncio.Task[bytes | None]") -> bytes | None:
    """What the first of `jobs` to end returns; the others are cancelled. Raises what the first raises.

    When several end at once, one that has something to say goes first.
    """
    try:
        done, _ = await asyncio.wait(jobs, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for job in jobs:
            job.cancel()
        await asyncio.gather(*jobs, return_exceptions=True)
    said = [result for job in done if (result := job.result()) is not None]
    return said[0] if said else None


async def _until_either_ends(carrier: WebSocketCarrier, upstream: Upstream, limits: GatewayLimits) -> bytes | None:
    return await first_to_end(
        asyncio.create_task(_inward(carrier, upstream)),
        asyncio.create_task(_outward(carrier, upstream, limits)),
    )


async def _inward(carrier: WebSocketCarrier, upstream: Upstream) -> bytes | None:
    """From the peer to the run. Returns a last word for the peer."""
    try:
        while True:
            await upstream.send(await carrier.receive())
    except NotText:
        return faults.invalid_frame()
    except PeerGone:
        return None
    except ConnectionError:
        # What the run still had to say is with `_outward`, which ends this.
        await asyncio.Event().wait()
        return None


async def _outward(carrier: WebSocketCarrier, upstream: Upstream, limits: GatewayLimits) -> bytes | None:
    """From the run to the peer. Returns a last word for the peer."""
    try:
        while (message := await upstream.receive()) is not None:
            await carrier.send(message)
    except MessageTooLong:
        return faults.too_long(limits.response_bytes)
    except PeerGone:
        return None
    return None


async def _tell(carrier: WebSocketCarrier, message: bytes) -> None:
    with contextlib.suppress(PeerGone):
        await carrier.send(message)
