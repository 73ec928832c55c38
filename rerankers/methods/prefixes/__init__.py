"""What constraint methods share: one group a document, quotas of prefixes, tables of minima, group sequences."""
