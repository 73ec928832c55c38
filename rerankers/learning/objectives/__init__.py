"""Objectives: losses of whole queries with exact slopes, shared by every learner."""
