"""Identifiers. A NewType each, so that one is never passed where another is due."""

import secrets
from typing import NewType

RunId = NewType("RunId", str)
"""12 lowercase hex digits; names the run, its folder and its socket."""

StoreId = NewType("StoreId", str)
"""32 lowercase hex digits, random per store; names one sequence space."""


def new_run_id() -> RunId:
    """A fresh run id."""
    return RunId(secrets.token_hex(6))


def new_store_id() -> StoreId:
    """A fresh store id."""
    return StoreId(secrets.token_hex(16))
