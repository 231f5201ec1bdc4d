"""One line of output: its text in pieces of one look each, written at any place. Pure."""

from hopline.tui.looks import PLAIN, Look

Piece = tuple[str, Look]


class Line:
    """A line that may still be written to. Places are counted in characters."""

    __slots__ = ("continues", "length", "pieces")

    def __init__(self, *, continues: bool = False) -> None:
        self.pieces: list[Piece] = []
        self.length = 0
        self.continues = continues
        """Whether it goes on the line before, which was cut for its length."""

    @classmethod
    def of(cls, text: str, look: Look) -> "Line":
        """A line of one look."""
        line = cls()
        if text:
            line.pieces.append((text, look))
            line.length = len(text)
        return line

    def text(self) -> str:
        """The characters alone."""
        return self.pieces[0][0] if len(self.pieces) == 1 else "".join(piece for piece, _ in self.pieces)

    def write(self, place: int, text: str, look: Look) -> None:
        """Put `text` at `place`, over what is there; a gap before it becomes blanks."""
        if place > self.length:
            self._append(" " * (place - self.length), PLAIN)
        if place == self.length:
            self._append(text, look)
            return
        before, rest = self._split(place)
        _, after = _cut(rest, len(text))
        self.pieces = _joined([*before, (text, look), *after])
        self.length = max(self.length, place + len(text))

    def cut(self, place: int) -> None:
        """Forget what stands at `place` and behind it."""
        if place < self.length:
            self.pieces, _ = self._split(place)
            self.length = place

    def cut_before(self, place: int) -> None:
        """Forget what stands before `place`; the rest begins the line."""
        _, self.pieces = self._split(min(place, self.length))
        self.length = max(0, self.length - place)

    def blank(self, place: int) -> None:
        """Make blanks of everything before `place`, and of what stands there."""
        count = min(place + 1, self.length)
        _, rest = self._split(count)
        self.pieces = _joined([(" " * count, PLAIN), *rest])

    def _append(self, text: str, look: Look) -> None:
        self.length += len(text)
        if self.pieces and self.pieces[-1][1] == look:
            self.pieces[-1] = (self.pieces[-1][0] + text, look)
        elif text:
            self.pieces.append((text, look))

    def _split(self, place: int) -> tuple[list[Piece], list[Piece]]:
        return _cut(self.pieces, place)


def _cut(pieces: list[Piece], place: int) -> tuple[list[Piece], list[Piece]]:
    before: list[Piece] = []
    for number, (text, look) in enumerate(pieces):
        if place < len(text):
            rest = [(text[place:], look), *pieces[number + 1 :]]
            return ([*before, (text[:place], look)] if place else before), rest
        before.append((text, look))
        place -= len(text)
    return before, []


def _joined(pieces: list[Piece]) -> list[Piece]:
    joined: list[Piece] = []
    for text, look in pieces:
        if not text:
            continue
        if joined and joined[-1][1] == look:
            joined[-1] = (joined[-1][0] + text, look)
        else:
            joined.append((text, look))
    return joined
