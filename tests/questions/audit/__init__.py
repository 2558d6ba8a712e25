"""Tests of the audit of published tables."""
