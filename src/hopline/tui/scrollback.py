"""Output as lines: what a terminal would leave in its scrollback, in bounded memory. Pure.

Written for programs that write to a pipe: text, SGR colours, progress that goes back with a carriage return, a
backspace or a few lines up, and erasing. Places on the screen are not known there, so absolute moves are left out, and
clearing the screen leaves what was there above. Nothing that is kept holds a control character.
"""

import re

from hopline.tui.lines import Line
from hopline.tui.looks import PLAIN, rendition

MAX_LINES = 20_000
MAX_CHARACTERS = 8 << 20
MAX_LINE_CHARACTERS = 8_192
"""A longer line goes on in the next."""

MAX_REACH_LINES = 200
"""How far up a program can write over its own lines."""

MAX_SEQUENCE_CHARACTERS = 8_192
"""A control sequence that is not complete after so many characters is given up."""

TAB = 8

_CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]")
_TOKEN = re.compile(
    r"(?P<text>[^\x00-\x1f\x7f-\x9f]+)"
    r"|(?P<newline>\n)"
    r"|\x1b\[(?P<look>[0-9;:]*)m"
    r"|\x1b\[(?P<parameters>[0-?]*)[ -/]*(?P<final>[@-~])"
    r"|(?P<ignored>\x1b(?:[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)|[ -/]+[0-~]|[0-OQ-WYZ\\`-~]))"
    r"|(?P<control>[\x00-\x1a\x1c-\x1f\x7f-\x9f])"
)
_UNFINISHED = re.compile(r"\x1b(?:\[[0-?]*[ -/]*|[\]PX^_][^\x07\x1b]*\x1b?|[ -/]*)\Z")


