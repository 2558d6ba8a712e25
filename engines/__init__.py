"""Engines: each takes the description of a run and answers with its record."""
