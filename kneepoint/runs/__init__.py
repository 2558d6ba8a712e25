"""Experiments: what they are, and the one pipeline that executes their runs."""
