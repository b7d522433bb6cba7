"""The one door to optional dependencies."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import ModuleType

__all__ = ["require"]


def require(module: str, *, extra: str, purpose: str) -> ModuleType:
    """Import an optional `module`, or say which extra brings it and what it is needed for."""
    try:
        return import_module(module)
    except ImportError as error:
        raise ImportError(
            f"{purpose} needs {module}, which is not installed. "
            f"Install it with: pip install 'lifenet[{extra}]'"
        ) from error
