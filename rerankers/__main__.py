"""``python -m rerankers`` is the command ``fair-rerank``."""

import sys

from rerankers.cli import main

if __name__ == "__main__":
    sys.exit(main())
