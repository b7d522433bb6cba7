"""Slow proofs, run by `scripts/bench NAME`; their figures are committed under results/."""
