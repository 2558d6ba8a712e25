"""Stages that read results and write checked tables (see `kneepoint.analysis.schema`)."""
