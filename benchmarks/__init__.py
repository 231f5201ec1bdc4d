"""The figures of docs/performance.md: each measure beside its reference, in one run. `python -m benchmarks --help`."""
