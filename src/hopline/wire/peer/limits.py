"""Every constant of the peer wire, named. Source: docs/wire/peer.md, "Limits"."""

MIB = 1024 * 1024

PROTO = 1
"""The protocol version we speak."""

MAX_LINE_BYTES = MIB
"""Longest line, without its newline."""
MAX_FRAME_BYTES = MIB
"""Largest `len` of a binary frame: flags byte and body."""
MAX_BODY_BYTES = MIB - 1
"""Longest JSON that we send, in either framing, so that it fits both."""
COMPRESS_FROM_BYTES = 1024
"""JSON from this length on is compressed, where that makes it smaller. Part of what `frame-bin` means."""
MAX_RAW_BYTES = 4 * MIB
"""Most that a compressed frame may claim to hold. Part of what `frame-bin` means."""

MAX_U64 = 2**64 - 1
MAX_PEER_ID_CHARACTERS = 128
MAX_FEATURES = 64
"""Feature names kept of one peer, and types remembered as unknown on one connection."""
MAX_SHOWN_CHARACTERS = 64
"""A peer's version, status or type name is cut to this before it is kept or logged."""
MAX_MESSAGE_ID_CHARACTERS = 256
"""A longer `id` is a protocol error: ids are remembered."""
MAX_CAPABILITY_TOOLS = 64
MAX_LISTEN_ADDRESSES = 8

DEFAULT_PORT = 9847
LAN_PORT = 9848
"""UDP port of announcements."""
MAX_DATAGRAM_BYTES = 1024
LAN_INTERVAL_SECONDS = 5.0
LAN_SCAN_SECONDS = 6.0
LAN_STALE_SECONDS = 30.0

CONNECT_SECONDS = 10.0
HANDSHAKE_SECONDS = 30.0
"""A read in the handshake that takes longer is an error."""
WRITE_SECONDS = 10.0
HOLD_SECONDS = 1.0
"""After the ack a listener waits so long for the dialler's first frame before it sends."""
HEARTBEAT_SECONDS = 30.0
DEAD_SECONDS = 90.0
"""Without a heartbeat for longer than this a link is dead; a one-shot without a whole frame too."""
LINGER_SECONDS = 0.25
"""A one-shot that expects no answer stays open so long after its last write."""

MAX_HANDSHAKES = 16
"""Handshakes under way at once."""
MAX_PEERS = 8
DEDUP_IDS = 1000
FAILURES_PER_SOURCE = 5
FAILURE_WINDOW_SECONDS = 60.0

CHUNK_BYTES = 512 * 1024
"""Raw bytes of every `session_transfer` chunk but the last."""
MAX_RELEVANT_FILES_BYTES = 51_200
KNOWLEDGE_PAGE_BYTES = 512_000
MAX_LEASE_LIST_BYTES = 1_000_000
