"""Models as files: what they say, how large they are, and how fast."""
