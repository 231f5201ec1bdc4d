"""The full-screen view in a terminal: the list of runs, and one run. It speaks through `hopline.client` only."""
