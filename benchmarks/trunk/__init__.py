"""What the foundation must show: checks, oracles, speed, memory."""
