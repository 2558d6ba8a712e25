"""The `kneepoint` command: see `python -m kneepoint --help`."""
