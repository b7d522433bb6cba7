"""Steps 1 and 2: sources of neurons, and the layer that they are joined into."""
