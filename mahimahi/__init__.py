"""The real mahimahi: installed, proven, diagnosed and removed again. Standard library only."""
