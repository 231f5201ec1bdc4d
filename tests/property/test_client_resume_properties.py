"""However connections are cut and stores change, what a reader folds is what the server holds, each event once."""

from dataclasses import dataclass, field

from client_batches import RUN
from hypothesis import given, settings
from hypothesis import strategies as st

from hopline.client.checkpoints import Fault
from hopline.client.items import Connected, Disconnected, Position, Rebootstrapped, Reconnected
from hopline.client.resume import Resume, StartOver
from hopline.wire.client.events import RunEvent
from hopline.wire.client.requests import Subscribe
from hopline.wire.client.streams import EventBatch


@dataclass
class Server:
    """A store of events and one subscription, by the book (frontend reference 7.1 to 7.4)."""

    store_id: str = "s0"
    events: list[RunEvent] = field(default_factory=list)
    knows_store_id: bool = True
    knows_tail: bool = True
    dropped: int = 0
    cursor: int | None = None
    cursor_store: str = ""
    tail: int | None = None
    floor: int = 0
    pending: list[EventBatch] = field(default_factory=list)

    def record(self, count: int) -> None:
        for _ in range(count):
            sequence = len(self.events) + 1
            kind = "run_status_changed" if sequence % 7 == 1 else "output"
            self.events.append(
                RunEvent(
                    sequence=sequence,
                    run_id=RUN,
                    timestamp="2026-01-01T00:00:00Z",
                    type=kind,
                    text=f"{self.store_id}:{sequence}",
                )
            )

    def swap(self) -> None:
        """A durable store takes the place of the scratch one: what there is, renumbered behind what it held."""
        self.store_id = f"s{int(self.store_id[1:]) + 1}"
        before, self.events, self.dropped = len(self.events), [], 0
        self.record(3 + before)

    def refuses(self, request: Subscribe) -> bool:
        return bool((request.tail and not self.knows_tail) or (request.store_id and not self.knows_store_id))

    def subscribe(self, request: Subscribe, split: int) -> None:
        after = request.after_sequence
        if request.store_id and request.store_id != self.store_id:
            after = 0
        self.tail = request.tail
        self._bootstrap(after, False, split)

    def _bootstrap(self, after: int, marked: bool, split: int) -> None:
        latest = len(self.events)
        wanted = after if self.tail is None else max(after, latest - self.tail)
        floor = max(wanted, self.dropped)
        partial = self.tail is not None or floor > wanted
        self.floor = floor if partial else 0
        chosen = [event for event in self.events if event.sequence > floor]
        if partial:
            spine = [one for one in self.events if one.sequence <= floor and one.type == "run_status_changed"]
            chosen = spine + chosen
        self._frames(chosen, latest, marked, split)
        self.cursor, self.cursor_store = latest, self.store_id

    def _frames(self, events: list[RunEvent], latest: int, marked: bool, split: int) -> None:
        groups = [events[start : start + split] for start in range(0, len(events), split)] or [[]]
        for number, group in enumerate(groups):
            last = number == len(groups) - 1
            self.pending.append(
                EventBatch(
                    events=group,
                    through_sequence=latest if last else group[-1].sequence,
                    store_id=self.store_id,
                    history_after_sequence=self.floor,
                    rebootstrap=marked and number == 0,
                )
            )

    def poll(self, split: int) -> None:
        assert self.cursor is not None
        latest = len(self.events)
        if self.store_id != self.cursor_store:
            self._bootstrap(0, True, split)
        elif latest == self.cursor:
            return
        elif self.dropped > self.cursor or (self.tail is not None and latest - self.cursor > self.tail):
            self._bootstrap(self.cursor, True, split)
        else:
            self._frames(self.events[self.cursor :], latest, False, split)
            self.cursor = latest

    def hang_up(self) -> None:
        self.cursor = None
        self.pending.clear()


