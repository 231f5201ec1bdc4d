"""Identifiers. A NewType each, so that one is never passed where another is due."""

import os
from typing import NewType

RunId = NewType("RunId", str)
"""12 lowercase hex digits; names the run, its folder and its socket."""

StoreId = NewType("StoreId", str)
"""32 lowercase hex digits, random per store; names one sequence space."""


def new_run_id() -> RunId:
    """A fresh run id."""
    return RunId(os.urandom(6).hex())


def new_store_id() -> StoreId:
    """A fresh store id."""
    return StoreId(os.urandom(16).hex())
