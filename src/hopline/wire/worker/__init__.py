"""The worker wire: the private JSONL between one run server generation and the relay that owns its worker.

`messages` and `codec` say what a frame is; `relay` and `controller` are the two ends as pure machines.
Normative text: docs/wire/worker.md.
"""
