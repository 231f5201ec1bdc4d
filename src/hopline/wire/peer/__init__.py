"""The peer wire, pure: bytes and times in, messages and decisions out (docs/wire/peer.md)."""
