"""Files of models: hostile and damaged ones, and writers that are killed."""
