"""Fewer neurons: distillation along a pruning path, and the frontier of error against size."""
