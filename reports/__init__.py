"""Reads results, computes statistics, draws figures and writes one report in HTML and PDF."""
