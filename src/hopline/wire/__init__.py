"""The three wires, pure: bytes, messages and `now` go in, values come out. Nothing here touches the world."""
