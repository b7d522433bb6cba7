"""How fast, small and accurate the presets are beside boosted trees, each figure with its limit."""
