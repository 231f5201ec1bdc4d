"""The benchmarks are a package of the repository, not of the wheel; its root must be importable."""

import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))
