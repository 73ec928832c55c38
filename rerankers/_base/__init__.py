"""Foundations that every layer may use: errors, stream keys, fingerprints, atomic files."""
