"""A receiver on a volume that fills: `transfer_full_disk.py MOUNTPOINT`, inside a mount namespace of its own.

Mounts a tmpfs of 16 MiB there, sends what does not fit in two ways and then what does, and prints what was said.
"""

import asyncio
import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

from transfer_wire import Side, Wire, frame, pieces

from hopline.fleet.transfer.intake import Intake
from hopline.fleet.transfer.ledger import Ledger
from hopline.fleet.transfer.receiver import Receiver

MIB = 1 << 20
WHOLE = os.urandom(8 * MIB)


async def send(receiver: Receiver, whole: bytes, fill: Path | None = None) -> list[str]:
    """Chunk after chunk; in the middle something else takes the room. What was answered."""
    side = Side()
    cut = pieces(whole)
    claim = {"session_id": "s-1", "cwd": "/w", "total": len(cut), "digest": hashlib.sha256(whole).hexdigest()}
    for seq, data in enumerate(cut):
        if fill is not None and seq == len(cut) // 2:
            with fill.open("wb", buffering=0) as file:
                try:
                    while file.write(b"\1" * 65536):
                        pass
                except OSError:
                    pass
        await receiver.take_chunk(side, frame("session_transfer", {**claim, "seq": seq, "data": data}))
    return [str(answer.get("refused", kind)) for kind, answer in side.said()]


async def play(place: Path) -> dict[str, object]:
    parts = place / "transfers"
    parts.mkdir(mode=0o700)
    receiver = Receiver(Intake(parts, Ledger(parts), place))
    receiver.attach(Wire())
    seen: dict[str, object] = {"too_much": await send(receiver, os.urandom(20 * MIB))}
    seen["untouched"] = [path.name for path in parts.iterdir()]
    seen["filled"] = await send(receiver, WHOLE, place / "ballast")
    seen["left"] = [path.name for path in parts.iterdir()]
    (place / "ballast").unlink()
    seen["again"] = await send(receiver, WHOLE)
    seen["same"] = (place / ".claude/projects/-w/s-1.jsonl").read_bytes() == WHOLE
    receiver.close()
    return seen


if __name__ == "__main__":
    mountpoint = Path(sys.argv[1])
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16m", "tmpfs", str(mountpoint)], check=True)
    print(json.dumps(asyncio.run(play(mountpoint))))
