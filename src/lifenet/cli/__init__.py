"""The command line: `lifenet fit`, `predict`, `explain` and more, for tables in files."""

from __future__ import annotations

from lifenet.cli.application import main

__all__ = ["main"]
