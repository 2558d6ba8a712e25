"""Planners: each lists what one kind of experiment runs. What runs it is experiments.pipeline."""
