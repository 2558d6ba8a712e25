"""Searches the constants of congestion controllers: studies, samplers, engines, results."""
