"""hopline: run agents, REPLs and long commands where the code is; keep every byte; come back from anywhere."""

__version__ = "0.1.0"
