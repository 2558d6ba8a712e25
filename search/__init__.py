"""Searches the constants of congestion controllers: spaces, samplers, objectives, the loop."""
