"""Conversations handed to other machines: sent in chunks, verified, placed, entered in a ledger."""
