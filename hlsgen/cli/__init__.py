"""The command line: arguments and printing only."""

from hlsgen.cli.commands import main

__all__ = ["main"]
