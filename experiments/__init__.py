"""Experiments: what is run, and the one runner that runs it."""
