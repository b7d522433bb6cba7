"""Step 3's options: how the members' neurons are combined into scores."""
