"""Planners: each lists the runs of one kind of experiment for experiments.pipeline."""
