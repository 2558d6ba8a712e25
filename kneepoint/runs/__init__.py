"""Experiments: their declarations, and the pipeline that executes their runs."""
