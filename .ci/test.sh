#!/usr/bin/env bash
# Runs tests in two processes; on Linux each has a virtual display of its own (tests/conftest.py starts it), so
# that tests neither disturb the desktop nor steal the keyboard focus from each other.  Whatever happens, it ends: a
# process that crashes is replaced twice, and after an hour everything is stopped.
set -euo pipefail
cd "$(dirname "$0")/.."
# Dozens of programs are started, each of which would compile every module anew.
unset PYTHONDONTWRITEBYTECODE
limit=()
! command -v timeout >/dev/null || limit=(timeout --foreground --kill-after=60 3600)
exec ${limit[@]+"${limit[@]}"} .venv/bin/python -m pytest -q -n 2 --max-worker-restart 2 --dist loadfile -r fE -p no:cacheprovider "$@"
