"""`python -m kneepoint` is `kneepoint`."""

from kneepoint.cli import main

main()
