#!/usr/bin/env bash
# Runs a command with a display: the one there is, else a virtual one on Linux, else none.
set -euo pipefail
if [ "$(uname -s)" = Linux ] && [ -z "${DISPLAY:-}${WAYLAND_DISPLAY:-}" ] && command -v xvfb-run >/dev/null; then
    exec xvfb-run -a -s "-screen 0 1920x1080x24" "$@"
fi
exec "$@"
