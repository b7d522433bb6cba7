"""What the sparse read-out of LIFE must show: engines measured side by side."""
