#!/bin/sh
# Every test. The pure packages are measured: 100 % of their branches, or the run fails.
set -eu
bin=$1
"$bin/coverage" erase
"$bin/coverage" run -m pytest -q tests/unit tests/property tests/conformance tests/meta
"$bin/coverage" combine -q
"$bin/coverage" report --include='src/hopline/wire/*' --skip-covered --fail-under=100
"$bin/pytest" -q tests/sim tests/e2e
