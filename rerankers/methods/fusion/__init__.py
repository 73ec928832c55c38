"""What fusion and diversification baselines share: the columns that are fused, their scales, and ranks."""
