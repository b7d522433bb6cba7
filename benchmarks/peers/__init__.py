"""LIFE beside its peers: the same splits, the same budget, tuned and with default settings."""
