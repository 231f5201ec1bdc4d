"""The worker's pseudo-terminal: made before the worker, read and written at its other side, sized, ended.

Source: docs/wire/worker.md, "Beyond the seed" (WW-TERMINAL).
"""

import contextlib
import errno
import os

COLUMNS, ROWS = 80, 24
"""Its size when nobody says otherwise."""
HELD_BYTES = 64 * 1024
"""More than the system holds of what a worker wrote to its terminal."""
BULK_READ_BYTES = 4096
"""A read of so much says that a worker writes in bulk; the system hands a terminal's output on in such pieces."""
_LARGEST = 65_535
_END_OF_INPUT = b"\x04"


def size_of(text: str) -> "tuple[int, int] | None":
    """(columns, rows) of `=COLSxROWS`; None when it is none or out of range."""
    columns, _, rows = text[1:].partition("x")
    if not (columns.isdecimal() and rows.isdecimal() and text.isascii() and len(text) <= 12):
        return None
    size = int(columns), int(rows)
    return size if min(size) >= 1 and max(size) <= _LARGEST else None


def open_terminal(columns: int, rows: int) -> tuple[int, int]:
    """Our side, nonblocking, and the worker's; both closed on exec. Raises OSError."""
    ours, theirs = os.openpty()
    os.set_blocking(ours, False)
    resize(ours, columns, rows)
    return ours, theirs


def spawn_actions(theirs: int) -> "list[tuple[object, ...]]":
    """What posix_spawn does in a new session to make the terminal its own and its fd 0, 1 and 2.

    A session's leader that opens a terminal, while it has none, thereby gets it as the controlling one.
    """
    opened = (os.POSIX_SPAWN_OPEN, 0, f"/proc/self/fd/{theirs}", os.O_RDWR, 0)
    return [opened, (os.POSIX_SPAWN_DUP2, 0, 1), (os.POSIX_SPAWN_DUP2, 0, 2)]


def resize(ours: int, columns: int, rows: int) -> None:
    """Set its size; the system sends SIGWINCH to its foreground when that is another one."""
    import fcntl
    import struct
    import termios

    with contextlib.suppress(OSError):  # it may have hung up
        fcntl.ioctl(ours, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))


def read(ours: int, view: memoryview) -> int:
    """Read all there is, as far as it fits: the system gives a page at a time. 0 when the terminal hung up.

    Raises BlockingIOError when there is nothing, OSError when it cannot be read.
    """
    got = 0
    while got < len(view):
        try:
            count = os.readv(ours, [view[got:]])
        except OSError as error:
            if got or error.errno == errno.EIO:  # EIO: nobody has it open any more
                break
            raise
        if count == 0:
            break
        got += count
    return got


def end_of_input(ours: int, *, unfinished: bool) -> bytes:
    """What ends the input of whoever reads the terminal now, as it is set now.

    While the system edits lines, its end-of-file character: twice behind an unfinished line, which the first only
    hands over. A program that reads keys gets the one Ctrl-D that a person would press.
    """
    import termios

    try:
        settings = termios.tcgetattr(ours)
    except termios.error:
        return _END_OF_INPUT
    if not settings[3] & termios.ICANON:
        return _END_OF_INPUT
    character: bytes = settings[6][termios.VEOF]
    return character * 2 if unfinished else character
