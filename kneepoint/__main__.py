"""Runs `kneepoint` as `python -m kneepoint`."""

from kneepoint.cli import main

main()
