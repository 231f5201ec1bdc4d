"""Every bound of the gateway, stated here and passed explicitly, so that no upgrade of a library can move one.

Source: frontend reference 8.1, 8.2 and 9.5; what is ours is in docs/wire/gateway.md, "Limits".
"""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class WebSocketLimits:
    """Bounds of one WebSocket connection. Seconds are monotonic; bytes count payload."""

    ping_interval_seconds: float = 20.0
    """How long the peer may be silent before it is pinged."""
    ping_timeout_seconds: float = 20.0
    """How long a pong may be outstanding before the connection is aborted."""
    write_deadline_seconds: float = 40.0
    """How long one application frame, ping or final close may wait for the peer; then the connection is aborted."""
    close_timeout_seconds: float = 10.0
    """How long the peer may take to answer an ordinary close."""
    send_buffer_bytes: int = 32 * 1024
    """High-water mark of the send buffer: the sender waits above it."""
    receive_queue: tuple[int, int] = (32, 8)
    """Inbound frames held: reading stops at the first figure and goes on at the second."""
    receive_frame_bytes: int = 1 << 20
    """Longest inbound message; a longer one closes the connection with 1009."""
    send_frame_bytes: int = 1 << 20
    """What the run server keeps each stream frame within. A Response may be longer: see `response_bytes`."""

    @property
    def silence_seconds(self) -> float:
        """The longest a peer that answers nothing may stay: silence, a stalled ping, a missing pong."""
        return self.ping_interval_seconds + self.write_deadline_seconds + self.ping_timeout_seconds


@dataclass(frozen=True, slots=True)
class GatewayLimits:
    """Bounds of the whole gateway."""

    websocket: WebSocketLimits = field(default_factory=WebSocketLimits)
    handshake_seconds: float = 10.0
    """How long a connection may take to finish its request."""
    half_open_connections: int = 256
    """Connections that are no WebSocket yet; one more ends the oldest of them."""
    websockets: int = 1000
    """Open WebSockets; one more is answered 503."""
    response_bytes: int = 64 << 20
    """Longest message taken from a run: a Response, which is never split (reference 3.1)."""
    dial_seconds: float = 5.0
    """How long connecting to a run's socket may take."""
    upstream_buffer_bytes: int = 256 * 1024
    """Whole messages of a run held for a slow peer; reading from the run stops above it."""
    shutdown_seconds: float = 2.0
    """How long peers may take to answer the close of a gateway that ends; then they are aborted."""
    backlog: int = 256
    """Connections that the system holds before they are accepted."""
