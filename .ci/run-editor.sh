#!/usr/bin/env bash
# Opens the editor on a project; on Linux without a display it renders the project to images instead.
set -euo pipefail
cd "$(dirname "$0")/.."
if [ "$(uname -s)" = Linux ] && [ -z "${DISPLAY:-}${WAYLAND_DISPLAY:-}" ]; then
    echo "sinew: no display (DISPLAY and WAYLAND_DISPLAY are unset): rendering $1 to out/ instead"
    mkdir -p out
    exec .venv/bin/sinew render "$1" --output out/frame_%04d.png --frames 0:24
fi
exec .venv/bin/sinew "$1"
