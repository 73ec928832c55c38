# Sourced by the other scripts: makes .venv once, installs the tested set, and sets $python to its interpreter.
# Needs nothing but Python 3.11, 3.12 or 3.13 (with its venv module). PYTHON=... chooses one.

cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
venv="${FAIR_RERANK_VENV:-.venv}"
python="$venv/bin/python"

supported() { # a candidate counts only if it runs: version managers leave names on PATH that do not
    "$1" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' >/dev/null 2>&1
}

find_python() {
    local candidate
    for candidate in ${PYTHON:+"$PYTHON"} python3.11 python3 python3.12 python3.13 python; do
        if supported "$candidate"; then
            echo "$candidate"
            return
        fi
    done
    echo "no Python 3.11, 3.12 or 3.13 found (python3 is $(python3 --version 2>&1 || true))." >&2
    echo "Install one, or name it: PYTHON=/path/to/python3.11 bash $0" >&2
    exit 3
}

make_environment() {
    local base lock stamp wanted
    if ! supported "$python"; then
        base=$(find_python) || exit 3
        rm -rf "$venv"
        if ! "$base" -m venv "$venv"; then
            rm -rf "$venv"
            echo "$base cannot make a virtual environment; on Debian and Ubuntu: apt-get install python3-venv" >&2
            exit 3
        fi
    fi
    lock="requirements-$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])').lock"
    stamp="$venv/installed"
    # The install is repeated only when what it was made from has changed.
    wanted=$("$python" - "$lock" <<'PY'
import hashlib, pathlib, sys
files = [pathlib.Path(name) for name in (sys.argv[1], "pyproject.toml")]
print(hashlib.sha256(b"\0".join(f.read_bytes() for f in files if f.is_file())).hexdigest())
PY
    )
    if [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$wanted" ]; then
        return
    fi
    rm -f "$stamp"
    export PIP_DISABLE_PIP_VERSION_CHECK=1
    if [ -f "$lock" ]; then
        echo "Installing the tested set of packages ($lock) into $venv; the first time takes some minutes." >&2
        "$python" -m pip install -qq -r "$lock" || exit 3
        "$python" -m pip install -qq --no-deps --editable . || exit 3
    else
        echo "No lock file for this Python: installing what pyproject.toml allows (the tested set is Python 3.11's)." >&2
        "$python" -m pip install -qq --editable '.[dev]' || exit 3
    fi
    echo "$wanted" >"$stamp"
}

make_environment
