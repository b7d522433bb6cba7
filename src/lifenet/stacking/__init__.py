"""Companions of the network, each with a weight chosen out of fold."""
