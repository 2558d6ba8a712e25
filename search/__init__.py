"""Parameter search for congestion controllers: spaces, samplers, objectives, the loop."""
