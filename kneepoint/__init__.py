"""The command: `python -m kneepoint --help`."""
