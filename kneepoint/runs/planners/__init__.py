"""Planners: each lists the runs of one kind of experiment for kneepoint.runs.pipeline."""
