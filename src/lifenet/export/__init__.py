"""Fitted models as files that other programs run: they hold the network, not how it was trained."""

from __future__ import annotations

from lifenet.export.python import to_python

__all__ = ["to_python"]
