"""A message for many peers becomes a line once, and is not kept."""

import asyncio

from hopline.serve.unix import UnixChannel, UnixListener


async def _nothing(channel: UnixChannel) -> None:
    return None


def test_peers_given_the_same_message_in_one_turn_share_its_line_which_is_then_forgotten() -> None:
    async def main() -> None:
        async with asyncio.TaskGroup() as tasks:
            listener = UnixListener(_nothing, tasks)
            message, other = b"{" + b"x" * 1000 + b"}", b"{}"
            line = listener.line_of(message)
            assert line == message + b"\n"
            assert listener.line_of(message) is line
            assert listener.line_of(other) == b"{}\n"
            assert listener.line_of(message) == line
            shared = listener.line_of(message)
            await asyncio.sleep(0)
            assert listener.line_of(message) is not shared

    asyncio.run(main())
