"""Plackett-Luce policies tilted by group: the problem of a block, and the tilts that solve it."""
