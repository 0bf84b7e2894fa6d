#!/usr/bin/env bash
# Makes this machine able to run Sinew: system libraries (Debian and its relatives) and a virtual environment in .venv.
# Prints nothing when everything is there already; safe to interrupt and to run again.  Works with bash 3.2 (macOS).
#
#   .ci/setup.sh editor    what the editor and the command line need
#   .ci/setup.sh tests     the same, a virtual display, the reference compiler of shaders and a browser for tests
set -euo pipefail
cd "$(dirname "$0")/.."

purpose=${1:-editor}
venv=.venv
stamp=$venv/ready        # content: what the environment was made from; written last
log=$venv/install.log
building=$venv/building  # exists while packages are being installed: an interrupted installation starts afresh

say() { printf '%s\n' "sinew: $*"; }
fail() { say "$*" >&2; exit 1; }

# Shared library (or command, or font) -> Debian package.  The libraries are those Qt's xcb platform loads.
wanted() {
    cat <<'TABLE'
libGL.so.1 libgl1
libEGL.so.1 libegl1
libEGL_ libegl-mesa0
libxkbcommon.so.0 libxkbcommon0
libxkbcommon-x11.so.0 libxkbcommon-x11-0
libX11-xcb.so.1 libx11-xcb1
libxcb-cursor.so.0 libxcb-cursor0
libxcb-glx.so.0 libxcb-glx0
libxcb-icccm.so.4 libxcb-icccm4
libxcb-image.so.0 libxcb-image0
libxcb-keysyms.so.1 libxcb-keysyms1
libxcb-randr.so.0 libxcb-randr0
libxcb-render-util.so.0 libxcb-render-util0
libxcb-shape.so.0 libxcb-shape0
libxcb-sync.so.1 libxcb-sync1
libxcb-xfixes.so.0 libxcb-xfixes0
libxcb-xkb.so.1 libxcb-xkb1
libdbus-1.so.3 libdbus-1-3
libfontconfig.so.1 libfontconfig1
libglib-2.0.so.0 libglib2.0-0
TABLE
}

missing_packages() {
    local libraries name package
    libraries=$(PATH=$PATH:/sbin:/usr/sbin ldconfig -p 2>/dev/null) || return 0  # no way to tell
    wanted | while read -r name package; do
        case $libraries in *"$name"*) ;; *) echo "$package" ;; esac
    done
    [ -n "$(find /usr/share/fonts /usr/local/share/fonts "$HOME/.fonts" "$HOME/.local/share/fonts" \
        -name '*.[to]tf' -print -quit 2>/dev/null)" ] || echo fonts-dejavu-core
    [ "$purpose" != tests ] || command -v Xvfb >/dev/null || echo xvfb
    [ "$purpose" != tests ] || command -v glslangValidator >/dev/null || echo glslang-tools
    [ "$purpose" != tests ] || command -v chromium >/dev/null || command -v google-chrome >/dev/null || echo chromium
    [ -e "$stamp" ] || [ -n "${PYTHON:-}" ] || [ -n "$(find_python)" ] || echo python3-venv
}

# The first interpreter that is new enough and able to make environments.
find_python() {
    local candidate
    for candidate in ${PYTHON:-python3 python3.13 python3.12 python3.11 python3.14}; do
        if "$candidate" -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then
            echo "$candidate"
            return
        fi
    done
}

install_system_packages() {
    local packages
    packages=$(missing_packages | tr '\n' ' ')
    [ -n "$packages" ] || return 0
    if ! command -v apt-get >/dev/null; then
        say "install with your package manager what Debian calls: $packages" >&2
    elif [ "$(id -u)" -eq 0 ]; then
        say "installing $packages"
        export DEBIAN_FRONTEND=noninteractive
        # shellcheck disable=SC2086  # one word per package
        { apt-get update -qq && apt-get install -y -qq --no-install-recommends $packages >/dev/null; } ||
            say "going on without them" >&2
    else
        say "needed once, as administrator: sudo apt-get install --no-install-recommends $packages" >&2
    fi
}

# What the packages come from, and what lays `sinew` out.
fingerprint() {
    { sed -n '/^dependencies = /,/^\[project.scripts\]/p' pyproject.toml; cat requirements.lock; pwd; } | cksum
    cat pyproject.toml .ci/setup.sh .ci/links.py | cksum
}

pip_install() {
    "$venv/bin/python" -m pip install --disable-pip-version-check -c requirements.lock "$@"
}

# `sinew` is laid out by the hatchling of the environment: that needs no download when it is laid out again.
install_packages() {
    pip_install hatchling && pip_install --no-build-isolation -e '.[dev]'
}

# What only some formats need, ready made or not at all; without it everything else works.
install_optional_packages() {
    local extra
    pip_install --no-build-isolation --only-binary :all: -e '.[export,fbx,weights]' && return
    for extra in fbx usd abc exr video weights; do
        pip_install --no-build-isolation --only-binary :all: -e ".[$extra]" || say "going on without what '$extra' needs"
    done
}

lay_out() {
    pip_install --no-build-isolation --no-deps -e . >>"$log" 2>&1 || { tail -n 20 "$log" >&2; fail "installing failed ($log)"; }
    fingerprint >"$stamp"
}

make_environment() {
    local python
    python=$(find_python)
    [ -n "$python" ] || fail "need Python 3.11 or newer with venv, found none${PYTHON:+ at $PYTHON}; set PYTHON to its path"
    say "setting up $venv with $("$python" --version) (once, about a minute)"
    if [ -e "$building" ] || ! "$venv/bin/python" -m pip --version >/dev/null 2>&1; then
        rm -rf "$venv"
    fi
    mkdir -p "$venv"
    rm -f "$stamp"
    touch "$building"
    "$python" -m venv "$venv"
    install_packages >"$log" 2>&1 || { tail -n 20 "$log" >&2; fail "installing packages failed ($log)"; }
    install_optional_packages >>"$log" 2>&1
    fingerprint >"$stamp"
    rm -f "$building"
}

[ "$(uname -s)" != Linux ] || install_system_packages
if [ -e "$building" ] || [ ! -x "$venv/bin/python" ] || [ "$(fingerprint | head -n 1)" != "$(head -n 1 "$stamp" 2>/dev/null)" ]; then
    make_environment
elif [ "$(fingerprint)" != "$(cat "$stamp")" ] || [ ! -e .links/sinew/__init__.py ]; then
    lay_out
fi
