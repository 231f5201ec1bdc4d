"""How much the relay's pipes hold: the system's default until one is found full, then as much as it permits."""

import fcntl

PIPE_BYTES = 1024 * 1024
"""What a pipe grows to. An idle run keeps the small default: the system counts a person's pipe memory, and beyond
64 MiB makes all their pipes tiny."""
FULL_PIPE_BYTES = 64 * 1024
"""A read of so much says that the pipe, of the usual size, was full."""


class PipeGrowth:
    """Grows each pipe once."""

    def __init__(self) -> None:
        self._asked: set[int] = set()

    def grow(self, fd: int) -> bool:
        """Make a pipe larger; returns whether it now is. Anything else than a pipe stays as it is."""
        if fd in self._asked:
            return False
        self._asked.add(fd)
        try:
            return pipe_size(fd) < fcntl.fcntl(fd, fcntl.F_SETPIPE_SZ, PIPE_BYTES)
        except OSError:
            return False


def pipe_size(fd: int) -> int:
    """How many bytes a pipe holds. Raises OSError for anything else."""
    return fcntl.fcntl(fd, fcntl.F_GETPIPE_SZ)
