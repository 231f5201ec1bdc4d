"""The bundled demonstration: a few lively seconds of output of every kind. `python -m hopline.demo`

Colours, a bar drawn over itself, wide characters and both streams on a terminal or a run; plain lines otherwise. It
answers Ctrl-C by finishing early, and always ends with status 0.
"""

import os
import sys
import time

PACE = float(os.environ.get("HOPLINE_DEMO_PACE", "1"))
"""Factor on every pause; 0 shows everything at once."""

STEPS = (
    ("🔭", "look at the repository", 34),
    ("🧪", "run the tests that matter", 61),
    ("🛠 ", "rewrite the parser", 47),
    ("📝", "schreibe die Notizen · メモを書く", 28),
)

BAR_COLUMNS = 32


class Painter:
    """Writes text with or without colour.

    Args:
        colour: whether escape sequences are wanted.
    """

    def __init__(self, *, colour: bool) -> None:
        self._colour = colour

    def paint(self, code: str, text: str) -> str:
        """`text` in the colour that the SGR parameters `code` name."""
        return f"\x1b[{code}m{text}\x1b[0m" if self._colour else text

    def bar(self, share: float) -> str:
        """A bar that is filled to `share`, 0 to 1."""
        filled = round(share * BAR_COLUMNS)
        return self.paint("32", "█" * filled) + self.paint("90", "░" * (BAR_COLUMNS - filled))


def wants_colour() -> bool:
    """Whether somebody will see colours: on a terminal, or in a run started from one; never with NO_COLOR."""
    if "NO_COLOR" in os.environ or os.environ.get("TERM", "dumb") == "dumb":
        return False
    return sys.stdout.isatty() or "HOPLINE_RUN" in os.environ


def perform(painter: Painter, *, animated: bool) -> None:
    """The whole show. Raises KeyboardInterrupt when it is cut short."""
    run = os.environ.get("HOPLINE_RUN")
    where = f"run {run}" if run else "no run: nobody records this"
    say(painter.paint("1;36", "hopline demo") + f" · {where}\n")
    for number, (sign, title, files) in enumerate(STEPS, 1):
        say(f"\n{painter.paint('1', f'[{number}/{len(STEPS)}]')} {sign} {title}\n")
        started = time.monotonic()
        for done in range(files + 1):
            if animated:
                say(f"\r    {painter.bar(done / files)} {done:3d}/{files} files")
            if done == files * 2 // 3 and number == 2:
                say("\n" if animated else "")
                complain(painter.paint("33", "    warning: test_lease_clock took 1.8 s; its bound is 1.5 s\n"))
            pause(1.7 / files)
        end = "\n" if animated else f"    {files}/{files} files\n"
        say(f"{end}    {painter.paint('32', '✓')} done in {time.monotonic() - started:.1f} s\n")
        pause(0.3)
    say("\n" + rainbow(painter) + "\n")
    say(f"{painter.paint('1;32', 'All of it is recorded.')} Read it again: hopline logs @last\n")


def rainbow(painter: Painter) -> str:
    """A line in 256 colours; plain without colour."""
    return "".join(painter.paint(f"38;5;{16 + 36 * (n % 6) + 6 * (n * 2 % 6) + 5}", "━") for n in range(48))


def say(text: str) -> None:
    """Write to standard output at once."""
    sys.stdout.write(text)
    sys.stdout.flush()


def complain(text: str) -> None:
    """Write to standard error at once."""
    sys.stderr.write(text)
    sys.stderr.flush()


def pause(seconds: float) -> None:
    """Wait, at the pace that was asked for."""
    if PACE > 0:
        time.sleep(seconds * PACE)


def main() -> int:
    """Perform, and end with status 0 also when interrupted."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="replace")
    colour = wants_colour()
    painter = Painter(colour=colour)
    try:
        perform(painter, animated=colour)
    except KeyboardInterrupt:
        say("\n" + painter.paint("1;33", "interrupted: finishing early, as asked") + "\n")
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    return 0


if __name__ == "__main__":
    sys.exit(main())
