"""The whole algorithm, its presets, and the record of what was trained."""
