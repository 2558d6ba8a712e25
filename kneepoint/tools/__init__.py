"""Commands by themselves, one folder each, which the command line finds.

The `__init__` of a tool declares its commands: their modules, each with a `command`, and what they
do, in one line.
"""
