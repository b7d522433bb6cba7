"""Files of models: hostile and damaged ones, writers that are killed, and what exports say."""
