"""Configuration of networks and preparation of their traces."""
