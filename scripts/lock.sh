#!/usr/bin/env bash
# Writes requirements-3.11.lock: everything that pyproject.toml and its dev extra resolve to, in a new environment.
# torch stays at the release that the tests are run with: PINNED="torch==2.13.0" bash scripts/lock.sh
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
"${PYTHON:-python3.11}" -m venv "$work/venv"
"$work/venv/bin/python" -m pip install -qq --editable '.[dev]' "${PINNED:-torch==2.13.0}"
{
    echo "# The tested set for Python 3.11, written by scripts/lock.sh."
    # A local label such as +cpu names a build, not a release.
    "$work/venv/bin/python" -m pip freeze --exclude-editable | sed -E 's/\+[A-Za-z0-9.]+$//'
} >requirements-3.11.lock
