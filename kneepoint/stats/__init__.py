"""Statistics that are nobody's own: intervals, paired comparisons, ranks, bootstrap, posterior."""
