#!/usr/bin/env bash
# Runs every test in two processes; on Linux each has a virtual display of its own (tests/conftest.py starts it), so
# that tests neither disturb the desktop nor steal the keyboard focus from each other.
set -euo pipefail
cd "$(dirname "$0")/.."
exec .venv/bin/python -m pytest -q -n 2 --dist loadfile -r fE -p no:cacheprovider "$@"
