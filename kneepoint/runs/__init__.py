"""Experiments: planners of runs and the one pipeline that executes them."""
