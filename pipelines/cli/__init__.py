"""The `veritas` command: one module per command, heavy imports inside the functions so that `--help` is quick."""

from pipelines.cli.app import main

__all__ = ["main"]
