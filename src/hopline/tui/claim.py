"""The connection line: what is true of what a person sees, in words. Pure; the same as on the page.

It is fed every item of the stream, and says at any time how live and how whole the view is.
"""

from dataclasses import dataclass
from enum import StrEnum

from hopline.client.items import Connected, Disconnected, Finished, Item, Reason, Rebootstrapped, Reconnected
from hopline.tui.words import count, number


class Light(StrEnum):
    """How the line looks."""

    LIVE = "live"
    BUSY = "busy"
    LOST = "lost"
    OVER = "over"


@dataclass(frozen=True, slots=True)
class Claim:
    """The line: `text`, and what it rests on."""

    light: Light
    text: str
    detail: str = ""

    def line(self) -> str:
        """Both in one."""
        return f"{self.text} · {self.detail}" if self.detail else self.text


class Phase(StrEnum):
    """Where the connection stands."""

    OPENING = "opening"
    FOLLOWING = "following"
    RETRYING = "retrying"
    RESUMING = "resuming"
    FAILED = "failed"
    OVER = "over"


class Connection:
    """What has become of the connection.

    `shown` events have reached the view; `latest` is the newest that the server has told of.
    """

    def __init__(self) -> None:
        self._phase = Phase.OPENING
        self._why = ""
        self._retry_at = 0.0
        self._kept = "missed nothing"
        self._skipped = 0

    def receive(self, item: Item, now: float) -> None:
        """An item that the stream gave at monotonic `now`."""
        match item:
            case Connected():
                self._phase = Phase.FOLLOWING
            case Disconnected(reason=reason, retry_seconds=seconds):
                self._phase, self._why, self._retry_at = Phase.RETRYING, reason.rstrip("."), now + seconds
            case Reconnected(missed_nothing=missed_nothing):
                self._phase = Phase.FOLLOWING
                if missed_nothing and not self._skipped:
                    self._kept = "reconnected, missed nothing"
            case Rebootstrapped(reason=Reason.FELL_BEHIND):
                self._phase = Phase.FOLLOWING
            case Rebootstrapped(reason=reason):
                self._phase = Phase.FOLLOWING
                self._skipped = 0
                self._kept = f"restarted from the tail because {reason}"
            case Finished(complete=complete):
                self._phase, self._why = Phase.OVER, "" if complete else "its server is gone"
            case _:
                return

    def skipped(self, events: int) -> None:
        """So many events were left out to stay live; they are in the history."""
        self._skipped += events
        self._kept = f"skipped {count(self._skipped, 'event')} to stay live"

    def filled(self, events: int) -> None:
        """So many of those have been fetched after all."""
        self._skipped = max(0, self._skipped - events)
        self._kept = f"skipped {count(self._skipped, 'event')} to stay live" if self._skipped else "missed nothing"

    def dialling(self) -> None:
        """An attempt to reconnect is being made."""
        if self._phase is Phase.RETRYING:
            self._phase = Phase.RESUMING

    def failed(self, sentence: str) -> None:
        """The stream has given up."""
        self._phase, self._why = Phase.FAILED, sentence

    @property
    def over(self) -> bool:
        """Whether nothing more will come."""
        return self._phase in (Phase.OVER, Phase.FAILED)

    def claim(self, shown: int, latest: int, now: float) -> Claim:
        """The line at monotonic `now`."""
        event = f"event {number(shown)}"
        match self._phase:
            case Phase.OPENING:
                return Claim(Light.BUSY, "opening")
            case Phase.FOLLOWING if latest > shown:
                return Claim(Light.BUSY, f"behind {count(latest - shown, 'event')}, catching up", self._kept)
            case Phase.FOLLOWING:
                return Claim(Light.LIVE, "live", f"{event} · {self._kept}")
            case Phase.RETRYING if self._retry_at > now:
                seconds = max(1, round(self._retry_at - now))
                return Claim(Light.LOST, f"{self._why}, retrying in {seconds} s", f"shown up to {event}")
            case Phase.RETRYING | Phase.RESUMING:
                return Claim(Light.BUSY, f"resuming from {number(shown)}", self._kept)
            case Phase.FAILED:
                return Claim(Light.LOST, self._why, f"shown up to {event}")
            case Phase.OVER if self._why:
                return Claim(Light.OVER, self._why, f"recorded up to {event}")
            case Phase.OVER:
                return Claim(Light.OVER, "ended", f"{event} · {self._kept}")
