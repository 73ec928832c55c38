"""The TREC Fair Ranking tracks: their files, their evaluation presets, their submissions."""
