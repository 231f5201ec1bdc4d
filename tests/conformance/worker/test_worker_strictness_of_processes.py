"""WW-STRICT against real relays: each bad line is one `fatal` and the real outcome, each good one is obeyed."""

import json

import pytest
from relay_rig import RELAYS, RelayProcess, assert_orderly, frame, kinds, worker

VALUES = [
    "true", "null", '"1"', "-1", "-0", "1.0", "1e0", "NaN", "18446744073709551616", "01", "[1]",
]  # fmt: skip
REFUSED = {
    **{f"integer {value}": f'{{"kind":"interrupt","request_id":{value}}}'.encode() for value in VALUES},
    "string null": b'{"kind":"stdin","data":null}',
    "string number": b'{"kind":"stdin","data":1}',
    "unknown kind": b'{"kind":"nothing"}',
    "kind in other case": b'{"kind":"Stdin","data":""}',
    "unknown field": b'{"kind":"stdin","data":"","x":1}',
    "missing field": b'{"kind":"stdin"}',
    "duplicate field": b'{"kind":"stdin","data":"a","data":"b"}',
    "duplicate kind": b'{"kind":"stdin","kind":"stdin","data":""}',
    "array": b"[]",
    "empty object": b"{}",
    "null": b"null",
    "bare string": b'"stdin"',
    "blank line": b"",
    "byte order mark": b'\xef\xbb\xbf{"kind":"stdin","data":""}',
    "invalid UTF-8": b'{"kind":"stdin","data":"\xff"}',
    "lone surrogate": b'{"kind":"stdin","data":"\\udc00"}',
    "raw control byte": b'{"kind":"stdin","data":"\x01"}',
    "trailing junk": b'{"kind":"stdin","data":""}x',
    "two objects": b'{"kind":"stdin","data":""}{"kind":"stdin","data":""}',
    "trailing comma": b'{"kind":"stdin","data":"",}',
    "comment": b'{"kind":"stdin"/**/,"data":""}',
    "deep nesting": b"[" * 50_000,
}
SIDEBAND = {
    "unknown kind": b'{"kind":"nothing"}',
    "a command": b'{"kind":"shutdown","grace_millis":1}',
    "a relay's event": b'{"kind":"stdout","data":"x"}',
    "unknown field": b'{"kind":"ready","x":1}',
    "missing field": b'{"kind":"console_output"}',
    "duplicate field": b'{"kind":"console_output","data":"a","data":"b"}',
    "boolean as number": b'{"kind":"runtime_initialized","interrupted":0}',
    "string null": b'{"kind":"console_output","data":null}',
    "blank line": b"",
    "invalid UTF-8": b'{"kind":"console_output","data":"\xff"}',
    "lone surrogate": b'{"kind":"console_output","data":"\\ud800x"}',
    "raw control byte": b'{"kind":"console_output","data":"\x1b"}',
    "trailing junk": b'{"kind":"ready"} {}',
    "byte order mark": b'\xef\xbb\xbf{"kind":"ready"}',
}
ASLEEP = 'put({"kind":"ready"})\ntime.sleep(60)'


@pytest.mark.parametrize("relay", RELAYS)
@pytest.mark.parametrize("line", REFUSED.values(), ids=REFUSED.keys())
def test_a_bad_command_is_one_fatal_and_a_killed_worker(relay: str, line: bytes) -> None:
    with RelayProcess(RELAYS[relay], worker(ASLEEP)) as process:
        process.wait_for("ready")
        process.send(line + b"\n")
        events = process.finish()
        assert_orderly(events)
        assert kinds(events)[-3:] == ["fatal", "worker_sideband_closed", "worker_signaled"]
        assert events[-1]["signal"] == 9
        assert process.status == 0


@pytest.mark.parametrize("relay", RELAYS)
@pytest.mark.parametrize("line", SIDEBAND.values(), ids=SIDEBAND.keys())
def test_a_bad_sideband_line_is_one_fatal_and_the_real_outcome(relay: str, line: bytes) -> None:
    code = f'put({{"kind":"ready"}})\nwrite(w, {line!r})\nwrite(w, chr(10))\ntime.sleep(60)'
    with RelayProcess(RELAYS[relay], worker(code)) as process:
        events = process.finish()
        assert_orderly(events)
        assert kinds(events)[-3:] == ["fatal", "worker_sideband_closed", "worker_signaled"]
        assert "ready" in kinds(events)


@pytest.mark.parametrize("relay", RELAYS)
def test_every_accepted_form_is_obeyed(relay: str) -> None:
    forms = [
        b' { "request_id" : 1 , "kind" : "interrupt" } ',
        b'{"kind":"interrupt","request_id":2}\r',
        b'\t{"kind":"interrupt",\t"request_id":3}\r\r',
        b'{"kind":"interrupt","request_id":18446744073709551615}',
        b'{"kind":"interrupt","request_id":0}',
    ]
    ignore = "signal.signal(signal.SIGINT, signal.SIG_IGN)\nput({'kind':'ready'})\nsys.stdin.read()"
    with RelayProcess(RELAYS[relay], worker(ignore)) as process:
        process.wait_for("ready")
        process.send(b"\n".join(forms[:2]) + b"\n")
        for byte in forms[2] + b"\n":
            process.send(bytes([byte]))
        process.send(b"\n".join(forms[3:]) + b"\n")
        process.wait_for("interrupt_result", len(forms))
        process.send(frame("shutdown", grace_millis=20_000))
        events = process.finish()
        assert [event["request_id"] for event in events if event["kind"] == "interrupt_result"] == [
            1,
            2,
            3,
            2**64 - 1,
            0,
        ]
        assert all(event.keys() == {"kind", "request_id"} for event in events if event["kind"] == "interrupt_result")
        assert json.loads(process.lines[-1][1]) == {"kind": "worker_exited", "code": 0}
