"""The WebSocket gateway: loopback HTTP and WebSocket in front of runs (docs/wire/gateway.md)."""
