"""A program: hopline, whose gateways wait for a peer a given number of seconds and not 40; the rest is as it is.

hurried_gateway.py SECONDS ARGUMENT...
"""

import functools
import sys

from hopline.__main__ import main
from hopline.serve.gateway import server
from hopline.serve.gateway.limits import GatewayLimits, WebSocketLimits

if __name__ == "__main__":
    limits = GatewayLimits(websocket=WebSocketLimits(write_deadline_seconds=float(sys.argv.pop(1))))
    server.GatewayOptions = functools.partial(server.GatewayOptions, limits=limits)  # type: ignore[misc, assignment]  # the same, with other bounds
    sys.exit(main())
