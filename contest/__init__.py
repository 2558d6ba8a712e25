"""Contests: other people's entries, built, run, scored and ranked."""
