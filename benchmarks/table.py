"""The rows as an aligned table for a person and as JSON for a program."""

from collections.abc import Sequence
from typing import Any

from benchmarks.harness import OURS, Row, Side, Verdict

_COLOURS = {Verdict.MET: "32", Verdict.MISSED: "31", Verdict.SHOWN: "36", Verdict.NOT_MEASURED: "33"}
_HEAD = ("measure", OURS, "reference", "its figure", "ratio", "bar", "verdict", "CPU s/GB", "its")


def number(value: float) -> str:
    """The value with three or more significant digits and thousands marked."""
    if value == 0:
        return "0"
    magnitude = abs(value)
    digits = 0 if magnitude >= 100 else 1 if magnitude >= 10 else 2 if magnitude >= 1 else 3
    return f"{value:,.{digits}f}"


def figure(side: Side | None) -> str:
    """The median with its unit; a dash for none."""
    return "-" if side is None else f"{number(side.value)} {side.unit}"


def _cost(side: Side | None) -> str:
    cost = None if side is None else side.cpu_seconds_per_gb
    return "" if cost is None else f"{cost:.2f}"


def cells(row: Row) -> tuple[str, ...]:
    """The row's texts, one a column of the head."""
    return (
        row.measure,
        figure(row.ours),
        row.reference.name if row.reference else "",
        figure(row.reference) if row.reference else "",
        "" if row.ratio is None else f"{number(row.ratio)}x",
        str(row.bar) if row.bar else "",
        str(row.verdict),
        _cost(row.ours),
        _cost(row.reference),
    )


def notes(row: Row) -> list[str]:
    """What else is worth a line below the row."""
    found = [row.note]
    for side in (row.ours, row.reference):
        if side and side.note:
            found.append(f"{side.name}: {side.note}")
    return [note for note in found if note]


def render(rows: Sequence[Row], *, colours: bool) -> str:
    """The table, its columns aligned, each row's notes indented below it. Only the verdicts are coloured."""
    lines = [_HEAD, *(cells(row) for row in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(_HEAD))]
    right = {1, 3, 4, 7, 8}

    def aligned(line: Sequence[str], colour: str = "") -> str:
        texts = [
            text.rjust(width) if column in right else text.ljust(width)
            for column, (text, width) in enumerate(zip(line, widths, strict=True))
        ]
        if colour:
            texts[6] = f"\x1b[{colour}m{texts[6]}\x1b[0m"
        return "  ".join(texts).rstrip()

    out = [aligned(_HEAD), aligned(["-" * width for width in widths])]
    for row, line in zip(rows, lines[1:], strict=True):
        out.append(aligned(line, _COLOURS[row.verdict] if colours else ""))
        out.extend(f"    {note}" for note in notes(row))
    return "\n".join(out) + "\n"


def markdown(rows: Sequence[Row]) -> str:
    """The table as docs/performance.md shows it: the same cells without notes, each row under its name."""
    lines = [("row", *_HEAD[1:]), ("---",) * len(_HEAD)]
    lines += [(row.name, *cells(row)[1:]) for row in rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _side(side: Side | None) -> dict[str, Any] | None:
    if side is None:
        return None
    return {
        "name": side.name,
        "median": side.value,
        "unit": side.unit,
        "samples": [sample.value for sample in side.samples],
        "cpu_seconds_per_gb": side.cpu_seconds_per_gb,
        "note": side.note,
    }


def report(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """The rows as plain values for JSON, with every sample."""
    return [
        {
            "name": row.name,
            "measure": row.measure,
            "verdict": str(row.verdict),
            "ratio": row.ratio,
            "bar": None if row.bar is None else str(row.bar),
            "ours": _side(row.ours),
            "reference": _side(row.reference),
            "note": row.note,
        }
        for row in rows
    ]
