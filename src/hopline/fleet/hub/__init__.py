"""The hub's process: sockets, keys, pairing, the control socket, what this machine tells of itself."""
