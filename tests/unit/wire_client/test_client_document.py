"""docs/wire/client.md says what the code does: limits, codes, request types, statuses."""

import re
from pathlib import Path

import msgspec

from hopline.run.history import MAX_HISTORY_BYTES, MAX_RESPONSE_EVENTS_BYTES
from hopline.run.scratch import MAX_SCRATCH_BYTES
from hopline.run.status import NEXT, Move, RunStatus
from hopline.serve.channel import HIGH_WATER_BYTES, LOW_WATER_BYTES
from hopline.serve.unix import MAX_CONNECTIONS
from hopline.wire.client.checkpoint import MAX_CHECKPOINT_BYTES, MAX_PARTS, PART_CODE_POINTS
from hopline.wire.client.events import MAX_SERIALIZED_RUN_EVENT_BYTES
from hopline.wire.client.payloads import Known
from hopline.wire.client.requests import MAX_GRACE_MILLIS, MAX_POLL_MILLIS, MAX_REQUEST_LINE_BYTES, Request
from hopline.wire.client.responses import MAX_RESPONSE_BYTES, Code
from hopline.wire.client.streams import MAX_STREAM_FRAME_BYTES
from hopline.wire.client.types import EVENT_TYPES

PAGE = (Path(__file__).parents[3] / "docs" / "wire" / "client.md").read_text()


def section(title: str) -> str:
    found = re.search(rf"^(#+) {re.escape(title)}\n(.*?)(?=^#|\Z)", PAGE, re.MULTILINE | re.DOTALL)
    assert found is not None, title
    return found[2]


def first_cells(text: str) -> list[str]:
    return [row.split("|")[1].strip() for row in text.splitlines() if row.startswith("|")][2:]


def tags(union: object) -> set[str]:
    return {str(one.__struct_config__.tag) for one in union.__args__}  # type: ignore[attr-defined]  # a union


def test_every_limit_stands_in_the_table() -> None:
    table = section("Limits").replace(",", "")
    for limit in (MAX_REQUEST_LINE_BYTES, MAX_STREAM_FRAME_BYTES, MAX_SERIALIZED_RUN_EVENT_BYTES, MAX_CONNECTIONS):
        assert f"| {limit}" in table
    for limit in (MAX_RESPONSE_EVENTS_BYTES, MAX_HISTORY_BYTES, MAX_SCRATCH_BYTES, MAX_CHECKPOINT_BYTES):
        assert f"| {limit} bytes" in table
    assert f"{MAX_PARTS} parts of {PART_CODE_POINTS} code points" in table
    assert f"{MAX_RESPONSE_BYTES >> 20} MiB" in table
    assert f"{HIGH_WATER_BYTES >> 10} KiB" in table and f"{LOW_WATER_BYTES >> 10} KiB" in table
    assert f"{MAX_POLL_MILLIS // 1000} s" in table
    assert f"0..{MAX_GRACE_MILLIS}" in section("Requests")


def test_every_code_stands_in_the_table() -> None:
    listed = {code for cell in first_cells(section("Diagnostics")) for code in re.findall(r"`(\w+)`", cell)}
    unused_yet = {"permission_denied", "not_found", "timeout"}
    assert listed == {str(code) for code in Code} - unused_yet


def test_every_request_stands_in_the_table() -> None:
    listed = {code for cell in first_cells(section("Requests")) for code in re.findall(r"`([\w.]+)`", cell)}
    assert listed == tags(Request)


def test_every_recorded_kind_stands_in_the_table() -> None:
    listed = {code for cell in first_cells(section("Events of a run")) for code in re.findall(r"`(\w+)`", cell)}
    assert tags(Known) <= listed


def test_every_event_type_stands_in_its_table() -> None:
    rows = [row.split("|")[2] for row in section("Event kinds").splitlines() if row.startswith("|")][2:]
    listed = [kind for row in rows for kind in re.findall(r"`(\w+)`", row)]
    assert set(listed) - {"validation"} == EVENT_TYPES
    assert len(listed) == len(EVENT_TYPES) + 1


def test_the_status_table_is_the_codes() -> None:
    rows = [row for row in section("Run status").splitlines() if row.startswith("|")]
    moves = [cell.strip() for cell in rows[0].split("|")[2:-1]]
    assert moves == [
        str(move) for move in (Move.ATTACH, Move.PAUSE, Move.BOUNDARY, Move.RESUME, Move.STOP, Move.COMPLETE, Move.FAIL)
    ]
    found = {}
    for row in rows[2:]:
        name, *cells = [cell.strip() for cell in row.split("|")[1:-1]]
        found[name] = {move: cell for move, cell in zip(moves, cells, strict=True) if cell}
    expected = {
        str(status): {str(move): str(after) for move, after in row.items()} for status, row in NEXT.items() if row
    }
    assert found == expected
    assert all(str(status) in section("Run status") for status in RunStatus)


def test_the_struct_of_a_response_has_the_sections_of_the_page() -> None:
    from hopline.wire.client.responses import Response

    named = set(re.findall(r"`(\w+)`", section("Responses").split("A failed Response")[0]))
    assert {field.name for field in msgspec.structs.fields(Response)} <= named
