"""Engines: each executes a run description and returns its record."""
