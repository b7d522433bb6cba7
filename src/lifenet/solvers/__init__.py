"""Solvers: settings that fitting never changes, their state apart, the loop written once."""
