#!/usr/bin/env bash
# Sets up .venv, then runs the tests. Extra words go to pytest:  bash scripts/test.sh -k exposure
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/environment.sh"
exec "$python" -m pytest "$@"
