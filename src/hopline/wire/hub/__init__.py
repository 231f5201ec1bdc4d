"""What the command line and the hub of this machine say to each other, pure (docs/wire/hub.md)."""
