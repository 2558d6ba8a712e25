"""Real mahimahi: each run takes its network's own time, in shells of mm-delay and mm-link."""
