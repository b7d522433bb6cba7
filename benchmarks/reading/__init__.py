"""Readings that hold: equations with a reach, and explanations against independent truth."""
