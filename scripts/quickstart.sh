#!/usr/bin/env bash
# From a fresh checkout to a report: sets up .venv, then runs fair-rerank on the generated collection.
# Extra words are overrides:  bash scripts/quickstart.sh method.temperature=0.5 samples=50
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/environment.sh"
"$python" -m rerankers run output=outputs/quickstart "$@"
echo "next: source $venv/bin/activate && fair-rerank run --help"
