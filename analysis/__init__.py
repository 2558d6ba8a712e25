"""What results say: stages that read results and write checked tables (see `analysis.schema`)."""
