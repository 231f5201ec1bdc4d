"""The hub: one process a person and machine that holds links to peers, leases and transfers (docs/architecture.md)."""
