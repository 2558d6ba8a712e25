"""Real mahimahi: real-time runs in mm-delay and mm-link shells."""
