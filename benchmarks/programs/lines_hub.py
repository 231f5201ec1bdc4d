"""`lines_hub.py ARGUMENTS...`: hopline, but its conversations do without the features that BENCH_WITHOUT names."""

import os
import sys

from hopline.__main__ import main
from hopline.fleet.transfer import sender as transfer_sender

transfer_sender.FEATURES -= set(os.environ["BENCH_WITHOUT"].split())  # type: ignore[misc]  # nobody else wants to

if __name__ == "__main__":
    sys.exit(main())
