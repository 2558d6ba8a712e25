"""The folder in which the commands of tools run."""

from tests.kneepoint.conftest import workspace

__all__ = ["workspace"]  # a fixture