class Scrollback:
    """Takes text as it comes, cut anywhere.

    Args:
        max_lines, max_characters: bounds; the oldest lines go first.
    """

    def __init__(self, max_lines: int = MAX_LINES, max_characters: int = MAX_CHARACTERS) -> None:
        self.lines: list[Line] = [Line()]
        self.dropped = 0
        """Lines that went from the top so far."""
        self._max_lines = self._most_lines = max_lines
        self._max_characters = max_characters
        self._characters = 0
        self._row = 0
        """Index of the line that is written to."""
        self._place = 0
        self._look = PLAIN
        self._held = ""
        self._changed: int | None = 0

    @property
    def empty(self) -> bool:
        """Whether nothing was written yet."""
        return self.dropped == 0 and len(self.lines) == 1 and not self.lines[0].length

    def take_changed(self) -> int | None:
        """Index of the first line that differs since this was asked last, before what `feed` dropped; None for none."""
        changed, self._changed = self._changed, None
        return changed

    def feed(self, text: str) -> int:
        """Write `text`. Returns how many lines went from the top for it."""
        if self._held:
            text, self._held = self._held + text, ""
        if not _CONTROL.search(text):
            self._write_lines(text.split("\n"))
        else:
            self._interpret(text)
        return self._trim()

    def note(self, text: str) -> None:
        """A line of our own, on its own; what follows begins another."""
        if self.lines[self._row].length:
            self._to_new_line()
        look, self._look = self._look, PLAIN._replace(dim=True, reverse=True)
        self._write(text)
        self._look = look
        self._to_new_line()

    def _interpret(self, text: str) -> None:
        at = 0
        while at < len(text):
            found = _TOKEN.match(text, at)
            if found is None:  # an escape that is incomplete, or begins nothing
                if len(text) - at <= MAX_SEQUENCE_CHARACTERS and _UNFINISHED.match(text, at):
                    self._held = text[at:]
                    return
                at += 1
                continue
            at = found.end()
            match found.lastgroup:
                case "text":
                    self._write(found[0])
                case "newline":
                    self._down()
                case "look":
                    self._look = rendition(self._look, found["look"])
                case "final":
                    self._sequence(found["parameters"], found["final"])
                case "control":
                    self._control(found[0])

    def _control(self, character: str) -> None:
        match character:
            case "\n" | "\x0b" | "\x0c" | "\x85":
                self._down()
            case "\r":
                self._place = 0
            case "\b":
                self._place = max(0, self._place - 1)
            case "\t":
                self._write(" " * (TAB - self._place % TAB))

    def _sequence(self, parameters: str, final: str) -> None:
        first = parameters.split(";")[0]
        count = max(1, int(first)) if first.isdigit() else 1
        line = self.lines[self._row]
        match final:
            case "A" | "F":
                self._row = max(0, len(self.lines) - MAX_REACH_LINES, self._row - count)
            case "B" | "E":
                self._row = min(len(self.lines) - 1, self._row + count)
            case "C":
                self._place = min(self._place + count, MAX_LINE_CHARACTERS)
            case "D":
                self._place = max(0, self._place - count)
            case "G" | "`":
                self._place = min(count - 1, MAX_LINE_CHARACTERS)
            case "K":
                self._erase(line, first)
            case "J":
                self._erase_below(line, first)
        if final in "EF":
            self._place = 0

    def _erase(self, line: Line, what: str) -> None:
        before = line.length
        if what in ("", "0"):
            line.cut(self._place)
        elif what == "1":
            line.blank(self._place)
        elif what == "2":
            line.cut(0)
        self._characters += line.length - before
        self._touch(self._row)

    def _erase_below(self, line: Line, what: str) -> None:
        if what in ("2", "3"):
            self._row = len(self.lines) - 1
            if self.lines[self._row].length:
                self._to_new_line()
            self._place = 0
        elif what in ("", "0"):
            self._erase(line, "0")
            for gone in self.lines[self._row + 1 :]:
                self._characters -= gone.length
            del self.lines[self._row + 1 :]

    def _write_lines(self, texts: list[str]) -> None:
        """Text without any control but newlines; whole lines at the end are the common case."""
        self._write(texts[0])
        rest = texts[1:]
        if self._row < len(self.lines) - 1 or max(map(len, rest), default=0) > MAX_LINE_CHARACTERS:
            for text in rest:
                self._down()
                self._write(text)
            return
        if not rest:
            return
        if len(rest) > self._most_lines:  # the others would go from the top at once
            self.dropped += len(rest) - self._most_lines
            rest = rest[-self._most_lines :]
        look = self._look
        self.lines += [Line.of(text, look) for text in rest]
        self._characters += sum(map(len, rest))
        self._touch(self._row + 1)
        self._row = len(self.lines) - 1
        self._place = len(rest[-1])

    def _write(self, text: str) -> None:
        while text:
            line = self.lines[self._row]
            room = MAX_LINE_CHARACTERS - self._place
            if room <= 0:
                self._to_new_line(continues=True)
                continue
            part, text = text[:room], text[room:]
            before = line.length
            line.write(self._place, part, self._look)
            self._characters += line.length - before
            self._place += len(part)
            self._touch(self._row)

    def _down(self) -> None:
        if self._row == len(self.lines) - 1:
            self._to_new_line()
        else:
            self._row += 1
            self._place = 0

    def _to_new_line(self, *, continues: bool = False) -> None:
        self.lines.insert(self._row + 1, Line(continues=continues))
        self._row += 1
        self._place = 0
        self._touch(self._row)

    def _touch(self, row: int) -> None:
        if self._changed is None or row < self._changed:
            self._changed = row

    def _trim(self) -> int:
        excess = len(self.lines) - self._max_lines
        drop = max(0, excess)
        characters = self._characters - sum(line.length for line in self.lines[:drop])
        while characters > self._max_characters and drop < len(self.lines) - 1:
            characters -= self.lines[drop].length
            drop += 1
        if not drop:
            return 0
        del self.lines[:drop]
        self._characters = characters
        self._row = max(0, self._row - drop)
        self.dropped += drop
        if self._changed is not None:
            self._changed = max(0, self._changed - drop)
        return drop
