"""The analysis: stages that read results and write checked tables (see `analysis.schema`)."""
