"""Policies under uncertain relevance: beliefs, labels drawn from them, and the search for the lowest expected loss."""
