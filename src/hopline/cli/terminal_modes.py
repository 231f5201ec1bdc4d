"""Which modes a program has put a terminal into, read from what it wrote: how to take them back, or to enter them.

Pure. Only what outlives a program on a terminal is followed: screen, keys, mouse, cursor, scroll region.
"""

import re

_SEQUENCE = re.compile(
    rb"\x1b(?:\[(?P<private>[?<>=]?)(?P<numbers>[0-9;:]*)(?P<final>[hlmru]|!p)|(?P<short>[=>c]))", re.DOTALL
)
_UNFINISHED = re.compile(rb"\x1b(?:\[[?<>=]?[0-9;:]*!?)?\Z")
_ALTERNATE = (47, 1047, 1049)
_USUALLY_ON = (7, 25)
"""Wrapping at the right edge; the cursor."""
_FOLLOWED = frozenset(
    (*_ALTERNATE, *_USUALLY_ON, 1, 5, 6, 9, 66, 1000, 1001, 1002, 1003, 1004, 1005, 1006, 1015, 1016, 2004, 2026, 2031)
)


class TerminalModes:
    """Modes that differ from those of a fresh terminal."""

    def __init__(self) -> None:
        self._start_over()
        self._tail = b""

    @property
    def alternate(self) -> bool:
        """Whether the program has the screen to itself."""
        return not self._changed.isdisjoint(_ALTERNATE)

    def receive(self, data: bytes) -> None:
        """What the program wrote next; sequences may be cut anywhere."""
        if not self._tail and b"\x1b" not in data:
            return
        data = self._tail + data
        for found in _SEQUENCE.finditer(data):
            self._obey(found)
        unfinished = _UNFINISHED.search(data, max(0, len(data) - 64))
        self._tail = unfinished.group() if unfinished else b""

    def undo(self) -> bytes:
        """What brings a terminal in these modes back to how a fresh one is, the cursor at the start of no line."""
        parts = [b"\x1b[<u" * self._key_levels]
        if self._other_keys:
            parts.append(b"\x1b[>4m")
        parts += [_switch(mode, on=mode in _USUALLY_ON) for mode in sorted(self._changed.difference(_ALTERNATE))]
        if self._keypad:
            parts.append(b"\x1b>")
        if self._region:
            parts.append(b"\x1b7\x1b[r\x1b8")
        parts += [_switch(mode, on=False) for mode in _ALTERNATE if mode in self._changed]
        return b"".join(parts) + b"\x1b[0m"

    def enter(self) -> bytes:
        """What puts a fresh terminal into these modes; a screen of the program's own is empty then."""
        parts = [_switch(mode, on=True) + b"\x1b[2J\x1b[H" for mode in _ALTERNATE if mode in self._changed]
        parts += [
            _switch(mode, on=mode not in _USUALLY_ON)
            for mode in sorted(self._changed.difference(_ALTERNATE))
            if mode != 2026  # output that is held back until it is complete is complete by now
        ]
        if self._keypad:
            parts.append(b"\x1b=")
        if self._other_keys:
            parts.append(b"\x1b[>4;" + self._other_keys + b"m")
        parts += [b"\x1b[>" + flags + b"u" for flags in self._levels]
        return b"".join(parts)

    @property
    def _key_levels(self) -> int:
        return len(self._levels)

    def _start_over(self) -> None:
        self._changed: set[int] = set()
        self._keypad = self._region = False
        self._other_keys = b""
        self._levels: list[bytes] = []

    def _obey(self, found: "re.Match[bytes]") -> None:
        private, numbers = found["private"], found["numbers"]
        match found["short"] or found["final"]:
            case b"c" | b"!p":
                self._start_over()
            case b"=" | b">" as keypad:
                self._keypad = keypad == b"="
            case (b"h" | b"l") as final if private == b"?":
                for mode in numbers.split(b";"):
                    if mode.isdigit() and len(mode) <= 5 and int(mode) in _FOLLOWED:
                        self._switch(int(mode), on=final == b"h")
            case b"r" if not private:
                self._region = bool(numbers)
            case b"m" if private == b">" and numbers.startswith(b"4"):
                self._other_keys = numbers[2:].strip(b"0;:")
            case b"u" if private == b">" and len(self._levels) < 16:
                self._levels.append(numbers)
            case b"u" if private == b"<":
                count = int(numbers[:3]) if numbers[:3].isdigit() else 1
                del self._levels[max(0, len(self._levels) - count) :]
            case _:
                pass

    def _switch(self, mode: int, *, on: bool) -> None:
        if on == (mode in _USUALLY_ON):
            self._changed.discard(mode)
        else:
            self._changed.add(mode)


def _switch(mode: int, *, on: bool) -> bytes:
    return b"\x1b[?%d%c" % (mode, b"h" if on else b"l")
