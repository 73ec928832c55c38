"""Features of (query, document) pairs: functions that add columns to candidates."""