class Reader:
    """Folds what the machine gives, as a person's program would."""

    def __init__(self, after: Position | None, tail: int | None) -> None:
        self.resume = Resume(after, tail)
        self.held: dict[int, str] = {}
        self.floor = 0 if after is None else after.sequence
        self.restarts = 0

    def dial(self, server: Server, split: int) -> None:
        server.hang_up()
        request = self.resume.request()
        while server.refuses(request):
            assert self.resume.rejected()
            request = self.resume.request()
        self.resume.acknowledged(RUN, len(server.events))
        server.subscribe(request, split)

    def take(self, server: Server, split: int) -> None:
        """One frame, if there is one."""
        if not server.pending:
            return
        outcome = self.resume.receive(server.pending.pop(0))
        assert not isinstance(outcome, Fault), outcome
        if isinstance(outcome, StartOver):
            self.dial(server, split)
            return
        for item in outcome:
            match item:
                case RunEvent():
                    assert item.sequence not in self.held
                    assert not self.held or item.sequence > max(self.held)
                    self.held[item.sequence] = item.text
                case Rebootstrapped():
                    self.held.clear()
                    self.floor = item.floor
                    self.restarts += 1
                case Connected():
                    self.floor = max(self.floor, item.floor)
                case Reconnected():
                    pass
                case _:
                    raise AssertionError(item)

    def check(self, server: Server) -> None:
        """Everything above the floor is held, exactly; below it nothing that the server does not hold."""
        whole = {event.sequence: event.text for event in server.events}
        above = {sequence: text for sequence, text in whole.items() if sequence > self.floor}
        assert {sequence: text for sequence, text in self.held.items() if sequence > self.floor} == above
        assert self.held.items() <= whole.items()


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("record"), st.integers(1, 30)),
        st.tuples(st.just("take"), st.integers(1, 4)),
        st.tuples(st.just("cut"), st.just(0)),
        st.tuples(st.just("swap"), st.just(0)),
        st.tuples(st.just("drop"), st.integers(1, 20)),
    ),
    max_size=40,
)


@settings(max_examples=400, deadline=None)
@given(
    steps=STEPS,
    tail=st.one_of(st.none(), st.integers(1, 25)),
    split=st.integers(1, 9),
    knows=st.tuples(st.booleans(), st.booleans()),
    before=st.integers(0, 40),
)
def test_the_folded_journal_equals_the_server_s_however_it_was_cut(
    steps: list[tuple[str, int]], tail: int | None, split: int, knows: tuple[bool, bool], before: int
) -> None:
    server = Server(knows_store_id=knows[0], knows_tail=knows[1])
    server.record(before)
    reader = Reader(None, tail)
    reader.dial(server, split)
    now = 0.0
    for step, size in steps:
        match step:
            case "record":
                server.record(size)
            case "swap":
                server.swap()
            case "drop":
                server.dropped = min(len(server.events), server.dropped + size)
            case "cut":
                lost = reader.resume.lost("cut.", now)
                if isinstance(lost, Disconnected):
                    now += lost.retry_seconds
                    reader.dial(server, split)
                else:
                    break
            case _:
                for _ in range(size):
                    if not server.pending:
                        server.poll(split)
                    reader.take(server, split)
    if server.cursor is None:
        return
    for _ in range(2000):
        if not server.pending:
            server.poll(split)
        if not server.pending:
            break
        reader.take(server, split)
    reader.check(server)
    assert reader.resume.position == Position(len(server.events), server.store_id)


@settings(max_examples=100, deadline=None)
@given(held=st.integers(0, 30), more=st.integers(0, 30), split=st.integers(1, 9))
def test_another_process_goes_on_exactly_from_a_saved_position(held: int, more: int, split: int) -> None:
    server = Server()
    server.record(held)
    first = Reader(None, None)
    first.dial(server, split)
    while server.pending:
        first.take(server, split)
    server.record(more)
    second = Reader(first.resume.position, None)
    second.dial(server, split)
    while server.pending:
        second.take(server, split)
    assert second.restarts == 0
    assert first.held | second.held == {event.sequence: event.text for event in server.events}
    assert not first.held.keys() & second.held.keys()
