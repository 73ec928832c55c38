"""The ledger of amortised exposure: what was served, what was due."""
