"""Every capacity and time of the relay in one frozen object. Source: docs/wire/worker.md, "Limits"."""

import msgspec

MIB = 1024 * 1024


class RelayLimits(msgspec.Struct, frozen=True):
    """Parameters of one relay; the defaults are those of the wire document."""

    queue_frames: int = 512
    """Ordinary frames in the event queue, the one being written included."""
    queue_bytes: int = 8 * MIB
    """Their encoded bytes."""
    supervisor_frames: int = 16
    """Supervisor frames that the queue holds besides."""
    supervisor_bytes: int = 64 * 1024
    """Their encoded bytes."""
    line_bytes: int = 128 * MIB
    """Longest line of a command or of the sideband."""
    input_bytes: int = 256 * MIB
    """Worker input that may wait in the relay, both pipes together."""
    receipts: int = 4096
    """`stdin_result` frames that may wait for room."""
    end_grace_seconds: float = 1.0
    """Worker grace after an end of file of the commands or of the sideband."""
    drain_seconds: float = 0.1
    """Time after the exit at which a stream that never pauses is cut."""
    flush_seconds: float = 1.0
    """How long a consumer may take nothing during retirement."""
    kill_seconds: float = 5.0
    """How long a killed worker may take to be gone."""
