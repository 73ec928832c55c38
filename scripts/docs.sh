#!/usr/bin/env bash
# The documentation as a site in a folder (default: build/site): every broken link and every page outside the menu is an error.
# `bash scripts/docs.sh serve` shows it while you write.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
python="${FAIR_RERANK_VENV:-.venv}/bin/python"
export NO_MKDOCS_2_WARNING=1
if [ "${1:-}" = serve ]; then
    exec "$python" -m mkdocs serve
fi
# --quiet would keep mkdocs from counting warnings: what it has to say is kept, and shown when it fails.
log="$(mktemp)"
trap 'rm -f "$log"' EXIT
"$python" -m mkdocs build --strict --site-dir "${1:-build/site}" >"$log" 2>&1 || { grep -v '^INFO' "$log"; exit 1; }
echo "site: ${1:-build/site}/index.html"
