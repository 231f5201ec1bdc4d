"""Where a journal's writer begins."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from hopline.journal.catalogue import Segment
from hopline.journal.port import OpenReport, SpineRow
from hopline.journal.tally import Tally

if TYPE_CHECKING:
    from hopline.journal.index import Index
    from hopline.journal.index_view import IndexView


@dataclass(slots=True)
class Start:
    """A journal in order."""

    segments: list[Segment]
    tally: Tally
    """Of the newest segment."""
    index: "Index | None" = None
    """None when it is yet to be made."""
    marks: "IndexView | None" = None
    """The index for reading what was there before; None when there is none."""
    spine: list[SpineRow] = field(default_factory=list)
    size_bytes: int = 0
    report: OpenReport = field(default_factory=OpenReport)
