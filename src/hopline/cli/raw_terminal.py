"""Our terminal, taken over for a worker's: keys pass through byte for byte, and it is given back in every ending.

A guard, a small process of its own, gives it back when this one is killed and cannot.
"""

import contextlib
import copy
import os
import subprocess
import termios

_GUARD = """
trap '' HUP INT QUIT TERM TTOU TTIN TSTP PIPE
last=
while IFS= read -r line; do last=$line; done
[ "$last" = given-back ] && exit
stty "$0" <&2
printf "$last" >&2
"""
"""Its standard input is a pipe from us, its standard error the terminal. Each line says what to write there at the end;
the last one counts."""

_GIVEN_BACK = b"given-back"


class RawTerminal:
    """Standard input's terminal, between `take` and `give_back`, which may be called again and then does nothing."""

    def __init__(self, descriptor: int = 0) -> None:
        self._descriptor = descriptor
        self._saved = termios.tcgetattr(descriptor)
        self._guard: subprocess.Popen[bytes] | None = None
        self.taken = False

    def size(self) -> tuple[int, int]:
        """(columns, rows) now; the usual when it is not known."""
        return terminal_size(self._descriptor)

    def take(self) -> None:
        """Pass every key through but Ctrl-\\, which stays a signal and so is heard whatever else is going on."""
        self._start_guard()
        self.taken = True
        settings = copy.deepcopy(self._saved)
        settings[0] &= ~(
            termios.BRKINT
            | termios.ICRNL
            | termios.IGNCR
            | termios.INLCR
            | termios.INPCK
            | termios.ISTRIP
            | termios.IXON
            | termios.IXOFF
            | termios.PARMRK
        )
        settings[1] &= ~termios.OPOST
        settings[2] = settings[2] & ~(termios.CSIZE | termios.PARENB) | termios.CS8
        settings[3] &= ~(termios.ECHO | termios.ECHONL | termios.ICANON | termios.IEXTEN)
        settings[3] |= termios.ISIG | termios.NOFLSH
        characters = settings[6]
        for key in (termios.VINTR, termios.VSUSP):
            characters[key] = b"\0"
        characters[termios.VQUIT] = b"\x1c"
        characters[termios.VMIN], characters[termios.VTIME] = 1, 0
        termios.tcsetattr(self._descriptor, termios.TCSADRAIN, settings)

    def remember(self, undo: bytes) -> None:
        """What the guard writes to the terminal if this process is killed."""
        self._tell_guard(b"".join(b"\\%03o" % byte for byte in undo))

    def give_back(self) -> None:
        """As it was before."""
        if not self.taken:
            return
        self.taken = False
        with contextlib.suppress(termios.error):  # it may have gone away
            termios.tcsetattr(self._descriptor, termios.TCSADRAIN, self._saved)
        self._tell_guard(_GIVEN_BACK)
        if self._guard is not None and self._guard.stdin is not None:
            self._guard.stdin.close()
            self._guard.wait()

    def _start_guard(self) -> None:
        with contextlib.suppress(OSError, subprocess.CalledProcessError):
            saved = subprocess.run(["stty", "-g"], stdin=self._descriptor, capture_output=True, check=True).stdout
            self._guard = subprocess.Popen(
                ["sh", "-c", _GUARD, saved.decode().strip()],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=self._descriptor,
                bufsize=0,
                process_group=0,
            )

    def _tell_guard(self, line: bytes) -> None:
        if self._guard is not None and self._guard.stdin is not None:
            with contextlib.suppress(OSError):
                self._guard.stdin.write(line + b"\n")


def terminal_size(descriptor: int) -> tuple[int, int]:
    """(columns, rows) of a terminal; 80 and 24 when it tells none."""
    try:
        columns, rows = os.get_terminal_size(descriptor)
    except OSError:
        columns = rows = 0
    return columns or 80, rows or 24
